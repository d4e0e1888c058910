"""store -> how E f rises with the number of builds, and the designs as an engineer would draw them.
Nothing is searched here.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import INK, STYLE, save
from phenes.problems.engineering import ENGINEERING
from phenes.store import Store
from phenes_lab.bench.engineering.contenders import CONTENDERS, OURS, RIVALS
from phenes_lab.bench.engineering.results import Results, Runs, load
from phenes_lab.plots import engineering as drawings

COLOURS = {
    "phenes": "#0072B2",
    "ES": "#E69F00",
    "PAES": "#56B4E9",
    "pycma": "#D55E00",
    "cmaes": "#009E73",
}
LINES = {"x": "--", "lra": ":", "theta": "--", "screened": "-."}
CURVES = "engineering-builds.png"


def figures(store: Store, out: Path) -> list[Path]:
    results = load(store)
    drawn = [save(curves(results), out / CURVES)]
    return drawn + [
        save(designs(results, problem), out / f"engineering-{problem}.png")
        for problem in results.problems
        if _ours(results, problem)
    ]


def _ours(results: Results, problem: str) -> bool:
    return OURS in results.runs[problem]


def designs(results: Results, problem: str) -> Figure:
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


def curves(results: Results) -> Figure:
    """A panel for each problem: the median over seeds; quartiles for phenes and the best of the
    libraries.
    """
    columns = min(3, len(results.problems))
    rows = -(-len(results.problems) // columns)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2 * columns, 4.2 * rows + 0.8), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax, problem in zip(axes, results.problems, strict=False):
            _panel(ax, results, problem)
        for ax in axes[len(results.problems) :]:
            ax.set_axis_off()
        handles = {
            label: line
            for ax in axes
            for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower left", ncols=6, fontsize=9
        )
    return figure


def _panel(ax: Axes, results: Results, problem: str) -> None:
    value = ENGINEERING[problem].value
    searches = [name for name in results.contenders(problem) if not CONTENDERS[name].fixed]
    for name in searches:
        runs, library = results.runs[problem][name], name.split("-")[0]
        ours = name == OURS
        style = (
            "-" if "-" not in name else LINES["lra" if "lra" in name else name.rsplit("-", 1)[1]]
        )
        n, (low, middle, high) = (
            np.median(runs.evaluations, axis=0),
            np.quantile(runs.means, [0.25, 0.5, 0.75], axis=0),
        )
        if ours:
            ax.fill_between(n, low, high, color=COLOURS[library], alpha=0.25, linewidth=0)
        marker = "x" if name.endswith("lra-x") else ""
        ax.plot(
            n,
            middle,
            style,
            color=COLOURS[library],
            linewidth=2.6 if ours else 1.3,
            marker=marker,
            markersize=4,
            label=name,
        )
    for name, line in (("nominal", ":"), ("screened", "-.")):
        if name in results.runs[problem]:
            ax.axhline(
                results.runs[problem][name].mean[0],
                color=INK,
                linestyle=line,
                linewidth=1,
                label=name,
            )
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
