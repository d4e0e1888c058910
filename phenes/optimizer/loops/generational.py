"""The loop of `minimize`, generation by generation.

The run does not depend on where, or in which order, f was evaluated.
"""

import contextlib
from collections import deque

from phenes._validate import FloatArray
from phenes.execution import Evaluate, Pool
from phenes.optimizer.callbacks import Listener
from phenes.optimizer.loops.shared import ENDED, check_first, check_same, tell
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.records.checkpoint import Checkpoint
from phenes.optimizer.records.evaluations import Row, row


def run(opt: Optimizer, evaluate: Evaluate, kept: Checkpoint, listener: Listener) -> bool:
    """Run to the end; False if the listener ended it."""
    budget = opt.budget
    with contextlib.closing(evaluate.open()) as pool:
        for rows, opt.budget in kept.replay():
            _tell_again(opt, rows, kept)
            listener.seen(rows)
        opt.budget = kept.part.budget or budget
        while not opt.stop():
            theta = opt.ask_vectors()
            opt.budget = budget
            x = theta
            if not evaluate.realises:
                # keyed by batches, not generations: a verification tells several between updates
                x = opt.noise_model.draw(opt.seed, opt.batches, theta)
            rows = _evaluate(pool, theta, x, evaluate.realises, kept)
            if opt.nfev == 0:
                check_first(opt, rows)
            tell(opt, rows)
            kept.complete(opt)
            listener.seen(rows)
            if listener.moved():
                return False
    return True


def _tell_again(opt: Optimizer, rows: list[Row], kept: Checkpoint) -> None:
    """Tells a complete generation from the file."""
    rows.sort(key=lambda row: row.index)
    check_same(opt.ask_vectors()[: len(rows)], rows, kept)
    tell(opt, rows)


def _evaluate(
    pool: Pool, theta: FloatArray, x: FloatArray, realises: bool, kept: Checkpoint
) -> list[Row]:
    """Evaluates a generation, in the order asked; rows on file are not evaluated again."""
    part = kept.part
    if part.rows:
        check_same(theta[[row.index for row in part.rows]], part.rows, kept)
    known = {row.index for row in part.rows}
    ended = [row(i, theta[i], x[i], ENDED, realises) for i in part.sent if i not in known]
    if ended:
        kept.arrived(ended, 0)
        known |= {row.index for row in ended}
    waiting = deque(i for i in range(len(theta)) if i not in known)
    while waiting or len(pool):
        # points are recorded before they are sent: record only those that start at once
        while waiting and (pool.room or not kept.once or not len(pool)):
            kept.sending(waiting[0])
            pool.send(waiting[0], x[waiting[0]])
            waiting.popleft()
        arrived = [row(i, theta[i], x[i], outcome, realises) for i, outcome in pool.take()]
        kept.arrived(arrived, len(waiting) + len(pool))
    return sorted(part.rows, key=lambda row: row.index)
