"""The loop of `minimize`, generation by generation: the run does not depend on where, or in which
order, f was evaluated.
"""

from typing import Any, Protocol

import numpy as np

from phenes.execution import Evaluate
from phenes.execution.task import failed
from phenes.optimizer.checkpoint import Checkpoint
from phenes.optimizer.evaluations import Row, row
from phenes.optimizer.optimizer import Optimizer

ENDED = failed("WorkerLost: the process that waited for this evaluation was ended")


class Follow(Protocol):
    """Who hears of a run."""

    def seen(self, rows: list[Row]) -> None:
        """Evaluations, also those from before a resume."""
        ...

    def moved(self) -> bool:
        """After an update; True ends the run."""
        ...


def run(opt: Optimizer, evaluate: Evaluate, kept: Checkpoint, follow: Follow) -> bool:
    """True if it came to its end."""
    pool = evaluate.open(kept.sending)
    budget, kept.budget = opt.budget, opt.budget
    try:
        for rows, opt.budget in kept.replay():
            _tell(opt, _asked(opt, rows, kept), rows)
            follow.seen(rows)
        opt.budget = kept.budget_then if kept.rows else budget
        while not opt.stop():
            theta = opt.ask()
            opt.budget = budget
            x = theta if evaluate.realises else opt.channel.draw(opt.seed, kept.part, theta)
            rows = _evaluate(pool, theta, x, evaluate.realises, kept)
            if opt.nfev == 0:
                check_first(rows)
            _tell(opt, theta, rows)
            kept.complete(opt)
            follow.seen(rows)
            if follow.moved():
                return False
        return True
    finally:
        pool.close()


def check_first(rows: list[Row]) -> None:
    errors = [row.error for row in rows if row.error]
    if len(errors) == len(rows):
        raise RuntimeError(
            f"f failed on all of the first {len(rows)} evaluations, first with {errors[0]}"
        )


def same(asked: np.ndarray, rows: list[Row], kept: Checkpoint) -> None:
    """The theta on file are those that are asked now."""
    stored = np.array([row.theta for row in rows])
    if asked.shape != stored.shape or not np.allclose(asked, stored, rtol=1e-6, atol=1e-9):
        raise kept.foreign()


def _asked(opt: Optimizer, rows: list[Row], kept: Checkpoint) -> np.ndarray:
    rows.sort(key=lambda row: row.index)
    theta = opt.ask()[: len(rows)]
    same(theta, rows, kept)
    return np.array([row.theta for row in rows])


def _tell(opt: Optimizer, theta: np.ndarray, rows: list[Row]) -> None:
    opt.tell(theta, [row.f for row in rows], realised=[row.x for row in rows])


def _evaluate(
    pool: Any, theta: np.ndarray, x: np.ndarray, realises: bool, kept: Checkpoint
) -> list[Row]:
    """All of a generation, in the order in which it was asked; those on file are not evaluated
    again.
    """
    if kept.rows:
        same(theta[[row.index for row in kept.rows]], kept.rows, kept)
    known = {row.index for row in kept.rows}
    ended = [row(i, theta[i], x[i], ENDED, realises) for i in kept.sent if i not in known]
    if ended:
        kept.arrived(ended, 0)
        known |= {row.index for row in ended}
    for i in range(len(theta)):
        if i not in known:
            pool.send(i, x[i])
    while len(pool):
        kept.arrived(
            [row(i, theta[i], x[i], outcome, realises) for i, outcome in pool.take()], len(pool)
        )
    return sorted(kept.rows, key=lambda row: row.index)
