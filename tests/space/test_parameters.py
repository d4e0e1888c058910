"""Parameters: what each may be, and the coordinates that stand for it."""

import re

import numpy as np
import pytest

from phenes.space import Choice, Integer, Log, Real

KINDS = {
    "real": (Real(50, 300, unit="mm", noise=4.0), 120.5),
    "log": (Log(1e-3, 10, unit="mm/s", noise=0.05), 0.25),
    "integer": (Integer(3, 40), 7),
    "choice of texts": (Choice("A", "B", "C"), "B"),
    "choice of numbers": (Choice(1, 2.5, True), True),
}


@pytest.mark.parametrize(("parameter", "value"), KINDS.values(), ids=KINDS)
def test_a_value_comes_back_from_its_coordinates(parameter, value):
    back = parameter.decode(parameter.encode("name", value))
    assert back == pytest.approx(value) if isinstance(value, float) else back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(("parameter", "value"), KINDS.values(), ids=KINDS)
def test_a_search_starts_at_a_value_of_the_range(parameter, value):
    assert np.all((parameter.lower <= parameter.middle) & (parameter.middle <= parameter.upper))
    middle = parameter.decode(parameter.middle)
    assert np.array_equal(parameter.encode("name", middle), parameter.middle)


@pytest.mark.parametrize(("parameter", "value"), KINDS.values(), ids=KINDS)
def test_what_is_described_and_shown_makes_the_same_again(parameter, value):
    assert eval(repr(parameter)) == parameter
    assert parameter != Integer(3, 41)


def test_a_log_is_searched_by_its_logarithm_with_a_relative_error():
    parameter = Log(0.01, 100, noise=0.05)
    assert parameter.decode(parameter.middle) == pytest.approx(1.0)
    assert parameter.encode("feed", np.e)[0] == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    x = np.exp(parameter.encode("feed", 20.0)[0] + parameter.std[0] * rng.standard_normal(100_000))
    # the standard error of a standard deviation of 1e5 draws is 0.2 %
    assert np.std(np.log(x / 20)) == pytest.approx(0.05, rel=0.01)


def test_what_was_not_measured_stays_unknown():
    assert np.isnan(Real(0, 1).decode(Real(0, 1).encode("x", None)))
    assert np.isnan(Log(1, 2).decode(Log(1, 2).encode("x", np.nan)))
    assert np.isnan(Integer(0, 2).decode(Integer(0, 2).encode("x", None)))
    assert Choice("A", "B").decode(Choice("A", "B").encode("x", None)) is None


WRONG = {
    "crossed": (lambda: Real(3, 1), "Real must have low below high, got 3 and 1"),
    "empty": (lambda: Log(2, 2), "Log must have low below high, got 2 and 2"),
    "not a number": (lambda: Real("a", 1), "low must be a finite number, got 'a'"),
    "infinite": (lambda: Real(0, np.inf), "high must be a finite number, got inf"),
    "log of zero": (lambda: Log(0, 1), "Log must have low above 0, got 0"),
    "negative noise": (lambda: Real(0, 1, noise=-1), "noise must be non-negative, got -1.0"),
    "noise of the range": (
        lambda: Real(0, 1, noise=1),
        "noise must be smaller than the range of 1 between low and high, got 1",
    ),
    "noise of a log": (
        lambda: Log(1, 2, noise=0.7),
        "noise must be smaller than the range of 0.693147 between low and high, got 0.7",
    ),
    "unit": (lambda: Real(0, 1, unit=3), "unit must be a text, got 3"),
    "half": (
        lambda: Integer(0.5, 3),
        "Integer must have whole numbers low below high, got 0.5 and 3",
    ),
    "one integer": (lambda: Integer(3, 3), "Integer must have whole numbers low below high, got 3"),
    "one option": (lambda: Choice("A"), "Choice must have 2 or more different options, got ['A']"),
    "twice": (lambda: Choice("A", "A"), "Choice must have 2 or more different options"),
    "a list": (
        lambda: Choice(["A", "B"]),
        "the options of Choice must be texts, numbers or True and False, got ['A', 'B']",
    ),
    "option": (
        lambda: Choice("A", "B").encode("alloy", "C"),
        "alloy must be one of 'A', 'B', got 'C'",
    ),
    "value": (lambda: Real(0, 1).encode("width", "x"), "width must be a finite number, got 'x'"),
    "positive": (lambda: Log(1, 2).encode("feed", -1), "feed must be above 0, got -1"),
    "whole": (lambda: Integer(0, 9).encode("n", 1.5), "n must be a whole number, got 1.5"),
}


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_bad_input_is_one_sentence(call, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        call()
