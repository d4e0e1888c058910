"""What both loops do with rows."""

import numpy as np

from phenes._validate import FloatArray
from phenes.execution.task import NOTHING, failed
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.records.checkpoint import Checkpoint
from phenes.optimizer.records.evaluations import Row

# outcome of a point that was sent, did not return, and must not be evaluated twice
ENDED = failed("WorkerLost: the process that waited for this evaluation was ended")

ERROR = "an error"
OTHER = "constraints must be named {}, as before or in chance, got {}"
# what f may return in place of a value, and what that suggests
ADVICE = {
    "None": "is there a return statement?",
    "NaN": "start where it has values, or with a smaller sigma0",
    "infinity": "start where it has finite values, or with a smaller sigma0",
    "minus infinity": "it has no minimum that could be found",
}


def tell(opt: Optimizer, rows: list[Row]) -> None:
    """Tell the optimiser these rows. What they lack of the constraints is not known: violated."""
    theta, x = [row.theta for row in rows], [row.x for row in rows]
    f, held = [row.f for row in rows], None
    if opt.wanted is not None:
        held = _held(opt, rows)
        if held is None:  # no name has come yet: there is no column that could say what they lack
            f = [np.nan] * len(rows)
    opt.tell_vectors(theta, f, realised=x, constraints=held)


def _held(opt: Optimizer, rows: list[Row]) -> dict[str, list[float]] | None:
    """Columns of constraints by name; None if no row has any.

    Rows with other names than the first have none that can be trusted to be all.
    """
    assert opt.wanted is not None
    first = next((row.constraints for row in rows if row.constraints), ())
    names = opt.constraint_names or opt.wanted.names or tuple(name for name, _ in first)
    known = [dict(row.constraints) for row in rows]
    for row, given in zip(rows, known, strict=True):
        row.lacks = bool(np.isfinite(row.f)) and sorted(given) != sorted(names)
        if row.lacks and names:
            row.error = OTHER.format(", ".join(names), ", ".join(given) or "none")
        if not set(given) <= set(names):
            given.clear()
    if not names:
        return None
    return {name: [each.get(name, np.nan) for each in known] for name in names}


def check_first(opt: Optimizer, rows: list[Row]) -> None:
    """Refuse to go on if every first evaluation of f failed: that is a mistake, not bad luck."""
    if opt.wanted is not None:
        _held(opt, rows)
    refuse_failures(rows)


def refuse_failures(rows: list[Row]) -> None:
    """Refuse rows that all failed, or have a value and nothing of what else was expected."""
    if any(np.isfinite(row.f) and not row.error for row in rows):
        return
    of_all = f"on all of the first {len(rows)} evaluations"
    kinds = {_failure(row) for row in rows}
    if ERROR not in kinds:
        returned = [kind for kind in ADVICE if kind in kinds]
        raise RuntimeError(f"f returned {' or '.join(returned)} {of_all}: {ADVICE[returned[-1]]}")
    first = next(row.error for row in rows if _failure(row) == ERROR)
    raise RuntimeError(f"f failed {of_all}, first with {first}")


def _failure(row: Row) -> str:
    """What a failed evaluation gave, in a word."""
    if row.error:
        return "None" if row.error == NOTHING else ERROR
    if np.isnan(row.f):
        return "NaN"
    return "infinity" if row.f > 0 else "minus infinity"


def check_same(asked: FloatArray, rows: list[Row], kept: Checkpoint) -> None:
    """Refuse a file whose theta are not those that are asked now."""
    stored = np.array([row.theta for row in rows])
    if asked.shape != stored.shape or not np.allclose(asked, stored, rtol=1e-6, atol=1e-9):
        raise kept.foreign()
