"""The picture of `phenes demo`, drawn from its results."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.demo.problem import landscape, optimum
from phenes.demo.product import NAME, answer_regret, curves
from phenes.demo.race import Results
from phenes.demo.scores import Summary, finding, regret
from phenes.demo.settings import DemoSettings
from phenes.plots import COLOURS, INK, STYLE, band


def figure(results: Results, result: Summary) -> Figure:
    """Left: the value f of a part at its realised place.

    Middle: E f over the intended place, and the paths of both methods. Right: regret.
    """
    noise = results.settings.noise
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(13.5, 5.5))
        perfect, average, curves = out.subplots(1, 3, width_ratios=[1, 1, 1.25])
        out.subplots_adjust(left=0.03, right=0.985, bottom=0.12, top=0.78, wspace=0.17)
        out.text(0.03, 0.965, finding(result), va="top", fontsize=17, fontweight="bold")
        out.text(0.03, 0.895, _set_up(results.settings), va="top")
        _draw_landscape(perfect, noise, 0.0, "f where the parts end up")
        _draw_hits(perfect, noise)
        _draw_landscape(average, noise, noise, "E f where they are aimed")
        _draw_paths(average, results)
        _draw_regret(curves, results, result)
    return out


def _set_up(settings: DemoSettings) -> str:
    return (
        f"{len(settings.starts)} parts are aimed at points of the plane and miss them with a"
        f" standard deviation of {settings.noise:g}. ES learns from the intended places, PAES from"
        " the realised ones."
    )


def _draw_landscape(ax: Axes, tolerance: float, noise: float, title: str) -> None:
    """Draws the landscape at `noise`, with the optima under no error and under `tolerance`."""
    side = np.linspace(0, 1, 101)
    ax.contourf(
        side,
        side,
        landscape(np.stack(np.meshgrid(side, side), axis=-1), noise),
        np.linspace(0, 0.75, 16),
        cmap="Greys",
        alpha=0.7,
    )
    ax.set(
        title=title,
        aspect="equal",
        anchor="N",
        xlim=(0, 1),
        ylim=(0, 1),
        xticks=[0, 0.5, 1],
        yticks=[0, 0.5, 1],
    )
    for name, marker, size, label, (left, up) in (
        ("robust optimum", "*", 16, (0.03, 0.04), optimum(tolerance)[0]),
        ("nominal optimum", "X", 11, (0.27, 0.93), optimum(0.0)[0]),
    ):
        ax.plot(left, up, marker, color="white", markeredgecolor=INK, markersize=size, zorder=5)
        ax.text(
            *label, f"{name}: {landscape(np.array([left, up]), noise):.2f}", va="center", zorder=6
        )


def _draw_hits(ax: Axes, noise: float, n: int = 60) -> None:
    error = noise * np.random.default_rng(0).standard_normal((n, 2))
    for aim in (optimum(noise)[0], optimum(0.0)[0]):
        ax.plot(*(aim + error).T, ".", color=INK, markersize=4, alpha=0.8)
    ax.set_xlabel("dots: parts that were aimed at the marks")


def _draw_paths(ax: Axes, results: Results) -> None:
    """All parts of the first seed, not of a chosen one."""
    start = np.asarray(results.settings.starts)[None]
    for method, means in results.means.items():
        path = np.concatenate([start, means[0].reshape(-1, *start.shape[1:])])
        ax.plot(path[..., 0], path[..., 1], color=COLOURS[method], linewidth=1.2)
    ax.plot(*start[0].T, "o", color="white", markeredgecolor=INK, markersize=5, zorder=4)
    ax.set_xlabel("lines: the parts of the first run, from \u25cb on")


def _draw_regret(ax: Axes, results: Results, result: Summary) -> None:
    settings = results.settings
    evaluations, (_, best) = settings.evaluations, optimum(settings.noise)
    # before that nothing has happened
    left, right = max(settings.popsize, result.budget / 150), 1.1 * result.budget
    for method, name in (("ES", "ES"), ("PAES", "PAES: phenotype-accelerated ES")):
        band(ax, evaluations, regret(results, method), method, name)
    if results.answers:
        _draw_product(ax, results)
    ax.set(xscale="log", yscale="log", xlim=(left, right), xlabel="evaluations")
    ax.set_title(f"Regret in E f: median and quartiles, {result.seeds} seeds")
    ax.legend(loc="upper right", borderaxespad=0, fontsize=9.5)
    _draw_level(
        ax,
        right,
        best - landscape(optimum(0.0)[0], settings.noise),
        "aiming at the nominal optimum",
        "right",
        below=True,
    )
    _draw_level(
        ax, 1.05 * left, result.target, f"{100 * result.within:g} % of the robust optimum", "left"
    )
    es, paes = (result.scores[method].evaluations[1] for method in ("ES", "PAES"))
    if es is not None and paes is not None:
        arrow = {"arrowstyle": "<->", "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (paes, result.target), (es, result.target), arrowprops=arrow)
        ax.text(
            es**0.4 * paes**0.6,
            1.12 * result.target,
            f"{es / paes:.1f} x",
            ha="center",
            va="bottom",
            fontweight="bold",
        )


def _draw_product(ax: Axes, results: Results) -> None:
    """Regret of the recommendations of `maximize` on the way, and of its verified answers."""
    noise = results.settings.noise
    evaluations, runs = curves(results.answers, noise)
    count = f"{len(results.answers)} seeds"
    band(ax, evaluations, runs, "product", f"{NAME}, {count} (\u25c6 verified answers)")
    for each in results.answers:
        ax.plot(
            each.nfev, answer_regret(each, noise), "D", color=COLOURS["product"], markersize=4.5
        )


def _draw_level(
    ax: Axes, left: float, height: float, name: str, side: str, below: bool = False
) -> None:
    ax.axhline(height, color=INK, linestyle=":", linewidth=1)
    if below:
        ax.text(left, height / 1.1, name, ha=side, va="top")
    else:
        ax.text(left, 1.05 * height, name, ha=side, va="bottom")
