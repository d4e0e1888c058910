"""What TensorBoard itself reads of the files."""

import sys

import numpy as np
import pytest

import phenes
from phenes.rl.curve import Curve
from phenes.watch import TensorBoard

accumulator = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator",
    reason="TensorBoard is not installed: pip install 'phenes[tensorboard]'",
)


def read(folder):
    events = accumulator.EventAccumulator(str(folder))
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def test_a_run_of_minimize_is_read_back(tmp_path):
    heard = []
    board = TensorBoard(tmp_path)

    def f(x):
        return float("nan") if x[0] > 1.8 else float(np.sum(x**2))

    result = phenes.minimize(
        f,
        np.full(3, 1.5),
        0.5,
        0.1,
        budget=120,
        seed=1,
        callback=lambda r: heard.append(r) or board(r),
    )
    there = read(tmp_path)  # before it is closed: a run that is killed has written what it said
    board.close()
    steps, values = zip(*there["E f"], strict=True)
    known = [r for r in heard if np.isfinite(r.fun)]
    assert list(steps) == [r.nfev for r in known]
    np.testing.assert_allclose(values, [r.fun for r in known], rtol=1e-6)
    assert there["failed"][-1] == (result.nfev, result.failed)
    np.testing.assert_allclose(
        there["step size"][-1][1], np.sqrt(np.mean(result.spread**2)), rtol=1e-6
    )


def curve(n):
    per = np.arange(1.0, n + 1)
    at = np.arange(2, n + 1, 2)
    return Curve(
        per, 2 * per, 10 * per.astype(int), *(0 * per,) * 2, per, 4 * per, per, at, 3.0 * at
    )


def test_a_training_is_written_generation_by_generation_and_once(tmp_path):
    board = TensorBoard(tmp_path)
    for n in (0, 2, 2, 4):
        board.training(n, 4, curve(n))
    board.training(1, 4, None)
    board.close()
    there = read(tmp_path)
    assert there["return/population"] == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)]
    assert there["return/mean policy"] == [(2, 6.0), (4, 12.0)]
    assert there["signal"][-1] == (4, 0.25)


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    with pytest.raises(ValueError, match=r"phenes\[tensorboard\]"):
        TensorBoard(tmp_path)
