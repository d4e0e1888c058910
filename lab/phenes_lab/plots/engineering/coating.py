"""The reflectance of the coating over the wavelength with its 5 to 95 % band, and the three figures
it is bought for.
"""

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import INK, STYLE
from phenes.plots.notebook import Picture
from phenes.problems.engineering import COATING, EngineeringProblem
from phenes.problems.engineering.coating import TRANSMITTED, WAVES, WITHIN, figures, spectrum
from phenes_lab.plots.engineering.shared import COLOURS, FORBIDDEN, builds, checked, spread

LEAST = 1e-6  # of the logarithmic axis


def spectra(designs: Mapping[str, Any], problem: EngineeringProblem = COATING) -> Figure:
    """A row for each design: the spectrum, and the distributions of T at 1064 nm, R at 700 nm and R
    at 2050 nm in ppm.
    """
    given = checked(problem, designs)
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(14, 0.6 + 3.0 * len(given)), layout="constrained")
        axes = out.subplots(len(given), 4, squeeze=False, width_ratios=[2.6, 1, 1, 1], sharex="col")
        for row, (name, theta), colour in zip(axes, given.items(), COLOURS, strict=False):
            x, found = builds(problem, theta), problem.assess(theta)
            _spectrum(row[0], x[:300], colour)
            row[0].set_title(f"{name}: E f = {found.mean:.2f}, {found.share:.1%} of use")
            _figures(row[1:], x, colour)
        axes[-1, 0].set_xlabel("wavelength (nm)")
        for ax, label in zip(
            axes[-1, 1:],
            ("T at 1064 nm (ppm)", "R at 700 nm (ppm)", "R at 2050 nm (ppm)"),
            strict=True,
        ):
            ax.set_xlabel(label)
        axes[0, 0].legend(loc="lower center", bbox_to_anchor=(0.6, 0), fontsize=9)
    return out


def _spectrum(ax: Axes, x: np.ndarray, colour: str) -> None:
    waves = np.unique(
        np.concatenate(
            [np.linspace(620, 2200, 400), *(w + np.linspace(-25, 25, 41) for w in WAVES)]
        )
    )
    spread(ax, waves, np.maximum(spectrum(x, waves), LEAST), colour, "median, 5 to 95 % of builds")
    for wave in WAVES:
        ax.axvline(wave, color=INK, linewidth=0.8, linestyle=":")
        ax.text(wave + 8, 2 * LEAST, f"{wave:.0f}", fontsize=9, va="center")
    ax.set(yscale="log", ylim=(LEAST, 1.3), xlim=(620, 2200), ylabel="reflectance")


def _figures(axes: Any, x: np.ndarray, colour: str) -> None:
    transmitted, first, second = figures(x)
    ends = ((0.0, 12_000.0), (0.0, 2 * WITHIN[1]), (0.0, 2 * WITHIN[2]))
    allowed = (
        (TRANSMITTED - WITHIN[0], TRANSMITTED + WITHIN[0]),
        (0.0, WITHIN[1]),
        (0.0, WITHIN[2]),
    )
    for ax, values, (low, high), (least, most) in zip(
        axes, (transmitted, first, second), ends, allowed, strict=True
    ):
        # what is beyond is in the last bar
        ax.hist(
            np.clip(values, low, high), bins=np.linspace(low, high, 41), color=colour, alpha=0.7
        )
        for left, right in ((low, least), (most, high)):
            ax.axvspan(left, right, color=FORBIDDEN, alpha=0.5, linewidth=0, zorder=0)
        inside = np.mean((values >= least) & (values <= most))
        ax.set_title(f"{inside:.0%} within", fontsize=10)
        ax.set(xlim=(low, high), yticks=[])
