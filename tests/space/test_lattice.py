"""Which vectors there are."""

import numpy as np

from phenes.space import Choice, Integer, Real, Space

SPACE = Space(a=Real(0, 1), n=Integer(0, 9), kind=Choice("A", "B", "C"))


def test_snapping_gives_points_of_the_space_and_leaves_them_alone():
    rows = np.random.default_rng(0).normal(2, 3, (50, 5))
    snapped = SPACE.lattice.snap(rows)
    assert np.array_equal(snapped[:, 0], rows[:, 0])
    assert np.array_equal(snapped[:, 1], np.rint(rows[:, 1]))
    assert np.array_equal(snapped[:, 2:].sum(axis=1), np.ones(50))
    assert np.array_equal(snapped[:, 2:].argmax(axis=1), rows[:, 2:].argmax(axis=1))
    assert np.array_equal(SPACE.lattice.snap(snapped), snapped)
    assert np.array_equal(SPACE.lattice.snap(rows[0]), snapped[0])


def test_which_coordinates_are_numbers():
    lattice = SPACE.lattice
    assert lattice.fixed.tolist() == [False, True, True, True, True]
    assert lattice.chosen.tolist() == [False, False, True, True, True]
    assert not lattice.plain
    assert Space(a=Real(0, 1)).lattice.plain
