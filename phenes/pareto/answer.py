"""The answer of `phenes.front`: designs, both objectives at each, and what they rest on."""

from __future__ import annotations

import csv
import html
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phenes import _validate
from phenes._files import replaced
from phenes._validate import BoolArray, FloatArray, IntArray
from phenes.evidence.evaluations import Evaluations
from phenes.pareto import saved
from phenes.pareto.hypervolume import hypervolume
from phenes.space import Space

SHOWN = 6  # parameters that the table has


class Axis(NamedTuple):
    """One of the two objectives, as users see it.

    Attributes
    ----------
    label : str
        What it is, such as "E f(x)" or "std of cost".
    risk : str
        The risk, such as "mean()".
    maximised : bool
        Whether large values are good.
    ends : tuple of float
        Between which values it can lie at all.
    """

    label: str
    risk: str
    maximised: bool
    ends: tuple[float, float]


def no_evaluations() -> Evaluations:
    """A table without rows."""
    return Evaluations(np.empty((0, 0)), np.empty((0, 0)), np.empty(0))


@dataclass(frozen=True)
class Front:
    """Designs of which none was shown to be beaten by another in both objectives.

    Attributes
    ----------
    vectors : ndarray, shape (k, d)
        The designs, by their first objective from its best value on; `thetas` has them by name.
    values : ndarray, shape (k, 2)
        Both objectives at each design.
    errors : ndarray, shape (k, 2)
        Their standard errors: a value plus and minus two of them is a 95 % interval.
    draws : ndarray of int, shape (k,)
        Fresh draws at each design, on which its values rest; 0: not verified.
    failing : ndarray of int, shape (k,)
        How many of these draws failed.
    axes : tuple of Axis
        What the two objectives are.
    beaten : dict of str to ndarray
        "vectors", "values" and "errors" of designs that the draws showed to be beaten.
    nfev, failed : int
        Evaluations in all, and how many of them gave no finite value.
    success : bool
        Is every design verified?
    message : str
        What the front rests on, in a sentence.
    errors_of_f : tuple of str
        What the first failed evaluations said, each once.
    space : Space or None
        The named parameters, if there are any.
    evaluations : Evaluations
        All evaluations; `to_pandas` and `to_csv` make tables of them.
    seed : int
        That gives the same front again.
    """

    vectors: FloatArray
    values: FloatArray
    errors: FloatArray
    draws: IntArray
    failing: IntArray
    axes: tuple[Axis, Axis]
    beaten: dict[str, FloatArray] = field(default_factory=dict[str, FloatArray], repr=False)
    nfev: int = 0
    failed: int = 0
    success: bool = False
    message: str = ""
    errors_of_f: tuple[str, ...] = ()
    space: Space | None = field(default=None, repr=False)
    evaluations: Evaluations = field(default_factory=no_evaluations, repr=False)
    seed: int = 0

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def thetas(self) -> Any:
        """The designs: an array of shape (k, d), or in a space a list of points by name."""
        if self.space is None:
            return self.vectors
        return [self.space.decode(row) for row in self.vectors]

    @property
    def intervals(self) -> FloatArray:
        """95 % intervals of both objectives at each design, (k, 2, 2): low and high are last."""
        low, high = self.values - 2 * self.errors, self.values + 2 * self.errors
        ends = np.array([axis.ends for axis in self.axes])
        return np.stack([np.maximum(low, ends[:, 0]), np.minimum(high, ends[:, 1])], axis=2)

    @property
    def verified(self) -> BoolArray:
        """Which designs rest on fresh draws that gave values, (k,)."""
        return (self.draws > self.failing) & np.all(np.isfinite(self.errors), axis=1)

    def hypervolume(self, reference: Any) -> float:
        """The area between the front and a point that is worse in both objectives.

        Parameters
        ----------
        reference : array_like, shape (2,)
            That point, in the units of the objectives.

        Returns
        -------
        float
            The larger, the better.

        Raises
        ------
        ValueError
            If the reference is not two finite numbers.
        """
        corner = _validate.numbers("reference", reference)
        _validate.shape("reference", corner, (2,), "the two objectives")
        _validate.finite("reference", corner)
        signs = np.array([-1.0 if axis.maximised else 1.0 for axis in self.axes])
        return hypervolume(self.values * signs, corner * signs)

    def columns(self) -> dict[str, Any]:
        """Columns of a table of the designs.

        Returns
        -------
        dict of str to array, shape (k,)
            Parameters by name (or theta_0, theta_1, ...), both objectives, their standard errors,
            and draws.
        """
        out: dict[str, Any] = {}
        if self.space is None:
            out |= {f"theta_{k}": column for k, column in enumerate(self.vectors.T)}
        else:
            out |= dict(self.space.columns(self.vectors))
        for k, axis in enumerate(self.axes):
            out[axis.label] = self.values[:, k]
            out[f"se of {axis.label}"] = self.errors[:, k]
        return out | {"draws": self.draws, "failing": self.failing}

    def to_csv(self, path: str | Path) -> None:
        """Write `columns` as a file of comma-separated values; numbers in it are exact.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        columns = {name: np.asarray(column).tolist() for name, column in self.columns().items()}
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(columns)
            out.writerows(zip(*columns.values(), strict=True))

    def save(self, path: str | Path) -> None:
        """Write all of it, evaluations too, as a file of JSON, which `Front.load` reads.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        text = json.dumps(saved.as_data(self), allow_nan=False)
        with replaced(path) as file:
            file.write(text.encode())

    @staticmethod
    def load(path: str | Path) -> Front:
        """Read a front that was saved.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Front

        Raises
        ------
        ValueError
            If it is no such file.
        """
        return saved.read(path, Front, Axis)

    def plot(self) -> Any:
        """Draw the front with error bars, and how the parameters change along it.

        Returns
        -------
        matplotlib.figure.Figure
            Notebooks show it; `front.plot().savefig("front.png")` keeps it.
        """
        from phenes.plots import front as picture  # the core does not wait for matplotlib

        first, second = (
            f"{axis.label}   ({'more' if axis.maximised else 'less'} is better)"
            for axis in self.axes
        )
        names, shown, tried = self._numbers()
        everything = np.concatenate([tried, shown])
        return picture.figure(
            picture.Drawn(
                (first, second),
                self.values,
                self.intervals,
                self.verified,
                self.beaten.get("values", np.empty((0, 2))),
                shown,
                names,
                np.stack([everything.min(axis=0), everything.max(axis=0)], axis=1),
                self.message,
            )
        )

    def _numbers(self) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
        """Parameters that are numbers: names with units, of the designs, and of all evaluations."""
        if self.space is None:
            names = tuple(f"coordinate {k}" for k in range(self.vectors.shape[1]))
            return names, self.vectors, np.asarray(self.evaluations.theta, np.float64)
        parts = [self.space.columns(rows) for rows in (self.vectors, self.evaluations.theta)]
        kept = [name for name in self.space.names if _numeric(parts[0][name])]
        units = [getattr(self.space.parameters[name], "unit", "") for name in kept]
        names = tuple(f"{k}, {u}" if u else k for k, u in zip(kept, units, strict=True))
        shown, tried = (
            np.array([each[name] for name in kept], np.float64).T.reshape(-1, len(kept))
            for each in parts
        )
        return names, shown, tried

    def table(self) -> list[tuple[str, ...]]:
        """The table that is printed, as text: a header, and a row for each design.

        Returns
        -------
        list of tuple of str
        """
        names = [f"theta[{k}]" for k in range(self.vectors.shape[1])]
        cells = [[f"{value:.4g}" for value in row] for row in self.vectors]
        if self.space is not None:
            names = list(self.space.names)
            cells = [[point.with_unit(name) for name in names] for point in self.thetas]
        more = ("...",) if len(names) > SHOWN else ()
        head = (*(axis.label for axis in self.axes), "draws", *names[:SHOWN], *more)
        rows = [
            (
                *(f"{v:.4g} ± {2 * e:.2g}" for v, e in zip(values, errors, strict=True)),
                f"{n - bad}" + (f", {bad} failed" if bad else ""),
                *row[:SHOWN],
                *more,
            )
            for values, errors, n, bad, row in zip(
                self.values, self.errors, self.draws, self.failing, cells, strict=True
            )
        ]
        return [head, *rows]

    def __str__(self) -> str:
        rows = self.table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        return "\n".join([*lines, "± two standard errors, 95 %", self.message, *self.errors_of_f])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks show what print shows."""
        printer.text("Front(...)" if cycle else str(self))

    def _repr_html_(self) -> str:
        """For notebooks."""
        head, *rows = (tuple(html.escape(cell) for cell in row) for row in self.table())
        lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
        lines += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows]
        words = html.escape(f"± two standard errors, 95 %. {self.message}")
        return f"<div><table>{''.join(lines)}</table><p>{words}</p></div>"


def _numeric(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "fiu"
