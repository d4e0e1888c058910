"""Pictures of designs under their tolerances, as an engineer of the field would draw them. Each
takes designs by name, {"nominal": theta}.

    from phenes.plots import save
    from phenes_lab.plots import engineering
    save(engineering.response({"minimax": FILTER.nominal, "robust": result.x}), Path("filter.png"))

docs/engineering.md shows them.
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
from phenes.problems.engineering import COATING, EngineeringProblem
from phenes.problems.engineering.coating import TRANSMITTED, WAVES, WITHIN, figures, spectrum
from phenes.problems.engineering.filter import (
    FILTER,
    LARGEST_LOSS,
    PASS,
    SMALLEST_LOSS,
    STOP,
    insertion_loss,
)
from phenes.problems.engineering.launch import LAUNCH, NEAR, PLANETS, TARGET, flights
from phenes.problems.engineering.regulator import (
    LIMIT,
    REGULATOR,
    STEP,
    STEPS,
    expected_cost,
    motion,
)
from phenes_lab.palette import BLUE, GREEN, ORANGE, PINK, band

__all__ = ["PICTURES", "motions", "response", "spectra", "trajectories"]

BUILDS = 1000
FORBIDDEN = "#cccccc"
COLOURS = (ORANGE, BLUE, GREEN, PINK)


def checked(problem: EngineeringProblem, designs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not designs:
        raise ValueError('designs must be theta by name, such as {"nominal": theta}, got none')
    out = {name: np.asarray(theta, float) for name, theta in designs.items()}
    for name, theta in out.items():
        if theta.shape != (problem.dim,):
            raise ValueError(
                f"the design {name!r} must have shape ({problem.dim},) for the {problem.name}, got"
                f" {theta.shape}"
            )
    return out


def builds(problem: EngineeringProblem, theta: np.ndarray, n: int = BUILDS) -> np.ndarray:
    """The same errors for every design."""
    return problem.realise(theta, n, np.random.default_rng(0))


def spread(ax: Axes, x: np.ndarray, each: np.ndarray, colour: str, label: str) -> None:
    """The median and the 5 to 95 % band of `each` [n, len(x)]."""
    low, middle, high = np.quantile(each, [0.05, 0.5, 0.95], axis=0)
    band(ax, x, low, middle, high, colour, 0.3, linewidth=1.8, label=label)


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
    barred = {"color": FORBIDDEN, "alpha": 0.6, "linewidth": 0, "zorder": 0}
    for left, right in ((PASS[0] - 0.01, PASS[2] + 0.01), (PASS[3] - 0.01, PASS[3] + 0.01)):
        ax.fill_between([left, right], LARGEST_LOSS, limits[0], **barred)
    if w[-1] > STOP:
        ax.fill_between([STOP - 0.02, STOP + 0.02], 0, SMALLEST_LOSS, **barred)
        ax.text(STOP, 3, "grey: not allowed", ha="right", va="center", color=INK, fontsize=9)


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
    look = {"fontsize": 9, "zorder": 4, "bbox": box} | options
    ax.annotate(text, place, xytext=away, textcoords="offset points", **look)


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
            said = f"{name}: E cost {expected_cost(theta):.1f}, {share:.0%} below {LIMIT:.0f}"
            spread(angle, t, moved.state[:, 1, :, 0], colour, said)
            spread(torque, t[:-1], moved.torque[:, 1], colour, name)
            for k, (line, which) in enumerate((("-", "angle"), ("--", "rate"))):
                label = f"{name}, on the {which}"
                gains.plot(t[:-1], REGULATOR.design(theta)[:, k], line, color=colour, label=label)
        angle.axhline(0, color="#999999", linewidth=0.8, zorder=0)
        angle.set(title="angle after a push of the rate", xlabel="time (s)", ylabel="angle (rad)")
        angle.set_ylim(top=1.25 * angle.get_ylim()[1])  # room for the legend
        torque.set(title="torque", xlabel="time (s)", ylabel="torque (1/s²)")
        gains.set(title="intended gains", xlabel="time (s)")
        angle.legend(loc="upper right", fontsize=9)
        gains.legend(loc="lower left", fontsize=9)
    return out


PICTURES = {
    "filter": response,
    "coating": spectra,
    "coating-shared": spectra,
    "launch": trajectories,
    "regulator": motions,
}
