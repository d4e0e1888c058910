"""The calls that made a run what it is, and which of the theta that were handed out are pending.

A search is deterministic given its seed and what it was told in which order: these calls, made
again, are its state. `saved` keeps them in a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from phenes._validate import FloatArray

ASK, VERIFY, TELL, WITHDRAW, BUDGET = "ask", "verify", "tell", "withdraw", "budget"
# Evaluations of which the calls are kept in memory: no lab has as many, and a run of a simulator
# that has more keeps them in the file of its checkpoint.
MOST_ROWS = 50_000
# Theta that may be pending; of more, the oldest were lost.
MOST_PENDING = 10_000


class Call(NamedTuple):
    """A call that changes a run.

    theta (n, d): what was handed out or told. x (n, d), f (n,): what was told of them. number: the
    `pending` of an ask, or the budget. names, c (n, J): constraints that were told.
    """

    kind: str
    theta: FloatArray
    x: FloatArray
    f: FloatArray
    number: int = 0
    names: tuple[str, ...] = ()
    c: FloatArray | None = None


class Sink(Protocol):
    """Where calls are kept."""

    def append(self, calls: list[Call]) -> None:
        """Keep them, all or none; a ValueError says why they cannot be."""
        ...


class Journal:
    """All calls of a run so far; with a sink, each is kept there before the caller goes on."""

    def __init__(self, dim: int):
        self.dim = dim
        self.calls: list[Call] = []
        self.complete = True  # whether `calls` has all of them
        self.sink: Sink | None = None
        self._late: list[Call] = []  # calls that happened and could not be written
        self._pending: dict[bytes, int] = {}  # rows, in the order of their first, and their number
        self._told = 0

    def ask(self, theta: FloatArray, pending: int) -> None:
        """These theta are handed out, beside `pending` others."""
        self._happened(Call(ASK, theta.copy(), *self._nothing(), pending))

    def verify(self, theta: FloatArray) -> None:
        """These theta are handed out to verify the answer."""
        self._happened(Call(VERIFY, theta.copy(), *self._nothing()))

    def tell(
        self,
        theta: FloatArray,
        f: FloatArray,
        x: FloatArray,
        names: tuple[str, ...] = (),
        c: FloatArray | None = None,
    ) -> None:
        """Values are about to be told. If that cannot be written, nothing has happened."""
        self._happens(Call(TELL, theta, x, f, names=names, c=c))

    def withdraw(self, theta: FloatArray) -> None:
        """These theta are about to be given up."""
        self._happens(Call(WITHDRAW, theta, *self._nothing()))

    def budget(self, budget: int) -> None:
        """The budget is about to change."""
        empty = np.empty((0, self.dim))
        self._happens(Call(BUDGET, empty, *self._nothing(), budget))

    @property
    def pending(self) -> FloatArray:
        """Theta that were handed out and not told, (n, d), the oldest first."""
        rows = [np.frombuffer(row) for row, n in self._pending.items() for _ in range(n)]
        return np.array(rows).reshape(-1, self.dim)

    def __getstate__(self) -> dict[str, Any]:
        """Copies write no file: two would write the same one."""
        return self.__dict__ | {"sink": None, "_late": []}

    def _nothing(self) -> tuple[FloatArray, FloatArray]:
        return np.empty((0, self.dim)), np.empty(0)

    def _happened(self, call: Call) -> None:
        """What could not be written now is written with the next call."""
        self._note(call)
        if self.sink is not None:
            self._late.append(call)
            self.sink.append(self._late)
            self._late = []

    def _happens(self, call: Call) -> None:
        if self.sink is not None:
            self.sink.append([*self._late, call])
            self._late = []
        self._note(call)

    def _note(self, call: Call) -> None:
        for row in call.theta + 0.0:  # -0.0 is 0.0
            self._count(row.tobytes(), 1 if call.kind in (ASK, VERIFY) else -1)
        self._told += call.f.size
        if self._told > MOST_ROWS:
            self.calls, self.complete = [], False
        if self.complete:
            self.calls.append(call)

    def _count(self, row: bytes, change: int) -> None:
        known = self._pending.get(row, 0) + change
        if known > 0:
            self._pending[row] = known
            if len(self._pending) > MOST_PENDING:
                del self._pending[next(iter(self._pending))]
        else:
            self._pending.pop(row, None)
