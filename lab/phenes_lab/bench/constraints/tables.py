"""Results -> tables, for the terminal and for the report."""

from collections import Counter
from typing import Any

import numpy as np

from phenes_lab.bench.constraints.results import Cell, ConstraintsResults, Where
from phenes_lab.report import number, rich_table

HEAD = [
    "problem",
    "p",
    "evaluations",
    "contender",
    "feasible",
    "regret of these",
    "exact P, least and median",
    "lower bound holds",
    "success (false)",
]


def answers(results: ConstraintsResults) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a cell each."""
    rows = [
        [where.problem, f"{where.p:g}", str(where.budget), where.contender, *_said(cell)]
        for where, cell in results.cells.items()
    ]
    return HEAD, rows


def _said(cell: Cell) -> list[str]:
    n = cell.probability.size
    exact = f"{np.min(cell.probability):.3f}, {np.median(cell.probability):.3f}"
    regret = number(cell.median, 2) if cell.feasible.any() else "-"
    said = [f"{np.sum(cell.feasible)} of {n}", regret, exact]
    if not cell.claims:
        return [*said, "-", "-"]
    return [*said, f"{cell.bound_holds} of {n}", f"{cell.successes} ({cell.false_successes})"]


def incomplete(results: ConstraintsResults) -> str:
    """Cells that have fewer seeds than the settings ask for, as phenes, plane-10, 0.9, 2000: 2."""
    asked = Counter(part[:4] for part in results.settings.parts)
    said = []
    for (problem, p, name, budget), seeds in asked.items():
        cell = results.cells.get(Where(problem, p, budget, name))
        there = 0 if cell is None else cell.probability.size
        if there < seeds:
            said.append(f"{name}, {problem}, {p:g}, {budget}: {there}")
    return "; ".join(said)


def totals(results: ConstraintsResults) -> tuple[list[str], list[list[str]]]:
    """Head and rows: a contender and a budget each, over problems and probabilities."""
    found: dict[tuple[str, int], list[Cell]] = {}
    for where, cell in results.cells.items():
        found.setdefault((where.contender, where.budget), []).append(cell)
    order = {name: k for k, name in enumerate(results.settings.contenders)}
    rows = []
    for (name, budget), cells in sorted(found.items(), key=lambda e: (order[e[0][0]], e[0][1])):
        feasible = sum(int(np.sum(cell.feasible)) for cell in cells)
        runs = sum(cell.probability.size for cell in cells)
        paid = np.concatenate([cell.regret[cell.feasible] for cell in cells])
        regret = number(float(np.median(paid)), 2) if paid.size else "-"
        rows.append([name, str(budget), f"{feasible} of {runs}", regret])
    return ["contender", "evaluations", "feasible", "regret of these"], rows


def table(results: ConstraintsResults) -> Any:
    """For people, as a `rich` table."""
    head, rows = answers(results)
    return rich_table(head, list(rows), "Is the answer feasible, and what does it cost?")
