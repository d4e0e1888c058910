"""Results -> regret against dimension, a panel for each function."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from phenes.plots import save
from phenes_lab import palette
from phenes_lab.bench.regimes.report import PICTURE
from phenes_lab.bench.regimes.results import SOLVED, RegimesResults
from phenes_lab.palette import SMALL, band, legend_below, panels, titled
from phenes_lab.report import quartiles

COLOURS = (palette.BLUE, palette.GREEN, palette.AMBER, palette.PINK)


def figures(results: RegimesResults, out: Path) -> list[Path]:
    with matplotlib.rc_context(SMALL):
        return [save(curves(results), out / PICTURE, 120, SMALL)]


def curves(results: RegimesResults) -> Figure:
    figure, axes = panels(len(results.cells), 3, (3.2, 2.8), room=(0.2, 0.8), least=5)
    titled(figure, "Regret against dimension, as a share of the start's")
    for ax, (name, grid) in zip(axes, results.cells.items(), strict=True):
        for k, each in enumerate(sorted({n for _, n in grid})):
            dims = sorted(d for d, n in grid if n == each)
            spread = [quartiles(grid[d, each].regrets) for d in dims]
            low, middle, high = (
                [max(q, SOLVED / 10) for q in of] for of in zip(*spread, strict=True)
            )
            colour = COLOURS[k % len(COLOURS)]
            band(
                ax, dims, low, middle, high, colour, 0.2, label=f"{each} d evaluations", marker="."
            )
        for hole in results.holes:
            if hole.function == name:
                look = {"facecolors": "none", "edgecolors": palette.ORANGE, "zorder": 4}
                ax.scatter(hole.dim, hole.regret, s=90, label="hole", **look)
        ax.axhline(SOLVED, color=palette.GREY, linestyle=":", linewidth=1)
        ax.set(xscale="log", yscale="log", xlabel="d", title=name)
        ax.grid(alpha=0.25)
    legend_below(figure, axes, ncols=4)
    return figure
