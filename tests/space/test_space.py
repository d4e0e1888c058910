"""Spaces: vectors and back, noise in the vectors, and what they refuse."""

import pickle
import re
from typing import Annotated

import numpy as np
import pytest

import phenes
from phenes.space import Choice, Integer, Log, Real, Space

SPACE = Space(
    width=Real(50, 300, unit="mm", noise=4.0),
    feed=Log(1e-3, 10, noise=0.05),
    turns=Integer(3, 40),
    alloy=Choice("A", "B", "C"),
)
POINT = {"width": 120.0, "feed": 0.5, "turns": 7, "alloy": "C"}


def test_a_point_comes_back_from_its_vector():
    vector = SPACE.encode(POINT)
    assert vector.tolist() == [120.0, np.log(0.5), 7.0, 0.0, 0.0, 1.0]
    assert dict(SPACE.decode(vector)) == POINT
    assert np.array_equal(SPACE.decode(vector), vector)
    assert str(SPACE.decode(vector)) == "width = 120 mm, feed = 0.5, turns = 7, alloy = C"


def test_a_search_starts_in_the_middle_with_a_quarter_of_each_range():
    start = SPACE.decode(SPACE.start())
    assert dict(start) == {"width": 175.0, "feed": pytest.approx(0.1), "turns": 21, "alloy": "A"}
    assert SPACE.sigma0[[0, 2]].tolist() == [62.5, 9.25]
    assert SPACE.decode(SPACE.start({"alloy": "B"}))["alloy"] == "B"


def test_the_noise_is_a_law_of_the_vector():
    assert SPACE.noise.tolist() == [4.0, 0.05, 0, 0, 0, 0]
    assert Space(turns=Integer(1, 3)).noise is None
    cov = np.array([[4.0, 1.0], [1.0, 2.0]])
    both = Space(a=Real(0, 9), kind=Choice("A", "B"), b=Real(0, 9), noise=cov).noise
    assert np.array_equal(both[np.ix_([0, 3], [0, 3])], cov)
    assert np.count_nonzero(both) == 4
    assert Space(a=Real(0, 1), noise="learn").noise == "learn"


def test_tolerances_in_words():
    assert [SPACE.tolerance(name) for name in SPACE.names] == ["± 4", "± 5 %", "", ""]
    numbers = {"a": Real(0, 9), "kind": Choice("A", "B"), "b": Log(1, 9), "n": Integer(0, 3)}
    law = Space(numbers, noise=np.diag([4.0, 0.01, 0.0]))
    assert [law.tolerance(name) for name in law.names] == ["± 2", "", "± 10 %", ""]
    assert Space(numbers, noise="learn").tolerance("a") == "learnt"
    whole = Space(n=Integer(0, 3), noise=[0.3])
    assert whole.tolerance("n") == "± 0.3"
    assert whole.decode([1.5])["n"] == 1.5  # what the law realises between two numbers


def test_columns_are_values_by_name():
    rows = np.array([SPACE.encode(POINT), SPACE.start()])
    columns = SPACE.columns(rows)
    assert columns["alloy"].tolist() == ["C", "A"]
    assert columns["width"].tolist() == [120.0, 175.0]
    assert np.array_equal(columns, rows)
    assert list(columns) == ["width", "feed", "turns", "alloy"]


def test_points_may_come_in_any_form():
    pd = pytest.importorskip("pandas")
    points = [POINT, POINT | {"turns": 9}]
    wanted = [SPACE.encode(each).tolist() for each in points]
    columns = {name: [each[name] for each in points] for name in POINT}
    array = np.array([list(each.values()) for each in points], dtype=object)
    for form in (points, tuple(points), columns, pd.DataFrame(points), array):
        assert [SPACE.encode(each).tolist() for each in SPACE.rows(form)] == wanted
    assert SPACE.rows(POINT) == [POINT]


def test_what_is_left_out_of_a_realised_point_is_unknown_or_exact():
    theta = SPACE.encode(POINT)
    x = SPACE.realised({"width": 121.5}, theta)
    assert x[0] == 121.5
    assert np.isnan(x[1])  # noisy, and not measured
    assert np.array_equal(x[2:], theta[2:])  # exact
    assert SPACE.realised({"alloy": "A"}, theta)[3:].tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(SPACE.realised(None, theta)[:2]).all()
    learnt = Space(a=Real(0, 1), noise="learn")
    assert np.isnan(learnt.realised({}, np.zeros(1))).all()


def test_a_space_is_plain_data_and_can_be_pickled():
    assert SPACE.described()["width"] == {"real": [50, 300], "unit": "mm", "noise": 4.0}
    assert Space.from_described(SPACE.described()) == SPACE
    assert pickle.loads(pickle.dumps(SPACE)) == SPACE
    assert eval(repr(SPACE)) == SPACE
    assert Space(a=Real(0, 1)) != Space(b=Real(0, 1))


def test_a_space_of_annotations():
    def f(width: Real(50, 300), feed: Annotated[float, "speed", Log(1, 9)], other: int = 3): ...

    assert Space.of(f) == Space(width=Real(50, 300), feed=Log(1, 9))


def test_shares_of_the_range():
    rows = np.array([SPACE.encode(POINT | {"width": 300.0, "turns": 3})])
    assert SPACE.shares(rows)[0].tolist() == [1.0, pytest.approx(0.6747, abs=1e-4), 0.0, 1.0]
    assert SPACE.spread_shares(np.full((1, 6), 25.0))["width"].tolist() == [0.1]
    assert "alloy" not in SPACE.spread_shares(rows)


def test_the_names_are_those_of_the_package():
    assert phenes.Space is Space
    assert phenes.Real is Real


WRONG = {
    "nothing": (Space, "Space must have at least one parameter"),
    "a pair": (lambda: Space(width=(50, 300)), "width must be a Real, Log, Integer or Choice"),
    "a class": (lambda: Space(width=Real), "width must be a Real, Log, Integer or Choice"),
    "called noise": (
        lambda: Space(noise=Real(0, 1)),
        "noise of a space must be a law of all parameters",
    ),
    "noise twice": (
        lambda: Space(a=Real(0, 1, noise=0.1), noise=[0.1]),
        "noise must be given for all parameters or of each, got both: a has its own",
    ),
    "noise of another size": (
        lambda: Space(a=Real(0, 1), kind=Choice("A", "B"), noise=[0.1, 0.1]).noise,
        "noise must have shape (1,) or (1, 1) for the 1 parameters that are numbers, got (2,)",
    ),
    "unknown name": (
        lambda: SPACE.encode(POINT | {"height": 1}),
        "a point must be by the names width, feed, turns, alloy, got 'height'",
    ),
    "missing name": (
        lambda: SPACE.encode({"width": 100.0}),
        "a point must have all of width, feed, turns, alloy, got no feed",
    ),
    "x0 of another name": (lambda: SPACE.start({"height": 1}), "x0 must be by the names width"),
    "x0 outside": (
        lambda: SPACE.start({"width": 400}),
        "x0 must lie within the space, got width = 400 outside 50 to 300",
    ),
    "x0 unknown": (lambda: SPACE.start({"width": None}), "x0 must lie within the space"),
    "x0 a vector": (lambda: SPACE.start([1, 2]), "x0 must be a mapping of names to values"),
    "a short row": (lambda: SPACE.rows([[1.0, 2.0]]), "an array of shape [n, 4]"),
    "ragged": (
        lambda: SPACE.rows({"width": [1, 2], "feed": [1]}),
        "columns of points must have the same length, got shapes (2,), (1,)",
    ),
    "no annotation": (
        lambda: Space.of(lambda x: 0),
        "the parameters of f must say what they may be",
    ),
    "no kind": (
        lambda: Space.from_described({"a": {"reel": [0, 1]}}),
        "a must have one of real, log, integer, choice, as in {real = [50, 300]}",
    ),
    "crossed, in a file": (
        lambda: Space.from_described({"a": {"real": [1, 0]}}),
        "a: Real must have low below high, got 1 and 0",
    ),
    "unknown word, in a file": (
        lambda: Space.from_described({"a": {"real": [0, 1], "tolerance": 3}}),
        "a must be as in {real = [50, 300], unit = 'mm', noise = 4.0}",
    ),
}


@pytest.mark.parametrize(("call", "said"), WRONG.values(), ids=WRONG)
def test_bad_input_is_one_sentence(call, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        call()


@pytest.mark.parametrize("law", [[0.1, 7.0], [[0.01, 0.0], [0.0, 49.0]]])
def test_a_law_of_all_that_is_wider_than_a_range_is_refused(law):
    space = Space(a=Real(0, 1), n=Integer(0, 5), noise=law)
    with pytest.raises(ValueError, match=r"noise of n must be smaller than its range of 5, got 7"):
        phenes.minimize(lambda a, n: a + n, space, budget=20)


def test_axes_that_show_values_are_named_after_them():
    assert SPACE.labels[1] == "ln(feed)"
    assert SPACE.titles[1] == "feed"
    assert SPACE.logarithms == (1,)
    assert SPACE.titles[2:] == SPACE.labels[2:]
