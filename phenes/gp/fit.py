"""Parameters of a kernel by the marginal likelihood, and the choice among kernels."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, Shape, matern, squared_exponential, with_main_effects
from phenes.gp.likelihood import Likelihood, prior, unpack
from phenes.gp.warp import Warp, warp_for


class Fitted(NamedTuple):
    """Parameters of a kernel, as logarithms, what they cost, and the scale of the values."""

    shape: Shape
    parameters: FloatArray
    cost: float
    warp: Warp | None = None  # the scale of the values; None: as they are

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return unpack(self.shape, self.parameters)[0]

    @property
    def eta(self) -> float:
        """Variance of noise on the values, relative to that of f."""
        return unpack(self.shape, self.parameters)[1]


def shapes(dim: int, exact: bool = True) -> tuple[Shape, ...]:
    """The kernels that are chosen among in d coordinates.

    exact: all coordinates of all rows were measured. A short main effect of one that was not is the
    same as noise on the values, and would be taken for it.
    """
    plain = (squared_exponential(True), matern(False))
    return (*plain, with_main_effects()) if dim > 1 and exact else plain


def standardised(y: FloatArray) -> FloatArray:
    """Values with mean 0 and standard deviation 1."""
    return (y - y.mean()) / (float(y.std()) or 1.0)


def refine(shape: Shape, start: FloatArray, rows: Cloud, y: FloatArray, steps: int) -> Fitted:
    """A local minimum of the cost near `start`, by L-BFGS."""
    cost = Likelihood(shape, rows, standardised(y))
    ranges = list(zip(cost.prior.lower, cost.prior.upper, strict=True))
    first = np.clip(start, cost.prior.lower, cost.prior.upper)
    options = {"maxiter": steps, "maxfun": 2 * steps}
    found = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=ranges, options=options)
    if not np.isfinite(found.fun):
        return Fitted(shape, first, np.inf)
    return Fitted(shape, np.asarray(found.x), float(found.fun))


def choose(rows: Cloud, y: FloatArray, known: Fitted | None, steps: int) -> Fitted:
    """The best of all kernels, each from its prior mean, from short lengths and from `known`.

    Of many values the likelihood has one maximum for each kernel: one start is enough, `known` or
    its lengths. Main effects have several. Where there are more rows than a choice needs, some of
    them choose, and the parameters follow all.
    """
    if y.size > tuning.CHOICE_ROWS:
        some = np.linspace(0, y.size - 1, tuning.CHOICE_ROWS).round().astype(int)
        best = choose(rows.some(some), y[some], known, steps)
        return refine(best.shape, best.parameters, rows, y, tuning.FOLLOW_STEPS)
    dim = rows.points.shape[1]
    starts = [] if known is None else [(known.shape, known.parameters)]
    for shape in shapes(dim, rows.cov is None):
        start = prior(shape, dim).mean
        if known is not None and y.size > tuning.SEVERAL_STARTS and not shape.effects:
            start[:dim] = known.parameters[:dim]
            if shape.name != known.shape.name:
                starts.append((shape, start))
            continue
        short = start.copy()
        short[:dim] += math.log(tuning.SHORT)
        starts += [(shape, start), (shape, short)]
    return min((refine(shape, start, rows, y, steps) for shape, start in starts), key=_odds)


def _odds(found: Fitted) -> float:
    """What a kernel costs, with the prior odds of its shape."""
    return found.cost + tuning.EFFECT_ODDS * found.shape.effects


def choose_scale(rows: Cloud, f: FloatArray, known: Fitted | None, steps: int) -> Fitted:
    """`choose` on the scale of the values that explains them better: as they are, or compressed.

    Densities of h are made densities of f by its slope.
    """
    plain = choose(rows, f, known, steps)
    warp = warp_for(f)
    if warp is None:
        return plain
    h = warp.compress(f)
    found = choose(rows, h, known, steps)
    cost = found.cost + f.size * math.log(h.std()) - float(np.sum(np.log(warp.slope(f))))
    if cost + tuning.PLAIN < plain.cost + f.size * math.log(f.std()):
        return found._replace(warp=warp)
    return plain


def follow(known: Fitted, rows: Cloud, f: FloatArray, steps: int) -> Fitted:
    """Parameters of the same kernel and kind of scale for more rows."""
    warp = None if known.warp is None else warp_for(f)
    y = f if warp is None else warp.compress(f)
    return refine(known.shape, known.parameters, rows, y, steps)._replace(warp=warp)
