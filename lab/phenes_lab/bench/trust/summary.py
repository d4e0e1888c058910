"""Rows -> figures: shares of what went right and wrong, and who has less regret."""

import math
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from phenes_lab.bench.trust.contenders import CLAIM
from phenes_lab.bench.trust.scores import TrustRow

FLOOR = 1e-12  # of fun_se / scale: exact claims would have minus infinity for a logarithm
TIE = 1e-6  # of the scale: less regret than that is none
SHARES = ("covered", "no_claim", "worse", "failing", "impossible", "wrong", "over", "success")


def figures(rows: list[TrustRow]) -> dict[str, Any]:
    """Shares in per cent, medians and means, of runs that make claims."""
    claims = [row for row in rows if not row.no_claim]
    return {
        "n": len(rows),
        **{name: 100 * _mean(getattr(row, name) for row in rows) for name in SHARES},
        "raised": sum(bool(row.error) for row in rows),
        "z": _median(abs(row.z) for row in claims),
        "width": _mean(math.log10(max(row.fun_se / row.scale, FLOOR)) for row in claims),
        "seconds": _mean(row.seconds for row in rows),
    }


def groups(rows: list[TrustRow], key: Callable[[TrustRow], Any]) -> dict[Any, list[TrustRow]]:
    """In the order in which they come."""
    out: dict[Any, list[TrustRow]] = {}
    for row in rows:
        out.setdefault(key(row), []).append(row)
    return out


def claimants(rows: list[TrustRow]) -> list[str]:
    return [name for name in CLAIM if any(row.contender == name for row in rows)]


def rivals(rows: list[TrustRow]) -> list[str]:
    return [name for name in groups(rows, lambda row: row.contender) if name not in CLAIM]


def misses(rows: list[TrustRow]) -> list[TrustRow]:
    """Runs of which something was said, or done, that is not so."""
    return [
        r
        for r in rows
        if r.contender in CLAIM
        and (not r.covered or r.worse or r.failing or r.impossible or r.wrong or r.over or r.error)
    ]


def regrets(rows: list[TrustRow]) -> dict[tuple[str, int, str], float]:
    """Median over seeds of regret / scale, by problem, budget and contender.

    Regret is over the best that is known of the instance: by any contender at any budget, or by
    mathematics.
    """
    best = {
        key: _least(of) for key, of in groups(rows, lambda row: (row.problem, row.seed)).items()
    }
    of = groups(rows, lambda row: (row.problem, row.budget, row.contender))
    return {
        key: _median(max(row.value - best[row.problem, row.seed], 0.0) / row.scale for row in each)
        for key, each in of.items()
    }


def at_least_as_good(rows: list[TrustRow], ours: str, rival: str) -> float:
    """Per cent of the pairs of problem and budget with a median regret not above the rival's; NaN
    if they never met.
    """
    regret = regrets(rows)
    met = [
        (value, regret[p, b, rival])
        for (p, b, c), value in regret.items()
        if c == ours and (p, b, rival) in regret
    ]
    return 100 * _mean(a <= b + TIE for a, b in met)


def _least(rows: list[TrustRow]) -> float:
    known = [value for row in rows for value in (row.value, row.reference) if not math.isnan(value)]
    return min(known, default=math.nan)


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else math.nan


def _median(values: Iterable[float]) -> float:
    values = list(values)
    return float(statistics.median(values)) if values else math.nan
