"""A result in the names and units of a space: its values, and its table."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from phenes.optimizer.answer.result import Result
    from phenes.space import Space


def name_result(result: Result, space: Space) -> Result:
    """The result with points by name wherever it has vectors; history and spread stay arrays."""

    def named(vector: Any) -> Any:
        return space.decode(vector)

    best, candidates = result.best, result.candidates
    if best is not None:
        best = best._replace(theta=named(best.theta), x=named(best.x))
    return replace(
        result,
        x=named(result.x),
        best=best,
        candidates=tuple(each._replace(theta=named(each.theta)) for each in candidates),
        evaluations=result.evaluations.named(space),
        space=space,
    )


def header(space: Space) -> tuple[str, ...]:
    """Names of the columns that the rows of `table` have."""
    noisy = any(space.tolerance(name) for name in space.names)
    return ("parameter", "intended", *(("realised",) if noisy else ()), "range")


def table(space: Space, x: Any) -> list[tuple[str, ...]]:
    """For each parameter its name, value with unit, tolerance and range."""
    noisy = len(header(space)) > len(("parameter", "intended", "range"))
    rows: list[tuple[str, ...]] = []
    for name, each in space.parameters.items():
        tolerance = (space.tolerance(name) or "exactly",) if noisy else ()
        rows.append((name, x.with_unit(name), *tolerance, each.range() + _edge(each, x[name])))
    return rows


def _edge(parameter: Any, value: Any) -> str:
    """Says that a number lies at an end of its range, where the optimum may be beyond."""
    vector = parameter.encode("value", value)
    if vector.size > 1:
        return ""
    # what a search that is cut off by the range leaves of it
    near = 1e-6 * (parameter.upper - parameter.lower)
    if np.any(vector <= parameter.lower + near):
        return " (at its low end)"
    return " (at its high end)" if np.any(vector >= parameter.upper - near) else ""


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of text with columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def html_table(space: Space, x: Any) -> str:
    """The same for notebooks."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header(space))
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in table(space, x)
    )
    return f"<table><tr>{head}</tr>{body}</table>"
