"""The picture of a model: E f along each parameter through the answer, and where the next go."""

import math
import textwrap
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from phenes.plots import COLOURS, INK, STYLE
from phenes.plots.notebook import Picture

PANELS = 10  # parameters that are shown
COLUMNS = 5
WIDTH, HEIGHT = 3.1, 2.9  # inches of a panel
LEAST_WIDTH = 8.0  # inches that headline and legend need
BOLD = 8  # letters of the headline to an inch
ENTRY = 3.0  # inches of an entry of the legend
GRID = 101  # points of a curve
MARGIN = 0.06  # share of the range on either side of it
USUAL = (0.02, 0.98)  # quantiles of the values that are always shown
BEYOND = 0.25  # share of that range by which outliers and the model may widen it
BOTTOM = 0.16  # share of the range that is left for marks below the values
# Evaluations fade with their distance from the line through the answer: by so many ranges of the
# other parameters to a standard deviation, between these opacities.
FADE, FAINT, DARK = 0.15, 0.12, 0.85
FAILED, UNDER_WAY = 0.09, 0.03  # height of these marks, as share of the panel
ROOM = 0.5  # beside the first and the last of whole numbers or options
LETTERS = 16  # of an option, and of all that are written side by side
LEAST_MARK, MOST_MARK = 3.0, 6.0  # points of the model's values of whole numbers and options
TICKS = 4  # along a parameter: numbers such as 500000 have room


class Slices(NamedTuple):
    """What is drawn; values as the user knows them.

    Attributes
    ----------
    headline, note : str
        What stands above; the note is smaller, and may be empty.
    names : tuple of str
        Of the parameters.
    value : str
        Of f.
    grid, mean, error : array [d, m]
        E f along each parameter and its standard error, NaN if there is no model. Of whole numbers
        and options NaN after the last of them.
    points, f : array [n, d], [n]
        Evaluations where they were realised; NaN where they failed.
    pending : array [k, d]
        Theta that are under way.
    answer, fun, fun_se : array [d], float, float
        What is recommended now.
    noise : array [d]
        Standard deviation of x - theta.
    logarithmic : frozenset of int
        Parameters that are logarithms: they are drawn as what they are logarithms of.
    whole : frozenset of int
        Parameters that are whole numbers.
    options : mapping of int to tuple of str
        Parameters that are one of these, by its number.
    """

    headline: str
    note: str
    names: tuple[str, ...]
    value: str
    grid: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    points: np.ndarray
    f: np.ndarray
    pending: np.ndarray
    answer: np.ndarray
    fun: float
    fun_se: float
    noise: np.ndarray
    logarithmic: frozenset[int] = frozenset()
    whole: frozenset[int] = frozenset()
    options: Mapping[int, tuple[str, ...]] = MappingProxyType({})

    def turned(self, k: int, at: np.ndarray) -> np.ndarray:
        """Values of coordinate k as they are drawn."""
        return np.exp(at) if k in self.logarithmic else at


def grids(rows: np.ndarray, lower: np.ndarray, upper: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Where curves are drawn.

    Parameters
    ----------
    rows : array [n, d]
        Points that the curves are to reach.
    lower, upper : array [d]
        Bounds that they do not leave.
    least : array [d]
        The least half of a range.

    Returns
    -------
    array [d, m]
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, least)
    half *= 1 + 2 * MARGIN
    ends = np.maximum(middle - half, lower), np.minimum(middle + half, upper)
    return np.linspace(*ends, GRID, axis=1)


def figure(slices: Slices) -> Figure:
    """A panel for each parameter, up to ten.

    Parameters
    ----------
    slices : Slices
        The data.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it.
    """
    shown = min(len(slices.names), PANELS)
    rows = -(-shown // COLUMNS)
    columns = -(-shown // rows)
    with matplotlib.rc_context(STYLE):
        width, limits = max(columns * WIDTH, LEAST_WIDTH), _limits(slices)
        note = textwrap.fill(_note(slices, limits), int(14 * width))
        headline = textwrap.fill(slices.headline, int(BOLD * width))
        lines = len(note.splitlines()) + len(headline.splitlines()) - 1
        height = rows * HEIGHT + 1.2 + 0.2 * lines
        out = Picture(figsize=(width, height), layout="constrained")
        out.suptitle(headline, x=0.01, ha="left", fontweight="bold")
        panels = out.add_subfigure(out.add_gridspec()[0])
        if note:
            panels.suptitle(note, x=0.01, ha="left", fontsize=10)
        axes = panels.subplots(rows, columns, sharey=True, squeeze=False)
        for k, ax in enumerate(axes.flat):
            if k >= shown:
                ax.set_visible(False)
                continue
            _panel(ax, slices, k)
            if limits is None:
                ax.set_yticks([])
            else:
                ax.set_ylim(*limits)
            if k % columns == 0:
                ax.set_ylabel(slices.value)
        found = dict(_legend(axes.flat))
        panels.legend(
            found.values(),
            found.keys(),
            loc="outside lower left",
            fontsize=9,
            ncols=int(width / ENTRY),
            handlelength=1.5,
            columnspacing=1.2,
        )
    return out


def _legend(axes: Iterator[Axes]) -> Iterator[tuple[str, Artist]]:
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            yield label, handle


def _limits(slices: Slices) -> tuple[float, float] | None:
    """Of the values: the curves and the claim, or the evaluations where there are no curves.

    None if nothing is known. Where a model knows nothing it may reach far beyond what was seen:
    little of that is shown.
    """
    worked = slices.f[np.isfinite(slices.f)]
    half = 2 * slices.fun_se if math.isfinite(slices.fun_se) else 0.0
    claim = np.array([slices.fun - half, slices.fun + half])
    usual = np.quantile(worked, USUAL) if worked.size else np.empty(0)
    solid = np.concatenate([claim[np.isfinite(claim)], usual])
    if not solid.size:
        return None
    curves = slices.mean[np.isfinite(slices.mean)]
    if curves.size:
        most = BEYOND * np.ptp(solid)
        curves = np.clip(curves, solid.min() - most, solid.max() + most)
        solid = np.concatenate([claim[np.isfinite(claim)], curves])
    low, high = float(solid.min()), float(solid.max())
    room = (high - low) or abs(high) or 1.0
    # marks of what is under way stand at the bottom
    return low - BOTTOM * room, high + MARGIN * room


def _note(slices: Slices, limits: tuple[float, float] | None) -> str:
    """The note, and how many evaluations are not to be seen."""
    if limits is None:
        return slices.note
    out = int(np.sum((slices.f < limits[0]) | (slices.f > limits[1])))
    if not out:
        return slices.note
    return f"{slices.note} {out} of {slices.f.size} evaluations have values beyond these.".strip()


def _panel(ax: Axes, slices: Slices, k: int) -> None:
    _evaluations(ax, slices, k)
    if np.isfinite(slices.mean[k]).any():
        draw = _values if k in slices.whole or k in slices.options else _curve
        draw(ax, slices.turned(k, slices.grid[k]), slices.mean[k], slices.error[k])
    if len(slices.pending):
        ax.plot(
            slices.turned(k, slices.pending[:, k]),
            np.full(len(slices.pending), UNDER_WAY),
            "^",
            transform=ax.get_xaxis_transform(),
            color=COLOURS["accent"],
            markersize=6,
            clip_on=False,
            markeredgecolor="white",
            markeredgewidth=0.5,
            label=f"under way, {len(slices.pending)}",
        )
    _answer(ax, slices, k)
    _along(ax, slices, k)


def _along(ax: Axes, slices: Slices, k: int) -> None:
    """The axis of the parameter."""
    grid = slices.turned(k, slices.grid[k][np.isfinite(slices.grid[k])])
    ax.set_xlabel(slices.names[k])
    if k in slices.options:
        words = [textwrap.shorten(word, LETTERS, placeholder="…") for word in slices.options[k]]
        turned = sum(map(len, words)) > LETTERS
        ax.set_xticks(range(len(words)), words, rotation=30 if turned else 0, ha=_side(turned))
        ax.set_xlim(-ROOM, len(words) - 1 + ROOM)
        return
    room = ROOM if k in slices.whole else 0.0
    ax.set_xlim(grid[0] - room, grid[-1] + room)
    if k in slices.logarithmic:
        ax.set_xscale("log")
    else:
        ax.locator_params(axis="x", nbins=TICKS, **({"integer": True} if room else {}))


def _side(turned: bool) -> Literal["right", "center"]:
    """The part of a word that stands below its tick."""
    return "right" if turned else "center"


def _curve(ax: Axes, grid: np.ndarray, mean: np.ndarray, error: np.ndarray) -> None:
    """E f by the model along a real number."""
    blue = COLOURS["main"]
    band = {"color": blue, "alpha": 0.25, "linewidth": 0, "label": "two standard errors"}
    ax.fill_between(grid, mean - 2 * error, mean + 2 * error, **band)
    ax.plot(grid, mean, color=blue, linewidth=2, label="E f by the model, through the answer")


def _values(ax: Axes, grid: np.ndarray, mean: np.ndarray, error: np.ndarray) -> None:
    """The same of values between which there is nothing."""
    size = max(MOST_MARK - np.isfinite(grid).sum() / 10, LEAST_MARK)
    look = {"color": COLOURS["main"], "markersize": size, "elinewidth": 1.5, "alpha": 0.8}
    label = "E f at each value, two standard errors"
    ax.errorbar(grid, mean, yerr=2 * error, fmt="D", label=label, **look)


def _evaluations(ax: Axes, slices: Slices, k: int) -> None:
    """Single evaluations, the darker the nearer they are to the line that is drawn."""
    ranges = np.nanmax(slices.grid, axis=1) - np.nanmin(slices.grid, axis=1)
    away = slices.points - slices.answer
    for other in slices.options:  # one option is as far from another as the ends of a range
        away[:, other] = np.sign(away[:, other]) * ranges[other]
    away = away / (FADE * np.where(ranges > 0, ranges, 1.0))
    others = np.delete(away, k, axis=1)
    near = np.exp(-0.5 * np.mean(others**2, axis=1)) if others.size else np.ones(len(away))
    worked = np.isfinite(slices.f)
    colours = np.tile(to_rgba(INK), (len(near), 1))
    colours[:, 3] = FAINT + (DARK - FAINT) * near
    label = "one evaluation f(x), darker near the line"
    ax.scatter(
        slices.turned(k, slices.points[worked, k]),
        slices.f[worked],
        s=14,
        c=colours[worked],
        linewidths=0,
        label=label if worked.any() else None,
    )
    if not worked.all():
        ax.scatter(
            slices.turned(k, slices.points[~worked, k]),
            np.full(int(np.sum(~worked)), FAILED),
            s=22,
            marker="x",
            c=colours[~worked],
            transform=ax.get_xaxis_transform(),
            label="no value",
        )


def _answer(ax: Axes, slices: Slices, k: int) -> None:
    if not np.isfinite(slices.fun):
        ax.axvline(
            slices.turned(k, slices.answer)[k], color=INK, linewidth=1, label="recommended now"
        )
        return
    scatter = "" if slices.noise[k] == 0 else "; across: 95 % of x there"
    ends = slices.answer[k] + 2 * slices.noise[k] * np.array([-1.0, 0.0, 1.0])
    low, at, high = slices.turned(k, ends)
    ax.errorbar(
        [at],
        [slices.fun],
        xerr=[[at - low], [high - at]] if high > low else None,
        yerr=2 * slices.fun_se if math.isfinite(slices.fun_se) and slices.fun_se > 0 else None,
        fmt="o",
        color=INK,
        markersize=6,
        capsize=3,
        zorder=5,
        label=f"recommended now{scatter}",
    )
