"""The response of the LC filter with its tolerance band, the limits it has to keep, and the
yield.
"""

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import INK, STYLE
from phenes.plots.notebook import Picture
from phenes.problems.engineering.filter import (
    FILTER,
    LARGEST_LOSS,
    PASS,
    SMALLEST_LOSS,
    STOP,
    insertion_loss,
)
from phenes_lab.plots.engineering.shared import COLOURS, FORBIDDEN, builds, checked, spread

DEEPEST = 30.0  # dB, the end of the pass-band panel is 3


def response(designs: Mapping[str, Any]) -> Figure:
    """A column for each design: above the pass band, enlarged, below the whole response."""
    given = checked(FILTER, designs)
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(1.5 + 4.8 * len(given), 6.6), layout="constrained")
        axes = out.subplots(2, len(given), squeeze=False, sharey="row")
        for (above, below), (name, theta), colour in zip(
            axes.T, given.items(), COLOURS, strict=False
        ):
            values = FILTER.design(theta)
            share = FILTER.assess(theta).share
            above.set_title(
                f"{name}: {share:.1%} pass\nL1 = {values[0]:.3f}, C = {values[1]:.3f}, L2 ="
                f" {values[2]:.3f}"
            )
            parts = np.exp(builds(FILTER, theta))
            _panel(above, parts, colour, np.linspace(0.3, 1.1, 161), (3.0, 0.0))
            _panel(below, parts, colour, np.linspace(0.3, 2.8, 251), (DEEPEST + 5, 0.0))
            below.set_xlabel("frequency (rad/s)")
        axes[0, 0].set_ylabel("insertion loss (dB), pass band")
        axes[1, 0].set_ylabel("insertion loss (dB)")
        axes[0, 0].legend(loc="lower left", fontsize=9)
    return out


def _panel(
    ax: Axes, parts: np.ndarray, colour: str, w: np.ndarray, limits: tuple[float, float]
) -> None:
    loss = insertion_loss(parts[:, None, :], w[None])
    for one in loss[:25]:
        ax.plot(w, one, color=colour, linewidth=0.4, alpha=0.5)
    spread(ax, w, loss, colour, "median, 5 to 95 % of builds")
    ax.set(ylim=limits, xlim=(w[0], w[-1]))
    deepest = limits[0]
    edges = [(PASS[0] - 0.01, PASS[2] + 0.01), (PASS[3] - 0.01, PASS[3] + 0.01)]
    for left, right in edges:
        ax.fill_between(
            [left, right], LARGEST_LOSS, deepest, color=FORBIDDEN, alpha=0.6, linewidth=0, zorder=0
        )
    if w[-1] > STOP:
        ax.fill_between(
            [STOP - 0.02, STOP + 0.02],
            0,
            SMALLEST_LOSS,
            color=FORBIDDEN,
            alpha=0.6,
            linewidth=0,
            zorder=0,
        )
        ax.text(STOP, 3, "grey: not allowed", ha="right", va="center", color=INK, fontsize=9)
