"""Results -> regret of the risk against evaluations, a panel for each problem."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from phenes.plots import save
from phenes_lab.bench.risk.contenders import CONTENDERS
from phenes_lab.bench.risk.problems import PROBLEMS
from phenes_lab.bench.risk.report import PICTURE
from phenes_lab.bench.risk.results import RiskResults
from phenes_lab.palette import (
    AMBER,
    BLUE,
    GREEN,
    PINK,
    SKY,
    SMALL,
    band,
    legend_below,
    panels,
    titled,
)

COLOURS = dict(zip(CONTENDERS, (BLUE, GREEN, SKY, AMBER, PINK), strict=True))


def figures(results: RiskResults, out: Path) -> list[Path]:
    with matplotlib.rc_context(SMALL):
        return [save(curves(results), out / PICTURE, 120, SMALL)]


def curves(results: RiskResults) -> Figure:
    figure, axes = panels(len(results.curves), 2, (3.6, 2.8), room=(0.2, 0.8), least=5)
    titled(figure, "Regret of the risk against evaluations")
    for ax, (name, found) in zip(axes, results.curves.items(), strict=True):
        for contender, curve in found.items():
            low, middle, high = np.quantile(curve.regrets, [0.25, 0.5, 0.75], axis=0)
            look = {"label": contender, "marker": "."}
            band(ax, curve.at, low, middle, high, COLOURS[contender], 0.2, **look)
        title = f"{name}: {PROBLEMS[name].risk}"
        ax.set(xscale="log", yscale="log", xlabel="evaluations", title=title)
        ax.grid(alpha=0.25)
    legend_below(figure, axes, ncols=4)
    return figure
