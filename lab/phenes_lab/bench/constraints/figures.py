"""Results -> violations against regret of every answer, a panel for each problem and p."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import save
from phenes_lab.bench.constraints.contenders import CONTENDERS, OURS
from phenes_lab.bench.constraints.report import PICTURE
from phenes_lab.bench.constraints.results import ConstraintsResults
from phenes_lab.palette import AMBER, BLUE, GREEN, GREY, PINK, SMALL, legend_below, panels, titled

COLOURS = dict(zip(CONTENDERS, (BLUE, AMBER, PINK, GREEN), strict=True))
MARKERS = ("o", "^", "s", "D", "v")  # by budget
COLUMNS = 4
LEAST = 1e-4  # violations: fewer are drawn there
REGRETS = (-0.6, 6.0)  # that are shown
TICKS = (-0.1, 0.0, 0.01, 0.1, 1.0)


def figures(results: ConstraintsResults, out: Path) -> list[Path]:
    with matplotlib.rc_context(SMALL):
        return [save(scatter(results), out / PICTURE, 120, SMALL)]


def scatter(results: ConstraintsResults) -> Figure:
    wanted = list(dict.fromkeys((where.problem, where.p) for where in results.cells))
    figure, axes = panels(len(wanted), COLUMNS, (2.7, 2.6), room=(0.2, 1.1), least=5)
    titled(figure, "Answers: how often they violate the limits, and what they cost")
    for ax, (problem, p) in zip(axes, wanted, strict=True):
        _panel(ax, results, problem, p)
    for ax in axes[::COLUMNS]:
        ax.set_ylabel("regret")
    legend_below(figure, axes, ncols=4)
    return figure


def _panel(ax: Axes, results: ConstraintsResults, problem: str, p: float) -> None:
    marks = dict(zip(results.settings.budgets, MARKERS, strict=False))
    for where, cell in results.cells.items():
        if (where.problem, where.p) == (problem, p):
            ax.scatter(
                np.maximum(1 - cell.probability, LEAST),
                np.clip(cell.regret, *REGRETS),
                s=26 if where.contender == OURS else 14,
                alpha=0.75,
                zorder=3 if where.contender == OURS else 2,
                color=COLOURS[where.contender],
                marker=marks.get(where.budget, "."),
                label=f"{where.contender}, {where.budget}",
            )
    ax.axvspan(1 - p, 1, color=GREY, alpha=0.2, linewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=0.01)
    ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.set(
        ylim=REGRETS,
        xlim=(LEAST / 2, 1),
        xlabel="P(violated), exact",
        title=f"{problem}, p = {p:g}",
    )
    ax.grid(alpha=0.25)
