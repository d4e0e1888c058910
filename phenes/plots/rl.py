"""The learning curve of a training, beside it the signal in its gradients or the learnt policy."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Rectangle

from phenes.plots import COLOURS, INK, STYLE

ABREAST = 4  # maps beside each other
TINTS = {"H": "#BBBBBB", "#": "#BBBBBB", "G": "#9FD8C4"}
DEEP = 100.0  # distance below the best possible return beyond which the scale is not linear


class Map(NamedTuple):
    """What stands at each place, [r, c]; places: the sign of those where no action is taken."""

    title: str
    signs: np.ndarray
    places: np.ndarray


class Level(NamedTuple):
    """A return to compare with, as a line; there are at most two."""

    value: float
    label: str


def figure(
    title: str,
    curve: Mapping[str, Any],
    label: str,
    levels: Sequence[Level] = (),
    maps: Sequence[Map] = (),
    width: int = 10,
) -> Figure:
    """Left: returns of the population and of the mean policy. Right: maps, or signal if there is.

    curve: episodes, mean, best, signal [g]; at (in episodes), deterministic [k]. label: of the last
    two. width: generations over which the signal is averaged.
    """
    data = {name: np.asarray(column, float) for name, column in curve.items()}
    signal = not maps and np.isfinite(data["signal"]).any()
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(12 if maps or signal else 7.5, 4.6), layout="constrained")
        out.suptitle(title, x=0.01, ha="left", fontweight="bold")
        if not (maps or signal):
            _returns(out.subplots(), data, label, levels)
            return out
        left, right = np.ravel(np.asarray(out.subfigures(1, 2, width_ratios=[1.4, 1])))
        ax = left.subplots()
        _returns(ax, data, label, levels)
        if maps:
            _scale(ax, data, levels)
            _maps(right, maps)
        else:
            _signal(right.subplots(), data, width)
    return out


def _returns(ax: Axes, data: dict[str, np.ndarray], label: str, levels: Sequence[Level]) -> None:
    ax.plot(
        data["episodes"],
        data["mean"],
        color=COLOURS["accent"],
        linewidth=1.2,
        label="mean of the population",
    )
    if "best" in data:
        ax.fill_between(
            data["episodes"],
            data["mean"],
            data["best"],
            color=COLOURS["accent"],
            alpha=0.2,
            linewidth=0,
            label="up to its best",
        )
    few = data["at"].size < 100
    ax.plot(
        data["at"],
        data["deterministic"],
        color=COLOURS["main"],
        linewidth=2,
        marker="o" if few else None,
        markersize=4,
        label=label,
    )
    for level, style in zip(levels, ("--", ":"), strict=False):
        ax.axhline(level.value, color=INK, linestyle=style, linewidth=1, label=level.label)
    ax.set(xlabel="episodes", ylabel="return", xlim=(0, None), title="learning")
    ax.legend(loc="best", fontsize=9)


def _scale(ax: Axes, data: dict[str, np.ndarray], levels: Sequence[Level]) -> None:
    """The first policies may fall off cliffs all day: what comes later would be a flat line."""
    seen = np.concatenate([data["mean"], data["deterministic"]])
    if max(level.value for level in levels) - np.nanmin(seen) > DEEP:
        ax.set_yscale("symlog", linthresh=10)


def _signal(ax: Axes, data: dict[str, np.ndarray], width: int) -> None:
    share = data["signal"]
    ax.plot(data["episodes"], share, color=INK, linewidth=1.2)
    ax.axhline(0, color="#bbbbbb", linewidth=0.8)
    lowest = float(np.nanmin(share, initial=0.0))
    ax.set(
        xlabel="episodes",
        ylabel="|E g|² / E|g|²",
        ylim=(min(-0.05, max(-1.0, lowest)), 1.02),
        xlim=(0, None),
    )
    ax.set_title(f"signal in the gradient, over {width} generations")


def _maps(figure: SubFigure, maps: Sequence[Map]) -> None:
    rows = -(-len(maps) // ABREAST)
    axes = np.ravel(figure.subplots(rows, -(-len(maps) // rows), squeeze=False))
    for ax, each in zip(axes, maps, strict=True):
        _map(ax, each, small=len(maps) > 1)


def _map(ax: Axes, each: Map, small: bool) -> None:
    rows, columns = each.signs.shape
    size = 24.0
    if max(rows, columns) > 4:
        size = 10.0 if small else min(125 / max(rows, columns), 24.0)
    for (i, j), sign in np.ndenumerate(each.signs):
        tint = TINTS.get(str(each.places[i, j]), "white")
        ax.add_patch(Rectangle((j, i), 1, 1, facecolor=tint, edgecolor="#DDDDDD"))
        ax.text(j + 0.5, i + 0.5, sign, ha="center", va="center", fontsize=size, color=INK)
    ax.set(
        xlim=(0, columns), ylim=(rows, 0), aspect="equal", xticks=[], yticks=[], title=each.title
    )
    ax.spines[:].set_visible(False)
