"""The loop of `minimize` without generations: each free worker gets a new point at once.

Each value is told as it comes, so that a slow evaluation holds nobody back. The price: points are
asked for while others are still under way, from a search that is that much older, and the run
depends on the order in which values came. The checkpoint keeps that order, so that the run can be
resumed.
"""

import contextlib
from itertools import groupby

import numpy as np

from phenes._validate import FloatArray
from phenes.execution import Evaluate, Pool
from phenes.optimizer.callbacks import Listener
from phenes.optimizer.loops.shared import ENDED, check_first, check_same, tell
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.records.checkpoint import Checkpoint
from phenes.optimizer.records.evaluations import Row, row


def run(opt: Optimizer, evaluate: Evaluate, kept: Checkpoint, listener: Listener) -> bool:
    """Run to the end; False if the listener ended it."""
    flight = _Flight(opt, evaluate.realises, kept)
    budget = opt.budget
    with contextlib.closing(evaluate.open()) as pool:
        for rows, opt.budget in kept.replay():
            flight.tell_again(rows)
            listener.seen(rows)
        opt.budget = kept.part.budget or budget
        listener.seen(flight.go_on())
        opt.budget = budget
        for number in list(flight.under_way):
            flight.send(number, pool)
        while not opt.stop():
            while flight.asked < opt.budget and (pool.room or not len(pool)):
                flight.send(flight.ask(), pool)
            rows = flight.take(pool)
            moved = flight.moved(rows, len(pool))
            listener.seen(rows)
            if moved:
                if kept.part.number == 0:
                    check_first(opt, kept.part.rows)
                kept.complete(opt, len(pool))
                if listener.moved():
                    return False
    return True


class _Flight:
    """Points that were asked and not yet told, by number."""

    def __init__(self, opt: Optimizer, realises: bool, kept: Checkpoint):
        self.opt, self.realises, self.kept = opt, realises, kept
        self.under_way: dict[int, FloatArray] = {}
        self.asked = self.tells = 0

    def ask(self) -> int:
        """The number of a new point."""
        self.under_way[self.asked] = self.opt.ask_vectors(1, pending=len(self.under_way))[0]
        self.asked += 1
        return self.asked - 1

    def x(self, number: int) -> FloatArray:
        """The random numbers of an individual depend on the seed and its number only."""
        theta = self.under_way[number]
        if self.realises:
            return theta
        return self.opt.noise_model.draw(self.opt.seed, number, theta[None])[0]

    def send(self, number: int, pool: Pool) -> None:
        """Sends a point to a worker; recorded first where it must not be evaluated twice."""
        self.kept.sending(number)
        pool.send(number, self.x(number))

    def take(self, pool: Pool) -> list[Row]:
        """Rows that have come back from the workers."""
        return [
            row(number, self.under_way[number], self.x(number), outcome, self.realises)
            for number, outcome in pool.take()
        ]

    def moved(self, rows: list[Row], flying: int) -> bool:
        """Store and tell; True if the optimiser has moved."""
        for each in rows:
            each.tell = self.tells
            each.asked = self.asked
        self.kept.arrived(rows, flying)
        return self._tell(rows)

    def tell_again(self, rows: list[Row]) -> None:
        """Rows on file, in the parts in which they were told."""
        for _, part in groupby(rows, key=lambda row: row.tell):
            told = list(part)
            while self.asked < told[0].asked:
                self.ask()
            check_same(np.array([self.under_way[row.index] for row in told]), told, self.kept)
            self._tell(told)

    def go_on(self) -> list[Row]:
        """The part that was not complete, and what was sent and never came back."""
        part = self.kept.part
        self.tell_again(part.rows)
        while part.sent and self.asked <= max(part.sent):
            self.ask()
        ended = [
            row(number, self.under_way[number], self.x(number), ENDED, self.realises)
            for number in part.sent
            if number in self.under_way
        ]
        rows = [*part.rows, *ended]
        if ended and self.moved(ended, 0):
            self.kept.complete(self.opt)
        return rows

    def _tell(self, rows: list[Row]) -> bool:
        before = self.opt.generation
        tell(self.opt, rows)
        self.tells += 1
        for each in rows:
            del self.under_way[each.index]
        return self.opt.generation > before
