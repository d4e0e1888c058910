"""Where the probes fly: many launches of each design past the planets, and how close they come to
the target.
"""

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from phenes.plots import INK, STYLE
from phenes.plots.notebook import Picture
from phenes.problems.engineering.launch import LAUNCH, NEAR, PLANETS, TARGET, flights
from phenes_lab.plots.engineering.shared import COLOURS, builds, checked

SHOWN = 60


def trajectories(designs: Mapping[str, Any]) -> Figure:
    """A panel for each design, below each other: they fly to the right."""
    given = checked(LAUNCH, designs)
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(9.5, 5.0 * len(given)), layout="constrained")
        for ax, (name, theta), colour in zip(
            out.subplots(len(given), 1, squeeze=False)[:, 0], given.items(), COLOURS, strict=False
        ):
            found = LAUNCH.assess(theta, 2000)
            ax.set_title(
                f"{name}: {theta[0]:.1f} degrees, speed {theta[1]:.2f}: {found.share:.0%} come"
                f" within {NEAR:g} of the target, E f = {found.mean:.3f}"
            )
            _paths(ax, theta, colour)
            _planets(ax)
            ax.set(xlim=(-1, 12.5), ylim=(-3.2, 3.6), aspect="equal")
    return out


def _paths(ax: Axes, theta: np.ndarray, colour: str) -> None:
    intended, each = flights(theta[None]), flights(builds(LAUNCH, theta, SHOWN))
    for place, near in zip(each.place, each.closest, strict=True):
        ax.plot(*place.T, color=colour if near <= NEAR else "#999999", linewidth=0.6, alpha=0.7)
    ax.plot(*intended.place[0].T, color=INK, linewidth=1.8)
    ax.plot([], [], color=INK, linewidth=1.8, label="as intended")
    ax.plot([], [], color=colour, label=f"launches that come within {NEAR:g}")
    ax.plot([], [], color="#999999", label="launches that do not")
    ax.legend(loc="lower left", fontsize=9)


def _planets(ax: Axes) -> None:
    for x, y, mass in PLANETS:
        ax.add_patch(Circle((x, y), 0.06 * mass**0.5, color=INK, zorder=3))
        _name(ax, f"mass {mass:g}", (x, y), (0, -18), ha="center", va="top")
    ax.add_patch(Circle(TARGET, NEAR, fill=False, color=INK, linestyle=":"))
    _name(ax, "target", TARGET, (20, 18))


def _name(
    ax: Axes, text: str, place: tuple[float, float], away: tuple[float, float], **options: Any
) -> None:
    """Beside a planet, on white: paths run through there."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    ax.annotate(
        text,
        place,
        xytext=away,
        textcoords="offset points",
        fontsize=9,
        zorder=4,
        bbox=box,
        **options,
    )
