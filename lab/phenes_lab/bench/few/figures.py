"""Results -> regret against evaluations, a small panel for each problem."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import save
from phenes_lab import palette
from phenes_lab.bench.few import scoring
from phenes_lab.bench.few.contenders import DEFAULT, EVOLUTION, OURS
from phenes_lab.bench.few.report import PICTURE
from phenes_lab.bench.few.results import FewResults
from phenes_lab.bench.few.settings import FAMILIES
from phenes_lab.palette import SMALL, band, legend_below, panels, titled

BEST_CMA = "best of pycma and cmaes"
LINES = {
    "botorch-robust": (palette.PINK, "-"),
    BEST_CMA: (palette.GREEN, "-."),
    "optuna-tpe": (palette.AMBER, ":"),
    DEFAULT: (palette.SKY, "--"),
}
COLUMNS = 7
FLOOR = scoring.SOLVED / 3  # what is lower is drawn here


def figures(results: FewResults, out: Path) -> list[Path]:
    with matplotlib.rc_context(SMALL):
        return [save(curves(results), out / PICTURE, 120, SMALL)]


def curves(results: FewResults) -> Figure:
    figure, axes = panels(len(results.problems), COLUMNS, (2.0, 1.9), room=(0.4, 1.0), least=7)
    titled(figure, "Regret after so many evaluations, as a share of a random theta's")
    for k, (ax, problem) in enumerate(zip(axes, results.problems, strict=True)):
        _panel(ax, results, problem)
        last = k + COLUMNS >= len(axes)
        ax.tick_params(labelleft=k % COLUMNS == 0, labelbottom=last)
        ax.set_xlabel("evaluations" if last else "")
    legend_below(figure, axes, ncols=5)
    return figure


def _panel(ax: Axes, results: FewResults, problem: str) -> None:
    budgets = [n for n in results.budgets if results.at(problem, OURS, n)]
    if budgets:
        scale = scoring.random_regret(problem)
        spread = [
            np.quantile(results.regrets(problem, OURS, n) / scale, [0.25, 0.5, 0.75])
            for n in budgets
        ]
        low, middle, high = np.maximum(np.transpose(spread), FLOOR)
        look = {"linewidth": 2.5, "marker": "o", "markersize": 3, "label": OURS, "zorder": 3}
        band(ax, budgets, low, middle, high, palette.BLUE, 0.2, **look)
    for name, (colour, style) in LINES.items():
        curve = _best(results, problem) if name == BEST_CMA else _curve(results, problem, name)
        if curve:
            n, values = zip(*curve, strict=True)
            values = np.maximum(values, FLOOR)
            ax.plot(n, values, color=colour, linestyle=style, linewidth=1.5, label=name)
    ax.axhline(scoring.SOLVED, color=palette.GREY, linestyle=":", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(0.8 * FLOOR, 3))
    every = results.budgets
    ax.set_xlim(0.9 * every[0], 1.1 * every[-1])
    ax.set_xticks(every, labels=[str(n) for n in every])
    ax.set_xticks([], minor=True)
    ax.set_yticks([1, 1e-1, 1e-2, 1e-3, 1e-4])
    ax.set_yticks([], minor=True)
    ax.grid(alpha=0.25)
    held = problem in FAMILIES["held-out"]
    ax.set_title(f"{problem}{' (H)' if held else ''}", color=palette.INK, fontsize=10)


def _curve(results: FewResults, problem: str, name: str) -> list[tuple[int, float]]:
    scale = scoring.random_regret(problem)
    return [(n, value / scale) for n, value in scoring.medians(results, problem, name)]


def _best(results: FewResults, problem: str) -> list[tuple[int, float]]:
    """Chosen anew at each budget."""
    every = [dict(_curve(results, problem, name)) for name in EVOLUTION]
    return [
        (n, min(curve[n] for curve in every if n in curve))
        for n in results.budgets
        if any(n in curve for curve in every)
    ]
