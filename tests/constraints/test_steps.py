"""Constraints that take few values, and where their limit is taken to be."""

import numpy as np
import pytest

from phenes.constraints.steps import few_values, middle

X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
SMOOTH = X @ [1.0, 2.0]


@pytest.mark.parametrize(
    ("c", "expected"),
    [
        (SMOOTH, False),
        (np.round(SMOOTH, 2), False),
        ((SMOOTH > 0).astype(float), True),
        (np.where(SMOOTH > 0, 1.0, -1.0), True),
        (np.full(40, -3.0), True),
        (np.where(SMOOTH > 0, 5.0, SMOOTH), True),
        (np.where(X[:, 0] > 0, np.nan, (SMOOTH > 0).astype(float)), True),
        (np.where(X[:, 0] > 0, np.nan, SMOOTH), False),
        (np.full(40, np.nan), False),
    ],
    ids=["plane", "rounded", "pass", "signs", "constant", "capped", "steps", "gaps", "none"],
)
def test_steps_are_told_by_shared_values(c, expected):
    assert few_values(X, c) is expected


def test_repeats_at_one_place_are_no_steps():
    assert not few_values(np.repeat(X[:4], 10, axis=0), np.repeat(SMOOTH[:4], 10))


@pytest.mark.parametrize(
    ("c", "expected"),
    [
        ([0.0, 1.0, 0.0], 0.5),
        ([-1.0, 1.0], 0.0),
        ([-2.0, -1.0, 3.0, 7.0, np.nan], 1.0),
        ([0.0, 0.0], 0.0),
        ([1.0, 1.0], 0.0),
    ],
)
def test_the_limit_is_in_the_middle_of_the_jump(c, expected):
    assert middle(np.array(c)) == expected
