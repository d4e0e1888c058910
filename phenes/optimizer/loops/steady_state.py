"""The loop of `minimize` without generations: each value is told as it comes, and each free worker
gets a new point at once.

A slow evaluation holds nobody back. The price: points are asked for while others are still under
way, from a search that is that much older, and the run depends on the order in which values came.
The record keeps that order, so that it can be resumed.
"""

from itertools import groupby

import numpy as np

from phenes.execution import Evaluate
from phenes.optimizer.checkpoint import Checkpoint
from phenes.optimizer.evaluations import Row, row
from phenes.optimizer.loops.generational import ENDED, Follow, check_first, same
from phenes.optimizer.optimizer import Optimizer


def run(opt: Optimizer, evaluate: Evaluate, kept: Checkpoint, follow: Follow) -> bool:
    """As `generations.run`."""
    loop = _Loop(opt, evaluate, kept)
    pool = evaluate.open(kept.sending)
    budget, kept.budget = opt.budget, opt.budget
    try:
        for rows, opt.budget in kept.replay():
            loop.again(rows)
            follow.seen(rows)
        opt.budget = kept.budget_then if kept.rows or kept.sent else budget
        follow.seen(loop.go_on())
        opt.budget = budget
        for number in loop.under_way:
            pool.send(number, loop.x(number))
        while not opt.stop():
            while loop.asked < opt.budget and (pool.room or not len(pool)):
                number = loop.ask()
                pool.send(number, loop.x(number))
            rows = [
                row(n, loop.under_way[n], loop.x(n), outcome, evaluate.realises)
                for n, outcome in pool.take()
            ]
            follow.seen(rows)
            if loop.take(rows, len(pool)):
                if kept.part == 0:
                    check_first(kept.rows)
                kept.complete(opt, len(pool))
                if follow.moved():
                    return False
        return True
    finally:
        pool.close()


class _Loop:
    """What was asked and not yet told, by number."""

    def __init__(self, opt: Optimizer, evaluate: Evaluate, kept: Checkpoint):
        self.opt, self.realises, self.kept = opt, evaluate.realises, kept
        self.under_way: dict[int, np.ndarray] = {}
        self.asked = self.tells = 0

    def ask(self) -> int:
        self.under_way[self.asked] = self.opt.ask(1, pending=len(self.under_way))[0]
        self.asked += 1
        return self.asked - 1

    def x(self, number: int) -> np.ndarray:
        """The random numbers of an individual depend on the seed and its number only."""
        theta = self.under_way[number]
        return (
            theta if self.realises else self.opt.channel.draw(self.opt.seed, number, theta[None])[0]
        )

    def take(self, rows: list[Row], flying: int) -> bool:
        """Store and tell; True if the optimiser has moved."""
        for each in rows:
            each.tell, each.asked = self.tells, self.asked
        self.kept.arrived(rows, flying)
        return self._tell(rows)

    def again(self, rows: list[Row]) -> None:
        """Rows on file, in the parts in which they were told."""
        for _, part in groupby(rows, key=lambda row: row.tell):
            told = list(part)
            while self.asked < told[0].asked:
                self.ask()
            same(np.array([self.under_way[row.index] for row in told]), told, self.kept)
            self._tell(told)

    def go_on(self) -> list[Row]:
        """The part that was not complete, and what was sent and never came back."""
        self.again(self.kept.rows)
        while self.kept.sent and self.asked <= max(self.kept.sent):
            self.ask()
        ended = [
            row(n, self.under_way[n], self.x(n), ENDED, self.realises)
            for n in self.kept.sent
            if n in self.under_way
        ]
        rows = [*self.kept.rows, *ended]
        if ended and self.take(ended, 0):
            self.kept.complete(self.opt)
        return rows

    def _tell(self, rows: list[Row]) -> bool:
        before = self.opt.generation
        self.opt.tell(
            [row.theta for row in rows], [row.f for row in rows], realised=[row.x for row in rows]
        )
        self.tells += 1
        for each in rows:
            del self.under_way[each.index]
        return self.opt.generation > before
