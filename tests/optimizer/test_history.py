"""The history of a long run stays small, in order, and ends with the last entry."""

import numpy as np

import phenes
from phenes.optimizer import history


def test_memory_is_bounded_and_the_ends_are_kept():
    kept = history.History()
    for k in range(1_000_000 // 10):
        kept.add(10 * k, np.zeros(2), 0.0, 0.0, 0.0, np.zeros(2), "search")
        assert len(kept.entries) < history.LIMIT
    nfev = kept.arrays()["nfev"]
    assert (nfev[0], nfev[-1]) == (0, 999_990)
    assert np.all(np.diff(nfev) > 0)
    assert len(nfev) > history.LIMIT / 4


def test_a_short_run_keeps_every_update():
    result = phenes.minimize(
        lambda x: float(np.sum(x**2)), np.ones(2), 0.5, 0.1, budget=300, seed=0
    )
    assert len(result.history["nfev"]) == result.nit
    assert result.history["nfev"][-1] == result.nfev
