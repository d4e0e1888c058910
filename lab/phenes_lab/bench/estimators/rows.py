"""What is asked for, and what is answered: for people, and for programs.

Numbers are ratios of means over batches, with the standard error that the jackknife gives them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from phenes_lab.report import rich_table, rows_as_json

POPSIZE = 100
BATCHES = 40
BASELINE = "phenotype"


@dataclass(frozen=True)
class EstimatorsSettings:
    """samples: individuals in each cell. full_dim, noise_dim: dimension of the cells with full
    covariance and with other noise laws.
    """

    dims: tuple[int, ...] = (2, 10, 40)
    ratios: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    samples: int = 200_000
    seed: int = 0
    full_dim: int | None = 10
    noise_dim: int | None = 10
    auxiliaries: int = 60

    def __post_init__(self):
        if self.samples < 2 * POPSIZE * BATCHES:
            raise ValueError(
                f"samples must be at least {2 * POPSIZE * BATCHES} (two populations a batch), got"
                f" {self.samples}"
            )
        if any(d < 1 for d in self.dims) or any(c <= 0 for c in self.ratios):
            raise ValueError(f"dims and ratios must be positive, got {self.dims} and {self.ratios}")

    @classmethod
    def quick(cls) -> "EstimatorsSettings":
        return cls(dims=(2,), ratios=(0.1, 1.0), samples=20_000, full_dim=None, noise_dim=None)


@dataclass(frozen=True)
class Ratio:
    """A measured number, its standard error, and what theory says it should be."""

    value: float
    se: float
    theory: float | None = None

    @property
    def agrees(self) -> bool | None:
        """Within 4 standard errors; where theory says that nothing varies, within rounding. None
        without a theory.
        """
        if self.theory is None:
            return None
        return bool(abs(self.value - self.theory) <= 4 * self.se + 1e-9 * abs(self.theory))


@dataclass(frozen=True)
class EstimatorsRow:
    """One estimator in one cell, relative to `phenotype` there.

    score_*: second moments of the score of one individual (not defined for pairs); estimate_*:
    variances of the weighted estimate of a population; *_mean, *_spread: the part of psi. bias_*:
    |E g - E g_phenotype|^2 / |E g_phenotype|^2, itself estimated without bias, so that it may come
    out slightly negative.
    """

    noise: str
    family: str
    dim: int
    ratio: float
    estimator: str
    samples: int
    score_mean: Ratio | None
    score_spread: Ratio | None
    estimate_mean: Ratio
    estimate_spread: Ratio
    bias_mean: Ratio
    bias_spread: Ratio

    @property
    def biased(self) -> bool:
        """By its definition."""
        return self.estimator in ("biased_linear", "biased_imitation")

    @property
    def agrees(self) -> bool | None:
        verdicts = [
            r.agrees
            for r in (self.score_mean, self.score_spread)
            if r is not None and r.agrees is not None
        ]
        return all(verdicts) if verdicts else None


def jackknife(
    statistic: Callable[..., float], *batches: np.ndarray, theory: float | None = None
) -> Ratio:
    """The statistic of all batches, with the standard error from leaving each out in turn."""
    n = len(batches[0])
    without = np.array([statistic(*(np.delete(b, i, axis=0) for b in batches)) for i in range(n)])
    se = np.sqrt((n - 1) * np.mean((without - without.mean()) ** 2))
    return Ratio(float(statistic(*batches)), float(se), theory)


def ratio_of_means(a: np.ndarray, b: np.ndarray) -> float:
    return a.mean() / b.mean()


def relative_bias(g: np.ndarray, reference: np.ndarray) -> float:
    return _squared_mean(g - reference) / _squared_mean(reference)


def _squared_mean(g: np.ndarray) -> float:
    """|E g|^2, without the variance that |mean g|^2 carries."""
    return np.sum(g.mean(axis=0) ** 2) - np.sum(g.var(axis=0, ddof=1)) / len(g)


def table(rows: list[EstimatorsRow]) -> Any:
    """For people, as a `rich` table."""
    lines: list[list[str] | None] = []
    previous = None
    for row in rows:
        cell = (row.noise, row.family, str(row.dim), f"{row.ratio:g}")
        if previous not in (None, cell):
            lines.append(None)
        lines.append(
            [*_texts(row)[:1], *(cell if cell != previous else ("",) * 4), *_texts(row)[1:]]
        )
        previous = cell
    columns = ("estimator", "noise", "search", "d", "C/S", "score, mean", "score, spread")
    more = ("estimate, mean", "estimate, spread", "bias²/|g|², mean and spread", "agrees")
    title = (
        "Variances relative to phenotype (second moment of one score; variance of a weighted"
        " estimate), with standard errors"
    )
    caption = "theory in brackets; agrees: within 4 standard errors of it"
    return rich_table((*columns, *more), lines, title, left=3, caption=caption)


def _texts(row: EstimatorsRow) -> list[str]:
    ratios = (row.score_mean, row.score_spread, row.estimate_mean, row.estimate_spread)
    biases = (row.bias_mean, row.bias_spread)
    # silent where there is nothing to see; the numbers of all estimators are in the JSON
    visible = row.biased or any(b.value > 4 * b.se + 1e-9 for b in biases)
    bias = ", ".join(f"{b.value:.3f} ±{b.se:.1g}" for b in biases) if visible else ""
    verdict = {None: "", True: "yes", False: "NO"}[row.agrees]
    return [row.estimator + (" (biased)" if row.biased else ""), *map(_text, ratios), bias, verdict]


def _text(ratio: Ratio | None) -> str:
    if ratio is None:
        return "-"
    expected = "" if ratio.theory is None else f" [{ratio.theory:.4g}]"
    # rich reads [..] as markup unless the bracket is escaped
    return f"{ratio.value:.4g} ±{ratio.se:.1g}" + expected.replace("[", "\\[")


def as_json(rows: list[EstimatorsRow]) -> dict[str, Any]:
    """`agrees` is computed, null where theory says nothing."""
    checked = [row.agrees for row in rows if row.agrees is not None]
    out = rows_as_json(
        "estimators", rows, baseline=BASELINE, checked=len(checked), agreed=sum(checked)
    )
    for row, plain in zip(rows, out["rows"], strict=True):
        plain |= {"biased": row.biased, "agrees": row.agrees}
    return out
