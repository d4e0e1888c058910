"""Control variates: models of f whose expectation under the law of x is known.

A row at theta says of E f what the model expects, corrected by what the model misses at the row.
The model is always that of all other rows, so that no row is explained by itself.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from phenes._validate import BoolArray, FloatArray, IntArray
from phenes.adaptive.model.features import design
from phenes.evidence.law import Law
from phenes.gp.draws import gaussian_offsets
from phenes.risk import Reference, Risk

RIDGE = 1e-10
EXPLORED = 512  # draws of a law that is no Gaussian, over which a surrogate is averaged
QUASI = 1024  # draws of any law over which a risk of it is averaged, if Gaussian quasi-random ones


# A quadratic of f as a function of rows x (n, d), made before the draws that it is to explain.
LocalModel = Callable[[FloatArray], FloatArray]


class LeftOut(Protocol):
    """What rows say of E f: `phenes.gp.surrogate.LeftOut`."""

    @property
    def values(self) -> FloatArray:
        """E f by the model without the row, plus what it misses there, (n,)."""
        ...

    @property
    def rest(self) -> FloatArray:
        """What the model without the row misses there, (n,)."""
        ...

    @property
    def error(self) -> float:
        """Standard error of the model of all rows."""
        ...

    @property
    def alone(self) -> FloatArray:
        """Standard error of each value by the model, (n,)."""
        ...

    @property
    def elsewhere(self) -> FloatArray:
        """What the model expects at other points, (m,)."""
        ...

    @property
    def scatter(self) -> float:
        """Standard deviation of the model over the law of x, if its draws were given."""
        ...


class Surrogate(Protocol):
    """A model of f with parameters that a search has fitted: `phenes.gp.surrogate.Surrogate`."""

    @property
    def name(self) -> str:
        """What it is, in a word."""
        ...

    @property
    def most_rows(self) -> int:
        """Rows, beside those that have a weight, by which it explains."""
        ...

    def leave_one_out(
        self,
        points: FloatArray,
        f: FloatArray,
        theta: FloatArray,
        cov: FloatArray,
        draws: FloatArray,
        exact: bool,
        others: FloatArray,
    ) -> LeftOut:
        """What rows (n, d) with values (n,) say of E f under a law of mean theta."""
        ...

    def of_risk(
        self,
        points: FloatArray,
        f: FloatArray,
        draws: FloatArray,
        risk: Risk,
        others: FloatArray,
    ) -> tuple[LeftOut, Reference]:
        """The same of a risk of f under a law of these draws (s, d), with its linearisation."""
        ...


@dataclass(frozen=True)
class Control:
    """A model as a control variate.

    values [n]: for each row, the estimate of E f that it gives with the model fitted to all others.
    """

    name: str
    values: FloatArray
    rest: FloatArray  # leave-one-out residuals
    spare: int  # degrees of freedom: rows less features
    error: float  # standard error of the model's expectation, beside that of the draws
    alone: FloatArray | None = None  # standard error of single values, if the model knows it


def process(
    surrogate: Surrogate,
    law: Law,
    points: FloatArray,
    f: FloatArray,
    rows: IntArray,
) -> Control:
    """The model of a search, on `rows` (indices) of points [n, d] and f [n].

    The other rows, which have failed or hardly any weight, say of E f what they are; what the model
    misses there is a surprise like any other.

    Its own standard error is part of that of the estimate: residuals at neighbouring draws have the
    error of the model in common, so that their scatter does not show it.
    """
    sure = law.exact and not np.isfinite(law.rests_on)
    draws = law.x(law.draws[:: max(len(law.draws) // EXPLORED, 1)])[: 0 if sure else None]
    others = np.ones(f.size, bool)
    others[rows] = False
    left = surrogate.leave_one_out(
        points[rows], f[rows], law.centre, law.cov, draws, law.exact, points[others]
    )
    values, rest = f.copy(), np.empty(f.size)
    values[rows], rest[rows] = left.values, left.rest
    rest[others] = f[others] - left.elsewhere
    rests_on = law.rests_on if law.exact else len(draws)
    error = math.hypot(left.error, left.scatter / math.sqrt(max(rests_on, 2.0)))
    alone = np.full(f.size, np.inf)
    alone[rows] = left.alone
    return Control(surrogate.name, values, rest, rows.size, error, alone)


def process_of_risk(
    surrogate: Surrogate,
    law: Law,
    points: FloatArray,
    f: FloatArray,
    rows: IntArray,
    risk: Risk,
) -> tuple[Control, Reference]:
    """`process` for a risk: what rows say of E g(f), with g its linearisation by the model."""
    draws = law.x(law.draws[:: max(len(law.draws) // QUASI, 1)])
    if law.exact:
        cov = law.cov if law.noisy.any() else None
        draws = gaussian_offsets(cov, law.centre, QUASI)
    others = np.ones(f.size, bool)
    others[rows] = False
    left, reference = surrogate.of_risk(points[rows], f[rows], draws, risk, points[others])
    g = reference.values
    values, rest = g(f), np.empty(f.size)
    values[rows], rest[rows] = left.values, left.rest
    rest[others] = g(f[others]) - g(left.elsewhere)
    # what averaging over the draws leaves open; of quasi-random ones, this is more than they do
    rests_on = min(law.rests_on, len(draws))
    error = math.hypot(left.error, left.scatter / math.sqrt(max(rests_on, 2.0)))
    alone = np.full(f.size, np.inf)
    alone[rows] = left.alone
    return Control(surrogate.name, values, rest, rows.size, error, alone), reference


def quadratic(
    law: Law,
    z: FloatArray,
    values: FloatArray,
    rows: BoolArray,
    failed: BoolArray,
    price: float,
    crossed: bool,
) -> Control | None:
    """A quadratic by least squares, with leave-one-out residuals in closed form.

    Without row i beta is beta - G a_i r_i, with r_i = e_i / (1 - h_i) and G the inverse Gram
    matrix.
    """
    a_all = design(z, crossed)
    a, f = a_all[rows], values[rows]
    level, scale = float(f.mean()), float(f.std())
    if not (np.isfinite(scale) and scale > 0):
        return None
    gram = a.T @ a
    gram[np.diag_indices(len(gram))] += RIDGE * len(a)
    try:
        factor = cho_factor(gram, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    beta = cho_solve(factor, a.T @ ((f - level) / scale), check_finite=False)
    half = solve_triangular(factor[0], a.T, lower=True, check_finite=False)  # half' half = a G a'
    leverage = np.minimum(np.einsum("ij,ij->j", half, half), 1 - 1e-6)
    rest = (values - level) / scale - a_all @ beta
    rest[rows] = rest[rows] / (1 - leverage)
    expected, doubt = _expectation(law, beta, crossed)
    found = float(expected @ beta) + rest
    found[rows] -= (a @ cho_solve(factor, expected, check_finite=False)) * rest[rows]
    found[failed] = (price - level) / scale
    return Control(
        "quadratic" if crossed else "axes",
        level + scale * found,
        scale * rest,
        len(a) - len(beta),
        scale * doubt,
    )


def of_the_search(
    model: LocalModel, law: Law, points: FloatArray, values: FloatArray, failed: BoolArray
) -> Control:
    """A quadratic that was made without the draws: no row of them is explained by itself.

    values: with failures at their price, which no model explains.
    """
    expected, doubt = _mean_of(model, law)
    rest = values - model(points)
    return Control("search", np.where(failed, values, expected + rest), rest, values.size, doubt)


def _mean_of(model: LocalModel, law: Law) -> tuple[float, float]:
    """Expectation of a quadratic under the law, and its standard error where that rests on draws.

    E m is m(centre) and half the sum of m(centre + axis) + m(centre - axis) - 2 m(centre), axis by
    axis.
    """
    sure = law.exact and not np.isfinite(law.rests_on)
    values = np.empty(0) if sure else model(law.x(law.draws))
    scatter = float(np.std(values)) if values.size else 0.0
    if not law.exact:
        return float(values.mean()), scatter / math.sqrt(values.size)
    axes = np.eye(law.theta.size)[law.noisy]
    here = float(model(law.centre[None])[0])
    around = model(law.x(np.concatenate([axes, -axes])))
    doubt = 0.0 if sure else scatter / math.sqrt(max(law.rests_on, 2.0))
    return here + 0.5 * float(np.sum(around - here)), doubt


def _expectation(law: Law, beta: FloatArray, crossed: bool) -> tuple[FloatArray, float]:
    """Expected features under the law, and the standard error of the model's expectation.

    The error is that of the law, where it is known by draws only.
    """
    if not law.exact:
        features = design(law.draws, crossed)
        return features.mean(axis=0), float(np.std(features @ beta)) / math.sqrt(len(features))
    dim = law.theta.size
    expected = np.zeros(beta.size)
    expected[0] = 1.0
    expected[dim + 1 : 2 * dim + 1] = (law.noisy - 1.0) / math.sqrt(2)
    if not np.isfinite(law.rests_on):
        return expected, 0.0
    return expected, float(np.std(design(law.draws, crossed) @ beta)) / math.sqrt(
        max(law.rests_on, 2.0)
    )
