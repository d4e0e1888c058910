"""Rows as columns of the checkpoint and back."""

import numpy as np
import pytest

from phenes.execution import Outcome
from phenes.optimizer.records.evaluations import LONGEST_ERROR, Row, from_arrays, row, to_arrays

THETA, X = np.array([1.0, 2.0]), np.array([1.1, 2.1])


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


@pytest.mark.parametrize("more", [{}, {"error": "broken"}, {"tell": 2, "asked": 5}])
def test_rows_come_back(more):
    rows = [Row(0, THETA, X, 0.5), Row(3, THETA, X, 1.5, **more)]
    arrays = to_arrays(rows)
    assert all(map(same, from_arrays(arrays), rows))
    assert ("error" in arrays) == ("error" in more)
    assert ("asked" in arrays) == ("asked" in more)


def test_long_errors_are_cut():
    (back,) = from_arrays(to_arrays([Row(0, THETA, X, np.nan, "e" * 5000)]))
    assert len(back.error) == LONGEST_ERROR


def test_x_is_what_f_was_given_or_what_it_says():
    assert row(0, THETA, X, Outcome(None, 1.0), realises=False).x is X
    assert row(0, THETA, THETA, Outcome(X, 1.0), realises=True).x is X
    assert np.isnan(row(0, THETA, THETA, Outcome(None, 1.0), realises=True).x).all()
