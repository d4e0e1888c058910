"""Results -> how E f rises with the number of builds, and the designs as engineers draw them."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import INK, STYLE, save
from phenes.problems.engineering import ENGINEERING
from phenes_lab.bench.engineering.contenders import CONTENDERS, OURS, RIVALS
from phenes_lab.bench.engineering.results import EngineeringResults, Runs
from phenes_lab.palette import AMBER, LIBRARIES, SKY, legend_below, panels
from phenes_lab.plots import engineering as drawings

COLOURS = LIBRARIES | {"ES": AMBER, "PAES": SKY}
LINES = {"x": "--", "lra": ":", "theta": "--", "screened": "-."}
CURVES = "engineering-builds.png"


def figures(results: EngineeringResults, out: Path) -> list[Path]:
    drawn = [save(curves(results), out / CURVES)]
    return drawn + [
        save(designs(results, problem), out / f"engineering-{problem}.png")
        for problem in results.problems
        if OURS in results.runs[problem]
    ]


def designs(results: EngineeringResults, problem: str) -> Figure:
    """The nominal design, and that of the run of phenes with the median E f."""
    runs = results.runs[problem][OURS]
    middle = int(np.argsort(runs.mean)[(runs.mean.size - 1) // 2])
    chosen = {
        "nominal": ENGINEERING[problem].nominal,
        f"phenes, {results.settings.builds(problem)} builds": runs.design[middle],
    }
    draw = drawings.PICTURES[problem]
    return (
        drawings.spectra(chosen, ENGINEERING[problem]) if draw is drawings.spectra else draw(chosen)
    )


def curves(results: EngineeringResults) -> Figure:
    """A panel for each problem: the median over seeds; quartiles for phenes and the best of the
    libraries.
    """
    with matplotlib.rc_context(STYLE):
        figure, axes = panels(len(results.problems), 3, (5.2, 4.2), room=(0, 0.8))
        for ax, problem in zip(axes, results.problems, strict=True):
            _panel(ax, results, problem)
        legend_below(figure, axes, ncols=6, fontsize=9)
    return figure


def _panel(ax: Axes, results: EngineeringResults, problem: str) -> None:
    value = ENGINEERING[problem].value
    searches = [name for name in results.contenders(problem) if not CONTENDERS[name].fixed]
    for name in searches:
        runs, library = results.runs[problem][name], name.split("-")[0]
        ours = name == OURS
        variant = "lra" if "lra" in name else name.rsplit("-", 1)[-1]
        style = LINES[variant] if "-" in name else "-"
        n, (low, middle, high) = (
            np.median(runs.evaluations, axis=0),
            np.quantile(runs.means, [0.25, 0.5, 0.75], axis=0),
        )
        if ours:
            ax.fill_between(n, low, high, color=COLOURS[library], alpha=0.25, linewidth=0)
        look = {"color": COLOURS[library], "linewidth": 2.6 if ours else 1.3, "markersize": 4}
        look["marker"] = "x" if name.endswith("lra-x") else ""
        ax.plot(n, middle, style, label=name, **look)
    for name, line in (("nominal", ":"), ("screened", "-.")):
        if name in results.runs[problem]:
            mean = results.runs[problem][name].mean[0]
            ax.axhline(mean, color=INK, linestyle=line, linewidth=1, label=name)
    ax.axhline(value, color=INK, linewidth=1, label="best known")
    ax.set(xscale="log", xlabel="builds", ylabel="E f")
    ax.set_ylim(*_limits(results.runs[problem], value))
    ax.set_title(ENGINEERING[problem].name)


def _limits(runs: dict[str, Runs], value: float) -> tuple[float, float]:
    """From a little below the nominal design: what is far worse than that is no design."""
    start = (
        float(runs["nominal"].mean[0])
        if "nominal" in runs
        else min(float(np.median(runs[n].mean)) for n in runs if n in (OURS, *RIVALS))
    )
    room = abs(value - start) or 1.0
    return start - 0.7 * room, value + 0.1 * room
