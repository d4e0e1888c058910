"""Results -> pictures."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from phenes import plots
from phenes.plots import INK, STYLE
from phenes_lab.palette import AMBER, ES, GREEN, PAES, PINK, SKY, band, titled
from phenes_lab.reproduce.control.results import ControlResults, One
from phenes_lab.reproduce.control.settings import RIVALS

COLOURS = {
    "ES-paper": ES,
    "PAES-paper": PAES,
    "PAES-theta": AMBER,
    "ES": SKY,
    "genotype": PINK,
    "network": AMBER,
    "ARS": ES,
    "default": GREEN,
    **dict.fromkeys(RIVALS, "#666666"),
}
LABELS = {
    "ES-paper": "ES, paper",
    "PAES-paper": "PAES, paper (at the mean)",
    "PAES-theta": "PAES, paper (at theta_i)",
    "ES": "ES, tuned",
    "genotype": "network, genotype score",
    "network": "phenes train, network",
    "ARS": "ARS, published settings",
    "default": "phenes train",
    **dict.fromkeys(RIVALS, "evosax Open_ES, its best"),
}


def figures(results: ControlResults, out: Path) -> list[Path]:
    """All figures, as PNG files in `out`."""
    stem = results.name
    return [
        plots.save(learning(results), out / f"{stem}-learning.png"),
        plots.save(signal(results), out / f"{stem}-signal.png"),
    ]


def learning(results: ControlResults) -> Figure:
    """Returns against generations, episodes and seconds: mean and standard deviation over seeds."""
    s = results.settings
    with matplotlib.rc_context(STYLE):
        # between panels, whose labels at the ends would touch
        layout = ConstrainedLayoutEngine(wspace=0.06)
        figure = Figure(figsize=(14, 5.4), layout=layout)
        what = "mean policy, best actions" if s.by_mean_policy else "mean of the population"
        titled(
            figure, f"{s.environment}: {what}, mean and standard deviation of up to {s.seeds} seeds"
        )
        for ax, by in zip(
            figure.subplots(1, 3, sharey=True), ("generation", "episodes", "seconds"), strict=True
        ):
            for method, runs in results.shown().items():
                _band(ax, runs, method, by, s.by_mean_policy)
            ax.axhline(s.target, color=INK, linestyle=":", linewidth=1)
            ax.set(xlabel=by)
            _in_decades(ax)
            ax.set_title(f"by {by}")
        figure.axes[0].set_ylabel("return")
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=10)
    return figure


def _in_decades(ax: Axes) -> None:
    """A logarithmic axis in plain numbers: 10, 20, 50, 100 where a run spans few decades, else 10,
    100, 1,000.
    """
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def series(one: One, by: str, by_mean_policy: bool) -> tuple[np.ndarray, np.ndarray]:
    """x and return of a run."""
    generation, y = (
        (one.at, one.mean_policy)
        if by_mean_policy
        else (np.arange(1, one.population.size + 1), one.population)
    )
    x = {
        "generation": generation,
        "episodes": generation * one.popsize,
        "seconds": one.seconds[generation - 1],
    }[by]
    return x.astype(float), y


def _band(ax: Axes, runs: list[One], method: str, by: str, by_mean_policy: bool) -> None:
    """A run that has stopped early stays where it was."""
    drawn = [series(one, by, by_mean_policy) for one in runs]
    grid = np.geomspace(min(x[0] for x, _ in drawn), max(x[-1] for x, _ in drawn), 200)
    values = np.array([np.interp(grid, x, y) for x, y in drawn])
    mean, std = values.mean(axis=0), values.std(axis=0)
    style = {"linewidth": 1.8, "label": LABELS[method]}
    band(ax, grid, mean - std, mean, mean + std, COLOURS[method], 0.15, **style)


def signal(results: ControlResults) -> Figure:
    """How much of each gradient was signal, along the run."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7, 4.4), layout="constrained")
        ax = figure.subplots()
        for method, runs in results.runs.items():
            if method in RIVALS:  # of which it is not known
                continue
            longest = max(one.signal.size for one in runs)
            padded = np.full((len(runs), longest), np.nan)
            for row, one in zip(padded, runs, strict=True):
                row[: one.signal.size] = one.signal
            split = np.array_split(padded, min(20, longest), axis=1)
            parts = [part for part in split if np.isfinite(part).any()]
            edges = np.cumsum([0] + [part.shape[1] for part in parts])
            means = [np.nanmean(part) for part in parts]
            ax.plot(edges[:-1] + 1, means, color=COLOURS[method], label=LABELS[method])
        ax.axhline(0, color="#bbbbbb", linewidth=0.8)
        ax.set(xlabel="generation", ylabel="|E g|² / E|g|²", ylim=(-0.1, 1.02))
        _in_decades(ax)
        ax.set_title(f"{results.settings.environment}: signal in the gradient")
        ax.legend(loc="best", fontsize=9)
    return figure
