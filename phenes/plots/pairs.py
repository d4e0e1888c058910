"""The picture of pairs of parameters: what was realised, what failed, and where failing begins."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from phenes.plots import COLOURS, INK, STYLE
from phenes.plots.notebook import Picture

ABREAST = 3  # panels beside each other
TOLERANCE = 2.0  # standard deviations that the ellipse of the tolerance reaches
SMALL = 9  # font size of notes, in points
LETTERS = 12  # of a headline to an inch


class Pair(NamedTuple):
    """Two parameters.

    names with units, and which are logarithms. x (n, 2): realised; failed and violated (n,). answer
    and std of the noise (2,). across, up, worst: a grid, and what is positive where it fails.
    """

    names: tuple[str, str]
    logarithmic: tuple[bool, bool]
    x: np.ndarray
    failed: np.ndarray
    violated: np.ndarray
    answer: np.ndarray
    std: np.ndarray
    across: np.ndarray
    up: np.ndarray
    worst: np.ndarray


class Pairs(NamedTuple):
    """What is drawn; or why there is nothing to draw."""

    pairs: tuple[Pair, ...]
    why_not: str
    headline: str


def figure(drawn: Pairs) -> Figure:
    """A panel for each pair of parameters.

    Parameters
    ----------
    drawn : Pairs
        The data.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it.
    """
    n = max(len(drawn.pairs), 1)
    columns = min(n, ABREAST)
    rows = -(-n // columns)
    with matplotlib.rc_context(STYLE):
        size = (max(4.2 * columns, 7.0), 3.6 * rows + 0.9)
        out = Picture(figsize=size, layout="constrained")
        axes = out.subplots(rows, columns, squeeze=False)
        if not drawn.pairs:
            axes[0, 0].set_axis_off()
            axes[0, 0].text(0, 0.9, drawn.why_not, va="top")
            return out
        headline = textwrap.fill(drawn.headline, int(LETTERS * size[0]))
        out.suptitle(headline, x=0.01, ha="left", fontsize=11)
        for ax, each in zip(axes.flat, drawn.pairs, strict=False):
            _panel(ax, each)
        for ax in list(axes.flat)[len(drawn.pairs) :]:
            ax.set_visible(False)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        out.legend(handles, labels, loc="outside lower left", ncols=4, fontsize=SMALL)
    return out


def _panel(ax: Axes, each: Pair) -> None:
    turned = [np.exp if log else np.asarray for log in each.logarithmic]
    x = np.stack([turn(each.x[:, k]) for k, turn in enumerate(turned)], axis=1)
    if each.worst.size and np.any(each.worst > 0):
        grid = turned[0](each.across), turned[1](each.up), each.worst
        ax.contourf(*grid, levels=[0, np.inf], colors=[COLOURS["accent"]], alpha=0.18)
        ax.contour(*grid, levels=[0], colors=[COLOURS["accent"]], linewidths=1)
    good = ~(each.failed | each.violated)
    ax.plot(*x[good].T, "o", color=COLOURS["main"], markersize=4, alpha=0.5, label="good")
    if each.violated.any():
        ax.plot(*x[each.violated].T, "^", color="#CC79A7", markersize=5, label="violates a limit")
    if each.failed.any():
        ax.plot(*x[each.failed].T, "x", color=COLOURS["accent"], markersize=6, label="failed")
    centre = [float(turn(each.answer[k])) for k, turn in enumerate(turned)]
    ax.plot(*centre, "*", color=INK, markersize=12, label="the answer")
    if np.all(each.std > 0) and not any(each.logarithmic):
        wide, high = 2 * TOLERANCE * each.std
        label = f"tolerance, {TOLERANCE:g} standard deviations of x"
        ax.add_patch(
            Ellipse((centre[0], centre[1]), wide, high, fill=False, color=INK, label=label)
        )
    for log, name in zip(each.logarithmic, ("xscale", "yscale"), strict=True):
        if log:
            ax.set(**{name: "log"})
    ax.set(xlabel=each.names[0], ylabel=each.names[1])
