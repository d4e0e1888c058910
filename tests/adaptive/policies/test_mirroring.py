"""Candidates in mirrored pairs."""

import numpy as np
import pytest

from phenes.adaptive.policies.mirroring import Mirroring, worth_it
from tests.adaptive.problems import coordinates

DIM = 8
COORDS = coordinates(np.ones(DIM))


def test_draws_come_in_mirrored_pairs_however_they_are_asked_for():
    pairs = Mirroring()
    sizes = (1, 1, 3, 4, 1, 5, 1)
    rows = np.concatenate([pairs.draw(n, COORDS, np.random.default_rng(n)) for n in sizes])
    assert np.array_equal(rows[::2], -rows[1::2])
    assert len(np.unique(np.abs(rows[:, 0]))) == 8
    many = pairs.draw(40_000, COORDS, np.random.default_rng(0))
    # each entry has a standard error of .01
    assert np.allclose(np.cov(many.T), np.eye(DIM), atol=0.04)


def test_a_search_that_moved_waits_for_no_image():
    pairs = Mirroring()
    first = pairs.draw(1, COORDS, np.random.default_rng(0))
    pairs.forget()
    assert not np.array_equal(pairs.draw(1, COORDS, np.random.default_rng(1)), -first)


@pytest.mark.parametrize(
    ("coords", "worth"),
    [
        (coordinates(np.ones(8)), True),
        (coordinates(np.ones(7)), False),
        (coordinates(np.ones(8), smooth=0.1), False),
    ],
)
def test_not_in_few_dimensions_nor_where_x_is_not_measured(coords, worth):
    assert worth_it(coords) == worth
    rows = Mirroring().draw(6, coords, np.random.default_rng(0))
    assert np.array_equal(rows[::2], -rows[1::2]) == worth


def test_switched_off_draws_are_independent():
    rows = Mirroring(on=False).draw(6, COORDS, np.random.default_rng(0))
    assert np.array_equal(rows, np.random.default_rng(0).standard_normal((6, DIM)))
