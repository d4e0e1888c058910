"""The pendulum after a push: angle and torque over time with their 5 to 95 % bands, and the gains
behind them.
"""

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from phenes.plots import STYLE
from phenes.plots.notebook import Picture
from phenes.problems.engineering.regulator import (
    LIMIT,
    REGULATOR,
    STEP,
    STEPS,
    expected_cost,
    motion,
)
from phenes_lab.plots.engineering.shared import COLOURS, builds, checked, spread


def motions(designs: Mapping[str, Any]) -> Figure:
    """All designs in the same panels. The push is one of the rate: s_0 = (0, 1)."""
    given = checked(REGULATOR, designs)
    t = STEP * np.arange(STEPS + 1)
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(13, 4.4), layout="constrained")
        angle, torque, gains = out.subplots(1, 3)
        for (name, theta), colour in zip(given.items(), COLOURS, strict=False):
            moved = motion(builds(REGULATOR, theta))
            share = REGULATOR.assess(theta).share
            spread(
                angle,
                t,
                moved.state[:, 1, :, 0],
                colour,
                f"{name}: E cost {expected_cost(theta):.1f}, {share:.0%} below {LIMIT:.0f}",
            )
            spread(torque, t[:-1], moved.torque[:, 1], colour, name)
            for k, (line, which) in enumerate((("-", "angle"), ("--", "rate"))):
                gains.plot(
                    t[:-1],
                    REGULATOR.design(theta)[:, k],
                    line,
                    color=colour,
                    label=f"{name}, on the {which}",
                )
        angle.axhline(0, color="#999999", linewidth=0.8, zorder=0)
        angle.set(title="angle after a push of the rate", xlabel="time (s)", ylabel="angle (rad)")
        angle.set_ylim(top=1.25 * angle.get_ylim()[1])  # room for the legend
        torque.set(title="torque", xlabel="time (s)", ylabel="torque (1/s²)")
        gains.set(title="intended gains", xlabel="time (s)")
        angle.legend(loc="upper right", fontsize=9)
        gains.legend(loc="lower left", fontsize=9)
    return out
