"""f of a mapping, or of the parameters by name."""

import re

import numpy as np
import pytest

import phenes
from phenes import Integer, Real, Space, Workers
from phenes.optimizer.by_name import ByName, takes_keywords

SPACE = Space(width=Real(0, 10, unit="mm", noise=0.1), turns=Real(0, 10))


def area(width, turns):
    return (width - 3) ** 2 + (turns - 4) ** 2


def of_mapping(point):
    return area(**point)


NAMES = ("width", "turns")
FORMS = {
    "keywords": (area, True),
    "others have defaults": (lambda turns, width, other=3: 0, True),
    "any keywords": (lambda **values: 0, True),
    "some and any": (lambda width, **others: 0, True),
    "a mapping": (of_mapping, False),
    "a mapping and defaults": (lambda x, other=3: 0, False),
    "built in": (max, False),
}


@pytest.mark.parametrize(("f", "keywords"), FORMS.values(), ids=FORMS)
def test_the_signature_says_how_f_is_called(f, keywords):
    assert takes_keywords(f, NAMES) is keywords


def test_one_parameter_of_its_name_is_a_keyword():
    assert takes_keywords(lambda x: 0, ("x",))
    assert not takes_keywords(lambda point: 0, ("x",))


WRONG = {
    "too few": (lambda width: 0, "got a function that takes no turns"),
    "another": (lambda width, height: 0, "got a function that needs height"),
    "two": (lambda a, b: 0, "got a function that needs a"),
    "none": (lambda: 0, "got a function that takes no width"),
    "no function": ("area", "f must be a function such as"),
}


@pytest.mark.parametrize(("f", "said"), WRONG.values(), ids=WRONG)
def test_other_functions_are_refused_before_anything_is_evaluated(f, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        phenes.minimize(f, SPACE)


def test_all_forms_are_the_same_run():
    def columns(width, turns):
        assert width.ndim == 1
        return area(width, turns)

    runs = [
        phenes.minimize(area, SPACE, budget=40),
        phenes.minimize(of_mapping, SPACE, budget=40),
        phenes.minimize(columns, SPACE, budget=40, vectorized=True),
        phenes.maximize(lambda x: -of_mapping(x), SPACE, budget=40),
    ]
    assert len({result.x["width"] for result in runs}) == 1
    assert {abs(result.fun) for result in runs} == {runs[0].fun}
    other = phenes.minimize(area, SPACE, budget=40, seed=1)
    assert other.x != runs[0].x


def test_workers_get_names_too():
    here = phenes.minimize(area, SPACE, budget=30, seed=3)
    there = phenes.minimize(area, SPACE, budget=30, seed=3, workers=Workers(2))
    assert there.x == here.x


def test_a_lab_realises_by_name():
    rng = np.random.default_rng(0)

    def lab(point):
        x = {"width": point["width"] + 0.1 * rng.standard_normal()}
        return x, area(x["width"], point["turns"])

    result = phenes.minimize(lab, SPACE, realises=True, budget=40)
    assert abs(result.x["width"] - 3) < 0.1
    assert np.array_equal(result.evaluations.x["turns"], result.evaluations.theta["turns"])
    assert not np.array_equal(result.evaluations.x["width"], result.evaluations.theta["width"])


def test_whole_numbers_arrive_whole():
    seen = ByName(lambda n: type(n), Space(n=Integer(0, 3)), False, False)(np.array([2.0]))
    assert seen is int


def test_without_waiting_for_the_slowest():
    result = phenes.minimize(area, SPACE, budget=60, workers=Workers(2, asynchronous=True))
    assert result.nfev == 60
    assert abs(result.x["turns"] - 4) < 2
