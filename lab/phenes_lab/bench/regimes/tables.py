"""Results -> tables, for the terminal and for the report."""

from typing import Any

import numpy as np

from phenes_lab.bench.regimes.results import RegimesResults
from phenes_lab.report import number, rich_table

MARK = " !"  # beside the regret of a hole


def regrets(results: RegimesResults, name: str) -> tuple[list[str], list[list[str]]]:
    """Head and rows: median regret by dimension, over budgets."""
    grid = results.cells[name]
    every = sorted({each for _, each in grid})
    marked = {(hole.dim, hole.each) for hole in results.holes if hole.function == name}
    rows = []
    for dim in sorted({dim for dim, _ in grid}):
        said = [
            number(grid[dim, n].median, 2) + MARK * ((dim, n) in marked) if (dim, n) in grid else ""
            for n in every
        ]
        spent = [grid[dim, n].microseconds for n in every if (dim, n) in grid]
        rows.append([str(dim), *said, number(float(np.median(np.concatenate(spent))), 3)])
    return ["d", *(f"{n} d" for n in every), "CPU µs each"], rows


def incomplete(results: RegimesResults) -> str:
    """Cells that have not as many seeds as the settings ask for, as d = 100, 10 d: 2."""
    settings = results.settings
    said = []
    for dim in settings.dims:
        for each in settings.each:
            cells = [grid.get((dim, each)) for grid in results.cells.values()]
            least = min((0 if cell is None else len(cell.regrets) for cell in cells), default=0)
            if least < settings.seeds:
                said.append(f"d = {dim}, {each} d: {least}")
    return "; ".join(said)


def holes(results: RegimesResults) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            h.function,
            str(h.dim),
            f"{h.each} d",
            number(h.regret, 2),
            number(h.suggested, 2),
            h.along,
        ]
        for h in results.holes
    ]
    return ["function", "d", "budget", "regret", "suggested", "by neighbours in"], rows


def table(results: RegimesResults) -> Any:
    """For people, as a `rich` table."""
    lines: list[list[str] | None] = []
    head: list[str] = []
    for name in results.cells:
        head, rows = regrets(results, name)
        lines += [None, *([name, *row] for row in rows)]
    count = len(results.holes)
    return rich_table(
        ["function", *head],
        lines,
        "Median regret over that of the start",
        caption=f"{count} cells more than 3 times worse than their neighbours suggest (!)",
    )
