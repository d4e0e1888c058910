"""What the picture of a design is made of: f at the answer, E f around it, and what noise costs.

All of it is from the evaluations of the run; nothing is evaluated.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from phenes._validate import BoolArray, FloatArray
from phenes.evidence import Observations
from phenes.evidence.estimate import balance_weights, estimate
from phenes.evidence.law import gaussian_law
from phenes.evidence.observations import HUGE
from phenes.evidence.tolerances import Tolerances, around, fewest_rows, tolerances
from phenes.gp.opinion import local_belief
from phenes.gp.tuning import BEYOND
from phenes.space import Choice, Log

if TYPE_CHECKING:
    from phenes.optimizer.answer.result import Result

MODELLED = 10  # coordinates up to which a Gaussian process has the curves
SLICES = 6  # curves that are shown
GRID = 25  # points of a curve
REACH = 3.0  # standard deviations of the noise that a curve goes to either side
REACH_OF_WEIGHTS = 1.5  # by weights: at 2 only one draw of 55 would count
OWN_NOISE = 20  # draws at the answer from which the noise there is known by them alone
SIGNIFICANT = 4.0  # standard errors of a correlation or an offset that are not taken for chance
# of the values of the noise relative to x below which it is rounding
ROUNDING = 1e-12

NOT_MEASURED = (
    "x was not measured: the archive does not say\nwhat the noise of each parameter does."
)
NO_NOISE = "There is no noise: x is what was intended."


class Noise(NamedTuple):
    """Moments of x - theta: mean, std (d,) and correlation (d, d)."""

    mean: FloatArray
    std: FloatArray
    correlation: FloatArray


class Rows(NamedTuple):
    """The evaluations as arrays; own: those at the answer, or beside it."""

    answer: FloatArray
    theta: FloatArray
    x: FloatArray
    f: FloatArray
    own: BoolArray
    beside: bool


def draw(result: Result) -> Any:
    """The figure of the design."""
    from phenes.plots.design import Bars, Design, figure  # does not wait for matplotlib

    rows = rows_of(result)
    noise = noise_of(rows, result.noise_cov)
    parts, why_no_parts = _tolerances(rows, noise)
    slices, why_no_slices = _slices(result, rows, noise, parts)
    names = names_of(result)
    bars = None
    if parts is not None:
        noisy = np.flatnonzero(noise.std > 0) if noise is not None else np.empty(0, int)
        bars = Bars(
            tuple(names[k] for k in noisy),
            parts.share,
            parts.cost,
            parts.cost_se,
            parts.explained,
        )
    return figure(
        Design(
            getattr(result, "what", "E f(x)"),
            result.fun,
            result.interval,
            rows.f[rows.own],
            rows.beside,
            _failing(result),
            slices,
            why_no_slices,
            bars,
            why_no_parts,
        )
    )


def _failing(result: Result) -> str:
    each = result.failing
    if not each.draws:
        return ""
    if not each.share:
        return f"none of {each.draws} failed (95 %: at most {each.high:.1%})"
    return f"{each.share:.1%} of {each.draws} failed (95 %: {each.low:.1%} to {each.high:.1%})"


def rows_of(result: Result) -> Rows:
    """The evaluations of a result, as vectors."""
    answer = np.atleast_1d(np.asarray(result.x, np.float64))
    theta = np.asarray(result.evaluations.theta, np.float64).reshape(-1, answer.size)
    x = np.asarray(result.evaluations.x, np.float64).reshape(-1, answer.size)
    f = np.clip(np.asarray(result.evaluations.f, np.float64), -HUGE, HUGE)
    own = np.all(theta == answer, axis=1)
    if own.any() or not result.verified:
        return Rows(answer, theta, x, f, own, False)
    # with few evaluations the answer moves with the last draws: these are beside it
    verify = result.evaluations.phase == "verify"
    if not verify.any():
        return Rows(answer, theta, x, f, own, False)
    away = np.where(verify, np.sum((theta - answer) ** 2, axis=1), np.inf)
    return Rows(answer, theta, x, f, np.all(theta == theta[np.argmin(away)], axis=1), True)


def noise_of(rows: Rows, cov: FloatArray) -> Noise | None:
    """Of cov, declared or learnt, (d,) or (d, d); if it is zero, of what was seen.

    None if x was not measured. Seen at the answer; where draws there are few, anywhere, as if it
    were the same everywhere.
    """
    whole = np.all(np.isfinite(rows.x), axis=1)
    chosen = whole & rows.own if (whole & rows.own).sum() >= OWN_NOISE else whole
    off = (rows.x - rows.theta)[chosen]
    n, d = off.shape
    if n < 2:
        return None
    known = cov.ndim > 0 and len(cov) == d and bool(np.any(cov))
    seen = np.atleast_2d(np.cov(off.T))
    full = seen
    if known:
        full = np.diag(cov) if cov.ndim == 1 else cov
    std = np.sqrt(np.maximum(np.diag(full), 0.0))
    std = np.where(std > ROUNDING * np.abs(rows.x[chosen]).max(axis=0), std, 0.0)
    mean = off.mean(axis=0)
    mean = np.where(np.abs(mean) > SIGNIFICANT * std / np.sqrt(n), mean, 0.0)
    unit = np.where(std > 0, std, np.inf)
    correlation = full / np.outer(unit, unit)
    np.fill_diagonal(correlation, 1.0)
    if not known and np.abs(correlation - np.eye(d)).max() < SIGNIFICANT / np.sqrt(n):
        correlation = np.eye(d)
    return Noise(mean, std, correlation)


def _tolerances(rows: Rows, noise: Noise | None) -> tuple[Tolerances | None, str]:
    """The parts of the noisy coordinates, or why there are none."""
    if noise is None:
        return None, NOT_MEASURED
    noisy = noise.std > 0
    if not noisy.any():
        return None, NO_NOISE
    m = int(noisy.sum())
    able = np.isfinite(rows.f) & np.all(np.isfinite(rows.x), axis=1)
    # another theta where x is exact is another problem
    able &= np.all((rows.theta == rows.answer)[:, ~noisy], axis=1) | rows.own
    z = ((rows.x - rows.answer - noise.mean) / np.where(noisy, noise.std, 1.0))[able][:, noisy]
    chosen = around(z, rows.own[able], float(special.chdtri(m, BEYOND)))
    found = tolerances(z[chosen], rows.f[able][chosen], noise.correlation[np.ix_(noisy, noisy)])
    if found is not None:
        return found, ""
    if chosen.size < fewest_rows(m):
        return None, (
            f"{chosen.size} evaluations near the answer are too few:\n{m} noisy parameters need"
            f" {fewest_rows(m)}."
        )
    return None, "f does not vary with x around the answer."


def _slices(
    result: Result, rows: Rows, noise: Noise | None, parts: Tolerances | None
) -> tuple[tuple[Any, ...], str]:
    """The curves of the parameters that matter most, and why others have none."""
    from phenes.plots.design import Slice

    d = rows.answer.size
    numbers = numbers_of(result)
    if noise is None:
        return (), NOT_MEASURED
    matter = np.zeros(d)
    if parts is not None:
        matter[noise.std > 0] = parts.share
    order = numbers[np.argsort(-matter[numbers], kind="stable")]
    if d > MODELLED:
        order = order[:SLICES]
    curves = _by_process(rows, noise, order) if d <= MODELLED else _by_weights(rows, noise, order)
    names = names_of(result)
    still = [names[k] for k in order if k not in curves]
    order = np.array([k for k in order if k in curves], int)
    if not curves:
        return (), (
            "Too few evaluations around the answer for a model."
            if d <= MODELLED
            else "Without noise in every parameter the archive\nhas no E f beside the answer."
        )
    if parts is None:
        steep = [float(np.ptp(curves[k][1])) for k in order]
        order = order[np.argsort(-np.array(steep), kind="stable")]
    made: list[Any] = []
    for k in order[:SLICES]:
        grid, mean, error = curves[k]
        ends = rows.answer[k] + noise.mean[k] + noise.std[k] * np.array([-1.0, 1.0])
        shown = np.exp if logarithmic(result, k) else np.asarray
        made.append(
            Slice(names[k], shown(grid), mean, error, float(shown(rows.answer[k])), shown(ends))
        )
    note = f"Near the answer there is only one value of: {'; '.join(still)}." if still else ""
    if parts is None and d > MODELLED:
        note = f"The first {len(made)} of {d}: it is not known which matter most. {note}".strip()
    return tuple(made), note


Curves = dict[int, tuple[FloatArray, FloatArray, FloatArray]]


def _by_process(rows: Rows, noise: Noise, order: Any) -> Curves:
    """By a Gaussian process of the rows near the answer."""
    able = np.isfinite(rows.f) & np.all(np.isfinite(rows.x), axis=1)
    cov = _covariance(noise)
    model = local_belief(rows.theta[able], rows.x[able], rows.f[able], rows.answer, noise.mean, cov)
    if model is None:
        return {}
    found: Curves = {}
    for k in order:
        reach = REACH * noise.std[k]
        low, high = model.lower[k], model.upper[k]
        if reach > 0:
            low, high = rows.answer[k] - reach, rows.answer[k] + reach
        if not high > low:  # an exact parameter that has one value in all rows near the answer
            continue
        grid = np.linspace(low, high, GRID)
        found[int(k)] = (grid, *model.at(_line(rows.answer, int(k), grid)))
    return found


def _by_weights(rows: Rows, noise: Noise, order: Any) -> Curves:
    """By importance weights of all rows near each theta."""
    if not np.all(noise.std > 0):
        return {}
    able = np.isfinite(rows.f) & np.all(np.isfinite(rows.x), axis=1)
    seen = Observations(rows.answer.size)
    seen.add(rows.theta[able], rows.x[able], rows.x[able] - noise.mean, rows.f[able])
    cov, price = _covariance(noise), float(rows.f[able].max(initial=-np.inf))
    found: Curves = {}
    for k in order:
        reach = REACH_OF_WEIGHTS * noise.std[k]
        grid = np.linspace(rows.answer[k] - reach, rows.answer[k] + reach, GRID // 2)
        values: list[tuple[float, float]] = []
        for theta in _line(rows.answer, int(k), grid):
            law = gaussian_law(theta, np.zeros(theta.size), cov, scale=noise.std)
            one = estimate(seen, law, price, balance_weights(seen, law), control=False)
            values.append((one.fun, one.se))
        mean, error = np.array(values).T
        found[int(k)] = (grid, mean, np.where(np.isfinite(mean), error, np.nan))
    return found


def _covariance(noise: Noise) -> FloatArray:
    if np.array_equal(noise.correlation, np.eye(noise.std.size)):
        return noise.std**2
    return noise.correlation * np.outer(noise.std, noise.std)


def _line(answer: FloatArray, k: int, grid: FloatArray) -> FloatArray:
    line = np.tile(answer, (grid.size, 1))
    line[:, k] = grid
    return line


def names_of(result: Result) -> tuple[str, ...]:
    """Of the coordinates, with units; those of a logarithm are shown as what they are of."""
    if result.space is None:
        return tuple(f"coordinate {k}" for k in range(np.size(result.x)))
    names: list[str] = []
    for name, each in result.space.parameters.items():
        if isinstance(each, Choice):
            names += [f"{name} is {option}" for option in each.options]
        else:
            unit = getattr(each, "unit", "")
            names.append(f"{name}, {unit}" if unit else name)
    return tuple(names)


def _kinds(result: Result) -> list[Any]:
    """The parameter of each coordinate, in a space."""
    assert result.space is not None
    return [each for each in result.space.parameters.values() for _ in range(each.size)]


def numbers_of(result: Result) -> Any:
    """Coordinates along which there is something between their values."""
    if result.space is None:
        return np.arange(np.size(result.x))
    kinds = _kinds(result)
    return np.array([k for k, each in enumerate(kinds) if not isinstance(each, Choice)], int)


def logarithmic(result: Result, k: int) -> bool:
    """Whether coordinate k is the logarithm of what users see."""
    return result.space is not None and isinstance(_kinds(result)[k], Log)
