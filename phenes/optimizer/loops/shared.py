"""What both loops do with rows."""

import numpy as np

from phenes._validate import FloatArray
from phenes.execution.task import failed
from phenes.optimizer.checkpoint import Checkpoint
from phenes.optimizer.evaluations import Row
from phenes.optimizer.optimizer import Optimizer

# outcome of a point that was sent, did not return, and must not be evaluated twice
ENDED = failed("WorkerLost: the process that waited for this evaluation was ended")


def tell(opt: Optimizer, rows: list[Row]) -> None:
    """Tell the optimiser these rows."""
    theta = [row.theta for row in rows]
    opt.tell(theta, [row.f for row in rows], realised=[row.x for row in rows])


def check_first(rows: list[Row]) -> None:
    """Refuse to go on if every first evaluation of f failed."""
    errors = [row.error for row in rows if row.error]
    if len(errors) == len(rows):
        raise RuntimeError(
            f"f failed on all of the first {len(rows)} evaluations, first with {errors[0]}"
        )


def check_same(asked: FloatArray, rows: list[Row], kept: Checkpoint) -> None:
    """Refuse a file whose theta are not those that are asked now."""
    stored = np.array([row.theta for row in rows])
    if asked.shape != stored.shape or not np.allclose(asked, stored, rtol=1e-6, atol=1e-9):
        raise kept.foreign()
