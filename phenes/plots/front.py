"""The picture of a front: two objectives against each other, and the designs along it."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import COLOURS, INK, STYLE
from phenes.plots.notebook import Picture

PANELS = 6  # parameters that have a panel
WIDE = 88  # characters of the line above
SMALL = 9  # font size of notes, in points
GREY = "#999999"
MARGIN = 0.08  # of the range of a parameter, beyond it
TICKS = 4  # along the narrow axis: numbers such as 250000 have room


class Drawn(NamedTuple):
    """What is drawn.

    labels: of the two objectives. values (k, 2) and intervals (k, 2, 2) of the designs, and which
    are verified; values (m, 2) of designs that are beaten. parameters (k, p) with their names and
    the ranges (p, 2) that were searched.
    """

    labels: tuple[str, str]
    values: np.ndarray
    intervals: np.ndarray
    verified: np.ndarray
    beaten: np.ndarray
    parameters: np.ndarray
    names: tuple[str, ...]
    ranges: np.ndarray
    message: str


def figure(drawn: Drawn) -> Figure:
    """The front with error bars, and beside it the parameters along it.

    Parameters
    ----------
    drawn : Drawn
        The data.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it.
    """
    panels = min(drawn.parameters.shape[1], PANELS)
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(12, max(4.6, 1.25 * panels + 1.2)), layout="constrained")
        out.suptitle(textwrap.fill(drawn.message, WIDE), x=0.01, ha="left", fontsize=11)
        left, right = np.ravel(np.asarray(out.subfigures(1, 2, width_ratios=[1.25, 1])))
        _front(left.subplots(), drawn)
        if panels:
            _parameters(np.atleast_1d(right.subplots(panels, 1, sharex=True)), drawn)
    return out


def _front(ax: Axes, drawn: Drawn) -> None:
    if len(drawn.beaten):
        ax.plot(*drawn.beaten.T, "x", color=GREY, label="beaten, by its draws")
    bars = np.abs(drawn.intervals - drawn.values[:, :, None])
    bars = np.where(np.isfinite(bars), bars, 0.0)
    for sure, fill, label in (
        (True, COLOURS["main"], "verified by fresh draws"),
        (False, "white", "not verified"),
    ):
        some = drawn.verified == sure
        if some.any():
            ax.errorbar(
                *drawn.values[some].T,
                xerr=bars[some, 0].T,
                yerr=bars[some, 1].T,
                fmt="o",
                color=COLOURS["main"],
                markerfacecolor=fill,
                ecolor=COLOURS["accent"],
                elinewidth=1.5,
                capsize=3,
                label=f"{label}, with 95 % intervals" if sure else label,
            )
    order = np.argsort(drawn.values[:, 0])
    ax.plot(*drawn.values[order].T, color=COLOURS["main"], linewidth=0.8, alpha=0.5)
    ax.set(xlabel=drawn.labels[0], ylabel=drawn.labels[1])
    ax.legend(fontsize=SMALL)


def _parameters(axes: np.ndarray, drawn: Drawn) -> None:
    order = np.argsort(drawn.values[:, 0])
    more = drawn.parameters.shape[1] - len(axes)
    rest = f", the first {len(axes)} of {len(axes) + more}" if more else ""
    axes[0].set_title(f"the designs, in the range searched{rest}")
    for k, ax in enumerate(axes):
        at = drawn.values[order, 0]
        ax.plot(at, drawn.parameters[order, k], "o-", color=INK, markersize=4, linewidth=0.8)
        name = textwrap.shorten(drawn.names[k], 24, placeholder="…")
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
        ax.locator_params(axis="y", nbins=3)
        low, high = drawn.ranges[k]
        edge = MARGIN * (high - low)
        if edge > 0:
            ax.set_ylim(low - edge, high + edge)
    axes[-1].set_xlabel(drawn.labels[0])
    axes[-1].locator_params(axis="x", nbins=TICKS)
