"""The picture of a robust design: how f scatters at the answer, E f around it, what noise costs."""

import textwrap
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from phenes.plots import COLOURS, INK, STYLE
from phenes.plots.notebook import Picture

BARS = 10  # parameters that have a bar; the others share one
ABREAST = 3  # curves beside each other
LEAST_BINS, MOST_BINS = 8, 40
USUAL = (0.005, 0.995)  # quantiles between which values are always shown
BEYOND = 1.0  # times their distance: what lies further out is counted in words
HALF = 0.5  # share of the variance that a quadratic explains, below which that is said in a warning
WIDE = 120  # characters of a line across the picture
LETTERS = 24  # characters of a name beside a bar
ROUNDING = 1e-12  # values that differ by less, relative to them, are equal
SMALL = 9  # font size of notes, in points
# quartiles, and times their distance, between which a curve is always shown (Tukey's outer fences);
# what lies further out is cut off where it would squeeze the rest to less than this share
QUARTILES, FENCE, SQUEEZED = (0.25, 0.75), 3.0, 0.1
TICKS = 5  # of an axis of numbers with many digits


class Slice(NamedTuple):
    """E f along a parameter: grid, mean, error [n], where the answer is, and its tolerance."""

    name: str
    grid: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    answer: float
    tolerance: np.ndarray  # [2], a standard deviation to either side


class Bars(NamedTuple):
    """What the noise of each parameter does; see `phenes.evidence.tolerances.Tolerances`."""

    names: tuple[str, ...]
    share: np.ndarray
    cost: np.ndarray
    cost_se: np.ndarray
    explained: float


class Design(NamedTuple):
    """What is drawn.

    what: name of `value`, which has a 95 % interval. f: values at the answer, NaN where there was
    none; or beside it. failing: in words. slices and bars: and why some or all have none.
    """

    what: str
    value: float
    interval: tuple[float, float]
    f: np.ndarray
    beside: bool
    failing: str
    slices: tuple[Slice, ...]
    no_slices: str
    bars: Bars | None
    no_bars: str


def figure(design: Design) -> Figure:
    """How f scatters at the answer, what the noise costs, and E f along the parameters.

    Parameters
    ----------
    design : Design
        The data.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it.
    """
    rows = max(-(-len(design.slices) // ABREAST), 1)
    bars = 0 if design.bars is None else min(len(design.bars.names), BARS + 1)
    first = 3.4 + 0.22 * max(bars - 6, 0)
    if design.bars is None and _one_value(design.f):
        first = 1.4  # words only
    heights = [first, (2.7 if design.slices else 1.6) * rows + 0.8]
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(12, sum(heights) + 0.4), layout="constrained")
        out.suptitle(_headline(design), x=0.01, ha="left", fontweight="bold")
        upper, lower = np.ravel(np.asarray(out.subfigures(2, 1, height_ratios=heights)))
        left, share, cost = upper.subplots(1, 3, width_ratios=[1.5, 1, 1])
        _histogram(left, design)
        _bars(share, cost, design)
        _curves(lower, design, rows)
    return out


def _headline(design: Design) -> str:
    if not np.isfinite(design.value):
        return f"The design: {design.what} is not known"
    low, high = design.interval
    known = f", 95 %: {low:.4g} to {high:.4g}" if np.isfinite([low, high]).all() else ""
    return f"The design: {design.what} = {design.value + 0.0:.5g}{known}"


def _say(ax: Axes, words: str) -> None:
    """Words where a picture would be."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.text(0, 0.9, words, va="top", fontsize=10, transform=ax.transAxes)


def _one_value(f: np.ndarray) -> bool:
    """Whether no two values differ, or there are none."""
    f = f[np.isfinite(f)]
    return not f.size or bool(np.ptp(f) <= ROUNDING * np.abs(f).max())


def _histogram(ax: Axes, design: Design) -> None:
    f = design.f[np.isfinite(design.f)]
    where = "beside the answer" if design.beside else "at the answer"
    ax.set_title(f"f in {f.size} evaluations {where}")
    if not f.size:
        _say(ax, "\n".join(["No evaluation there has a value.", design.failing]))
        return
    low, high = np.quantile(f, USUAL)
    low, high = low - BEYOND * (high - low), high + BEYOND * (high - low)
    seen = f[(f >= low) & (f <= high)]
    bins = int(np.clip(2 * np.sqrt(f.size), LEAST_BINS, MOST_BINS))
    if _one_value(f):
        _say(ax, "\n".join([f"All have the value {f[0]:.6g}.", design.failing]))
        return
    ax.hist(seen, bins=bins, color=COLOURS["main"], alpha=0.6)
    notes = [design.failing, *_claim(ax, design)]
    beyond = f.size - seen.size
    lie = "value lies" if beyond == 1 else "values lie"
    notes.append(f"{beyond} {lie} beyond this range" if beyond else "")
    ax.set_xlabel("\n".join(["f", *(note for note in notes if note)]))
    ax.set_ylabel("evaluations")
    ax.locator_params(axis="x", nbins=TICKS)


def _claim(ax: Axes, design: Design) -> list[str]:
    """The value and its interval, as far as that leaves the histogram to be seen; in words."""
    if not np.isfinite(design.value):
        return []
    low, high = ax.get_xlim()
    ends = min(low, design.value), max(high, design.value)
    ax.axvline(design.value, color=COLOURS["accent"])
    ax.set_xlim(*ends)
    words = f"line: {design.what}, with its 95 % interval"
    if not np.isfinite(design.interval).all():
        return [f"line: {design.what}"]
    room = BEYOND * (high - low)
    sides = np.clip(design.interval, ends[0] - room, ends[1] + room)
    ax.axvspan(*sides, color=COLOURS["accent"], alpha=0.3, linewidth=0)
    ax.set_xlim(min(ends[0], sides[0]), max(ends[1], sides[1]))
    return [words if np.allclose(sides, design.interval) else f"{words}, which reaches further"]


def _bars(share: Axes, cost: Axes, design: Design) -> None:
    share.set_title("whose noise scatters f")
    cost.set_title("and moves its mean")
    found = design.bars
    if found is None:
        _say(share, design.no_bars)
        cost.set_title("")
        _say(cost, "")
        return
    order = np.argsort(-found.share, kind="stable")
    shown, rest = order[:BARS], order[BARS:]
    names = [textwrap.shorten(found.names[k], LETTERS, placeholder="…") for k in shown]
    parts = [*found.share[shown]]
    costs, errors = [*found.cost[shown]], [*found.cost_se[shown]]
    if rest.size:
        names.append(f"{rest.size} others")
        parts.append(found.share[rest].sum())
        costs.append(found.cost[rest].sum())
        errors.append(np.sqrt(np.sum(found.cost_se[rest] ** 2)))
    at = np.arange(len(names))
    drawn = share.barh(at, 100 * np.array(parts), color=COLOURS["main"], alpha=0.7)
    share.bar_label(drawn, [f"{part:.0%}" for part in parts], padding=3, fontsize=SMALL)
    share.set(yticks=at, yticklabels=names, xlim=(0, 118 * max(parts)))
    share.set_xlabel(f"share of Var f, %\n{_trust(found)}")
    cost.barh(at, costs, xerr=2 * np.array(errors), color=COLOURS["accent"], alpha=0.7, capsize=3)
    cost.axvline(0, color=INK, linewidth=0.8)
    cost.set(yticks=at, yticklabels=[])
    cost.set_xlabel("E f − f without noise,\nwith two standard errors")
    cost.locator_params(axis="x", nbins=5)
    for ax in (share, cost):
        ax.set_ylim(len(names) - 0.4, -0.6)


def _trust(found: Bars) -> str:
    if found.explained < HALF:
        return f"rough: the model explains {max(found.explained, 0.0):.0%} of it"
    return f"the model explains {found.explained:.0%} of it"


def _curves(lower: SubFigure, design: Design, rows: int) -> None:
    if not design.slices:
        ax = lower.subplots()
        ax.set_title("E f along each parameter")
        _say(ax, design.no_slices)
        return
    title = "E f along each parameter through the answer, others as they are"
    shown, cut = _shown(design)
    note = textwrap.fill(" ".join(part for part in (design.no_slices, cut) if part), WIDE)
    lower.suptitle("\n".join(part for part in (title, note) if part), x=0.01, ha="left")
    columns = min(len(design.slices), ABREAST)
    axes = lower.subplots(rows, columns, sharey=True, squeeze=False)
    for k, ax in enumerate(axes.flat):
        if k >= len(design.slices):
            ax.set_visible(False)
            continue
        _curve(ax, design.slices[k])
        if shown is not None:
            ax.set_ylim(*shown)
        if k % columns == 0:
            ax.set_ylabel("E f")
    found = {}
    for ax in axes.flat:
        handles, labels = ax.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    lower.legend(found.values(), found.keys(), loc="outside lower left", fontsize=SMALL, ncols=4)


def _shown(design: Design) -> tuple[tuple[float, float] | None, str]:
    """Limits of the shared axis, None if all curves fit one; and which do not, in words.

    A design far from the answer may be worse by powers of ten: that part leaves the axis, so that
    the rest can be read. So does what is beyond the tolerances: of a parameter without noise the
    whole range is drawn.
    """
    curves = [each.mean[np.isfinite(each.mean)] for each in design.slices]
    noisy = [each.tolerance[1] > each.tolerance[0] for each in design.slices]
    kept = [
        curve[_within(curve)]
        for curve, own in zip(curves, noisy, strict=True)
        if own or not any(noisy)
    ]
    seen = np.concatenate([*kept, [design.value]] if np.isfinite(design.value) else kept)
    f = design.f[np.isfinite(design.f)]
    if not seen.size:
        return None, ""
    room = max(float(np.ptp(seen)), float(np.ptp(f)) if f.size else 0.0)
    low, high = float(seen.min()) - room / 2, float(seen.max()) + room / 2
    every = np.concatenate(curves)
    if not 0 < room < SQUEEZED * float(np.ptp(every)):
        return None, ""
    beyond = [
        f"{each.name}, to {curve[np.argmax(np.abs(curve - design.value))]:.3g}"
        for each, curve in zip(design.slices, curves, strict=True)
        if curve.size and (curve.min() < low or curve.max() > high)
    ]
    return (low, high), f"Beyond the axis: E f along {'; along '.join(beyond)}."


def _within(curve: np.ndarray) -> np.ndarray:
    """Which values of a curve are not far out."""
    if not curve.size:
        return np.zeros(0, bool)
    low, high = np.quantile(curve, QUARTILES)
    far = FENCE * (high - low)
    return (curve >= low - far) & (curve <= high + far)


def _curve(ax: Axes, each: Slice) -> None:
    low, high = each.tolerance
    if high > low:
        ax.axvspan(
            low, high, color="#DDDDDD", linewidth=0, label="tolerance: a standard deviation of x"
        )
    known = np.isfinite(each.mean)
    grid, mean, error = each.grid[known], each.mean[known], each.error[known]
    ax.fill_between(
        grid,
        mean - 2 * error,
        mean + 2 * error,
        color=COLOURS["main"],
        alpha=0.25,
        linewidth=0,
        label="two standard errors",
    )
    ax.plot(grid, mean, color=COLOURS["main"], linewidth=2, label="E f, by the evaluations made")
    ax.axvline(each.answer, color=INK, linestyle="--", linewidth=1, label="the answer")
    ax.set_xlabel(each.name)
    ax.locator_params(axis="x", nbins=4)
