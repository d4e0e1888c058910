"""store -> regrets by function, dimension and budget, and the cells that stick out.

A cell is a hole if its median regret is more than 3 times what its neighbours suggest. In the
direction of the dimension that is the larger of the two beside it, with as many evaluations for
each coordinate: a problem may become harder or easier with the dimension, but not harder and then
easier again. At the ends of the grid it is the neighbour, continued as the one beyond it leads
to expect if that is more. In the direction of the budget it is the regret with the next smaller
one. Regrets below SOLVED are equal.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from phenes.store import Store
from phenes_lab.bench.regimes.settings import RegimesSettings
from phenes_lab.driver import Loaded, last, parts_of
from phenes_lab.report import quartiles

NAME = "regimes"
SOLVED = 1e-7  # of the regret of the start
WORSE = 3.0  # times what neighbours suggest


class Cell(NamedTuple):
    """Regrets over that of the start, and CPU microseconds of an evaluation, [seeds]."""

    regrets: np.ndarray
    microseconds: np.ndarray

    @property
    def median(self) -> float:
        return quartiles(self.regrets)[1]


class Hole(NamedTuple):
    """A cell whose median regret is `times` that which its neighbours suggest."""

    function: str
    dim: int
    each: int
    regret: float
    suggested: float
    along: str

    @property
    def times(self) -> float:
        return self.regret / self.suggested


Grid = dict[tuple[int, int], Cell]  # by dimension and evaluations for each


@dataclass(frozen=True)
class RegimesResults(Loaded):
    cells: dict[str, Grid]

    @property
    def holes(self) -> list[Hole]:
        return [hole for name, grid in self.cells.items() for hole in holes(name, grid)]


def load(store: Store) -> RegimesResults:
    """Of the last run, also if it is not complete."""
    run, loaded = last(store, NAME, RegimesSettings)
    parts = {part.key: part for part in loaded.settings.parts}
    found: dict[str, dict[tuple[int, int], list[tuple[float, float]]]] = {}
    for key, arrays in parts_of(run, parts).items():
        part = parts[key]
        each = 1e6 * float(arrays["seconds"]) / max(int(arrays["evaluations"]), 1)
        cell = found.setdefault(part.function, {}).setdefault((part.dim, part.each), [])
        cell.append((float(arrays["regret"]), each))
    cells = {
        name: {at: Cell(*np.array(rows).T) for at, rows in sorted(found[name].items())}
        for name in loaded.settings.problems
        if name in found
    }
    return RegimesResults(**vars(loaded), cells=cells)


def holes(name: str, grid: Grid) -> list[Hole]:
    """The cells of one function that are worse than their neighbours suggest."""
    value = {at: max(cell.median, SOLVED) for at, cell in grid.items()}
    found: list[Hole] = []
    for (dim, each), own in value.items():
        dims = sorted(d for d, n in value if n == each)
        budgets = sorted(n for d, n in value if d == dim)
        beside = _beside(dims, [value[d, each] for d in dims], dims.index(dim))
        if beside is not None and own > WORSE * beside:
            found.append(Hole(name, dim, each, own, beside, "dimension"))
        k = budgets.index(each)
        if k and own > WORSE * value[dim, budgets[k - 1]]:
            less = value[dim, budgets[k - 1]]
            found.append(Hole(name, dim, each, own, less, "budget"))
    return found


def _beside(at: list[int], values: list[float], k: int) -> float | None:
    """What the neighbours of the k-th value suggest for it; None if there are too few."""
    if len(values) < 3:
        return None
    if 0 < k < len(values) - 1:
        return max(values[k - 1], values[k + 1])
    near, far = (1, 2) if k == 0 else (k - 1, k - 2)
    slope = np.log(values[near] / values[far]) / np.log(at[near] / at[far])
    onward = values[near] * (at[k] / at[near]) ** slope
    return max(values[near], float(onward))
