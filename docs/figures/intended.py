"""What is best for x is not best for theta; and one generation, intended and realised."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import COLOURS, INK, STYLE

PEAKS = ((2.0, 0.15, 1.0), (-0.8, 1.0, 0.75))  # centre, width, height
NOISE = 0.4


def average(x: np.ndarray, noise: float) -> np.ndarray:
    """f where noise is 0, else E f(x + noise): a Gaussian bump smoothed by a Gaussian is one
    again.
    """
    bumps = ((h * w / np.hypot(w, noise), c, np.hypot(w, noise)) for c, w, h in PEAKS)
    return sum(h * np.exp(-((x - c) ** 2) / (2 * w**2)) for h, c, w in bumps)


def figure() -> Figure:
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(10, 4), layout="constrained")
        left, right = out.subplots(1, 2)
        _averages(left)
        _generation(right)
    return out


def _averages(ax: Axes) -> None:
    x = np.linspace(-4, 3.5, 800)
    ax.plot(x, average(x, 0.0), color="#999999", linewidth=1.5)
    ax.plot(x, average(x, NOISE), color=COLOURS["main"], linewidth=2.5)
    best = x[np.argmax(average(x, NOISE))]
    ax.plot([best], [average(best, NOISE)], "*", color=COLOURS["main"], markersize=15)
    ax.plot(
        [2.0],
        [average(np.array(2.0), NOISE)],
        "x",
        color=COLOURS["accent"],
        markersize=9,
        markeredgewidth=2.5,
    )
    ax.annotate("f(x)", (1.8, 0.97), ha="right", color="#777777")
    ax.annotate("E f(x) when\naiming at θ", (-4.0, 0.5), color=COLOURS["main"])
    ax.annotate("aim here", (best, average(best, NOISE) + 0.09), ha="center", color=COLOURS["main"])
    ax.annotate("not here", (2.3, 0.36), color=COLOURS["accent"])
    ax.set(
        xlabel="x, θ",
        ylim=(0, 1.12),
        title="the best average is not at the best value",
        yticks=[0, 0.5, 1],
    )


def _generation(ax: Axes) -> None:
    rng = np.random.default_rng(4)
    grid = np.linspace(-2.4, 2.4, 200)
    a, b = np.meshgrid(grid, grid)
    ax.contour(
        a, b, np.exp(-(a**2 + 2 * b**2 + a * b) / 3), levels=7, colors="#cccccc", linewidths=1
    )
    theta = np.array([0.5, 0.4]) + 0.6 * rng.standard_normal((14, 2))
    x = theta + 0.45 * rng.standard_normal((14, 2))
    for start, end in zip(theta, x, strict=True):
        ax.annotate(
            "",
            end,
            start,
            arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.8, "alpha": 0.6},
        )
    ax.plot(
        *theta.T,
        "o",
        markerfacecolor="white",
        markeredgecolor=COLOURS["accent"],
        markersize=7,
        label="θ, intended",
    )
    ax.plot(*x.T, "o", color=COLOURS["main"], markersize=6, label="x, realised: f is exact here")
    ax.legend(loc="lower left", fontsize=9)
    ax.set(xticks=[], yticks=[], title="one generation", xlim=(-2.2, 2.4), ylim=(-2.2, 2.2))
