"""What an answer says of its constraints: a table by name."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.constraints import bounds

ALL = "all"
HEAD = ("constraint", "holds in", "at least (95 %)", "draws", "mean", "wanted", "")


class Held(NamedTuple):
    """What fresh draws at the answer show of a constraint, or of all together.

    Attributes
    ----------
    name : str
        Of the constraint; "all" for all together.
    probability : float
        Share of the draws in which it held; NaN without draws.
    lower : float
        One-sided 95 % lower bound of the probability (Clopper and Pearson), by counting alone.
    draws : int
        Evaluations at the answer that this rests on; failed ones violate everything.
    violated : int
        How many of them violated it.
    mean : float
        Mean of the constraint over them; of all together, the largest of these means.
    modelled : float
        The probability by a model of the constraints on the realised x; NaN if there is none.
    wanted : float or None
        The probability that was asked for; None if the mean was, or nothing of this one alone.
    met : bool
        Nothing contradicts what was asked for, and `bound` supports it, or the draws alone do.
    confirmed : bool
        The draws alone show what was asked for, at 95 %.
    binding : bool
        It is at its limit, or beyond.
    needed : int
        Draws without a violation that would confirm it by counting; 0 if there is no such number.
    bound : float
        The probability is at least this by all that is believed: by the model with two of its
        errors against it, and by counting for limits that no model resolves. Of a mean that is
        asked for: it is at most this, in standard deviations of the constraint.
    unresolved : tuple of str
        The constraints among them of which no model is believed: they jump, for all that is seen.
    reached : int
        If none of the evaluations where x may be failed, how many these are; else 0, and `bound`
        has what may fail.
    """

    name: str
    probability: float
    lower: float
    draws: int
    violated: int
    mean: float
    modelled: float = np.nan
    wanted: float | None = None
    met: bool = True
    confirmed: bool = False
    binding: bool = False
    needed: int = 0
    bound: float = np.nan
    unresolved: tuple[str, ...] = ()
    reached: int = 0

    @property
    def unseen(self) -> float:
        """Share of x that may fail though no evaluation has, at 95 %; `bound` takes it to be 0."""
        return 1 - bounds.lower(self.reached, self.reached) if self.reached else 0.0

    @property
    def assured(self) -> float:
        """`bound` with what may fail unseen against it: f is not taken to have a value always.

        The same as `bound` where a failure was met, which that allows for, and of a mean.
        """
        return self.bound * (1 - self.unseen)

    def cells(self) -> tuple[str, ...]:
        """A row of the printed table.

        Returns
        -------
        tuple of str
        """
        state = "" if self.met else "not met"
        if self.met and self.binding:
            state = "binding"
        return (
            self.name,
            f"{self.probability:.4%}".replace("nan%", "?"),
            f"{self.lower:.4%}",
            f"{self.draws}, {self.violated} violate",
            "" if self.name == ALL else f"{self.mean:.4g}",
            "" if self.wanted is None else f"{self.wanted:g}",
            state,
        )


@dataclass(frozen=True)
class Constraints(Mapping[str, Held]):
    """The constraints of an answer by name; `all` is that all of them hold.

    Parameters
    ----------
    rows : tuple of Held
        One for each constraint.
    all : Held
        That all of them hold at once.
    average : bool, optional
        What was asked for is their mean.
    """

    rows: tuple[Held, ...]
    all: Held
    average: bool = False

    @property
    def met(self) -> bool:
        """Whether what was asked for is met, as far as is known: the model and fresh draws."""
        return all_met(self.rows) and self.all.met

    @property
    def confirmed(self) -> bool:
        """Whether fresh draws alone show what was asked for, at 95 %."""
        asked = [each for each in (*self.rows, self.all) if self._asked(each)]
        return all([each.confirmed for each in asked])

    def _asked(self, each: Held) -> bool:
        return each.wanted is not None or (self.average and each is not self.all)

    def __getitem__(self, name: str) -> Held:
        for each in (*self.rows, self.all):
            if each.name == name:
                return each
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([each.name for each in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self) -> list[tuple[str, ...]]:
        """Head and rows of the table as text.

        Returns
        -------
        list of tuple of str
        """
        last = (self.all,) if len(self.rows) > 1 else ()
        rows = [HEAD, *(each.cells() for each in (*self.rows, *last))]
        kept = [k for k in range(len(HEAD)) if any(row[k] for row in rows[1:])]
        return [tuple(row[k] for k in kept) for row in rows]

    def __str__(self) -> str:
        rows = self.cells()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    def _repr_html_(self) -> str:
        """For notebooks."""
        head, *rows = self.cells()
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return f"<table><tr>{cells}</tr>{body}</table>"


def all_met(rows: tuple[Held, ...]) -> bool:
    """Whether each of them is met."""
    return all([each.met for each in rows])
