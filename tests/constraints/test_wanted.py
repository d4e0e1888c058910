"""What is wanted of constraints: probabilities, requirements, and columns of what is told."""

import numpy as np
import pytest

import phenes
from phenes.constraints.wanted import columns, from_described, wanted


def test_all_together_are_one_requirement_and_each_its_own():
    (one,) = phenes.chance(0.9).requirements(("a", "b"))
    assert (one.members, one.level, one.name) == ((0, 1), 0.9, "all")
    first, second = phenes.chance(b=0.9, a=0.99).requirements(("a", "b"))
    assert (first.members, first.level, first.name) == ((0,), 0.99, "a")
    assert (second.members, second.level) == ((1,), 0.9)
    (mean,) = phenes.on_average().requirements(("a",))
    assert mean.level is None


@pytest.mark.parametrize("wish", [phenes.chance(0.9), phenes.chance(a=0.5), phenes.on_average()])
def test_it_comes_back_from_plain_data(wish):
    assert from_described(wish.described()) == wish
    assert wanted(wish) is wish


@pytest.mark.parametrize("p", [0, 1, 1.5, -0.1, "0.9", True, None, np.nan])
def test_a_probability_is_between_0_and_1(p):
    with pytest.raises(ValueError, match="a number between 0 and 1"):
        phenes.chance(stress=p)
    if p is not None:
        with pytest.raises(ValueError, match="a number between 0 and 1"):
            phenes.chance(p)


def test_one_form_and_not_both_or_neither():
    for call in (lambda: phenes.chance(), lambda: phenes.chance(0.9, stress=0.9)):
        with pytest.raises(ValueError, match="one probability for all constraints together"):
            call()
    with pytest.raises(ValueError, match=r"constraints must be phenes.chance\(0.99\)"):
        wanted(0.9)


def test_columns_by_name_or_in_an_array():
    wish = phenes.chance(0.9)
    names, c = columns({"b": [1, 2], "a": [3, np.nan]}, wish, (), 2)
    assert names == ("b", "a")
    np.testing.assert_array_equal(c, [[1, 3], [2, np.nan]])
    assert columns({"b": [1], "a": [3]}, wish, ("a", "b"), 1)[1].tolist() == [[3, 1]]
    assert columns([[1, 2]], wish, (), 1)[0] == ("c0", "c1")
    assert columns([1, 2], phenes.chance(a=0.9), (), 2)[0] == ("a",)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1.0, 2.0], "other": [1.0, 2.0]}, "must be named a, b"),
        ({"a": [1.0, 2.0]}, "must be named a, b"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "constraint a must have one value for each of the 2"),
        ([[1.0], [2.0]], "must have 2 columns, for a, b"),
        ([[1.0, 2.0]], "a row for each of the 2 theta"),
        ({}, "at least one name"),
        ({"a": ["x", "y"], "b": [1, 2]}, "constraint a must be"),
    ],
)
def test_what_is_told_has_the_names_of_chance(value, said):
    with pytest.raises(ValueError, match=said):
        columns(value, phenes.chance(a=0.9, b=0.8), (), 2)
