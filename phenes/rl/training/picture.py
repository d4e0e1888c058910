"""The learning curve as a picture. Imported by commands only: it brings matplotlib."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes import plots
from phenes.plots import COLOURS, INK, STYLE
from phenes.rl.training.trained import Trained

SMOOTH = 10  # generations over which the signal fraction is averaged


def save(trained: Trained, path: Path) -> Path:
    return plots.save(draw(trained), path)


def draw(trained: Trained) -> Figure:
    """Left: returns of the population and of the mean policy. Right: how much of the gradient was
    signal.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
        figure.suptitle(
            f"{trained.name}: the mean policy returns {trained.about['value']:.5g} after"
            f" {trained.episodes:,} episodes",
            x=0.01,
            ha="left",
            fontweight="bold",
        )
        _returns(left, trained)
        _signal(right, trained)
    return figure


def _returns(ax: Axes, trained: Trained) -> None:
    curve, per = trained.curve, int(trained.about["popsize"])
    episodes = per * np.arange(1, curve.generations + 1)
    ax.plot(
        episodes, curve.mean, color=COLOURS["ES"], linewidth=1.2, label="mean of the population"
    )
    ax.plot(
        per * curve.at,
        curve.deterministic,
        color=COLOURS["PAES"],
        linewidth=2,
        marker="o",
        markersize=4,
        label="mean policy, best actions",
    )
    if trained.about["target"] is not None:
        ax.axhline(trained.about["target"], color=INK, linestyle=":", linewidth=1, label="target")
    ax.set(xlabel="episodes", ylabel="return", xlim=(0, None), title="learning")
    ax.legend(loc="best", fontsize=9)


def _signal(ax: Axes, trained: Trained) -> None:
    share, per = trained.curve.signal(SMOOTH), int(trained.about["popsize"])
    ax.plot(per * np.arange(1, share.size + 1), share, color=INK, linewidth=1.2)
    ax.axhline(0, color="#bbbbbb", linewidth=0.8)
    ax.set(
        xlabel="episodes",
        ylabel="|E g|² / E|g|²",
        ylim=(min(-0.05, max(-1.0, share.min(initial=0.0))), 1.02),
        xlim=(0, None),
    )
    ax.set_title(f"signal in the gradient, over {SMOOTH} generations")
