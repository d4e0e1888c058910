"""Results -> pictures."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter, MaxNLocator

from phenes import plots
from phenes_lab.palette import AMBER, ES, GREEN, GREY, PAES, PINK, SKY, SMALL, band, titled
from phenes_lab.reproduce.contexts.compute import GRID, grid
from phenes_lab.reproduce.contexts.data import label_of, region_of
from phenes_lab.reproduce.contexts.results import ContextsResults, Curve
from phenes_lab.reproduce.contexts.settings import FULL, METHODS, MIXTURES, SETS, VARIANCES

# the paper's: genotype (ES) blue, phenotype (PAES) orange, and what is like them in their shades
COLOURS = {
    "phenotype": PAES,
    "genotype": ES,
    "mix": GREEN,
    "phenotype-value": AMBER,
    "phenotype-context": PINK,
    "banditron": "#000000",
    "epsilon-greedy": SKY,
    FULL: GREY,
    "hidden": "#7A3300",
    "weights-ES": "#004466",
    "weights-mix": "#00664B",
    "experts-phenotype": PAES,
    "experts-genotype": ES,
    "experts-EM": GREY,
}
DASHED = {"banditron", "epsilon-greedy", FULL, "experts-EM"}  # the others' methods
LABELS = {
    FULL: "logistic regression, all labels told",
    "mix": "information mix",
    "phenotype-value": "phenotype, f - mean",
    "phenotype-context": "phenotype, f - v(c)",
    "hidden": "phenotype, hidden layer",
    "banditron": "Banditron",
    "weights-ES": "weights, ES",
    "weights-mix": "weights, information mix",
    "experts-EM": "EM, all labels told",
    "experts-phenotype": "phenotype",
    "experts-genotype": "genotype: the expert asked",
}


def figures(results: ContextsResults, out: Path) -> list[Path]:
    """All figures, as PNG files in `out`."""
    drawn = {
        "accuracy": accuracy,
        "settings": by_setting,
        "variance": variance,
        "experts": experts,
        "regions": regions,
    }
    paths = []
    with matplotlib.rc_context(SMALL):
        for name, draw in drawn.items():
            figure = draw(results)
            if figure is not None:
                paths.append(plots.save(figure, out / f"contexts-{name}.png", dpi=110))
    return paths


def _panels(title: str, columns: int, height: float = 4.6) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5.0 * columns, height), layout="constrained")
    titled(figure, title)
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _band(ax: Axes, x: np.ndarray, runs: np.ndarray, method: str, label: str) -> None:
    """The median with the quartiles around it."""
    low, middle, high = np.quantile(runs, [0.25, 0.5, 0.75], axis=0)
    style = {"linewidth": 1.8, "linestyle": "--" if method in DASHED else "-", "label": label}
    band(ax, x, low, middle, high, COLOURS[method], 0.15, **style)


def accuracy(results: ContextsResults) -> Figure | None:
    """Accuracy against rounds, every method at its best setting."""
    sets = [name for name in SETS if results.methods(name)]
    if not sets:
        return None
    title = (
        f"Classification with bandit feedback: median and quartiles of {results.settings.seeds}"
        " seeds, each method at its best setting"
    )
    figure, axes = _panels(title, len(sets), 6.2)
    for ax, name in zip(axes, sets, strict=True):
        shown = [
            results.best(m, name) for m in results.methods(name) if not m.startswith("experts-")
        ]
        for curve in sorted(shown, key=lambda c: -np.median(c.final)):
            label = f"{LABELS.get(curve.method, curve.method)}: {np.median(curve.final):.3f}"
            _band(ax, curve.rounds, curve.accuracy, curve.method, label)
        ax.set(title=name, xlabel="rounds", ylabel="accuracy on the test set", xscale="log")
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.13), "ncols": 2}
        ax.legend(fontsize=8, title="after the last round", **below)
    return figure


def by_setting(results: ContextsResults) -> Figure | None:
    """What was tried: the final accuracy of every setting of every method on digits."""
    name = next((name for name in SETS if results.methods(name)), None)
    if name is None:
        return None
    curves = [
        c
        for m in results.methods(name)
        if not m.startswith("experts-")
        for c in results.curves(m, name)
    ]
    figure = Figure(figsize=(9, 0.24 * len(curves) + 1.2), layout="constrained")
    ax = figure.subplots()
    for row, curve in enumerate(reversed(curves)):
        colour, rows = COLOURS[curve.method], np.full(curve.final.size, row)
        dots = {"alpha": 0.45, "markersize": 4, "markeredgewidth": 0}
        ax.plot(curve.final, rows, "o", color=colour, **dots)
        middle = np.median(curve.final)
        ax.plot(middle, row, "|", color=colour, markersize=12, markeredgewidth=2.5)
    names = [f"{LABELS.get(c.method, c.method)}, {c.label}" for c in reversed(curves)]
    ax.set_yticks(range(len(curves)), names, fontsize=8)
    ax.set(
        title=f"{name}: every setting that was tried, each seed and the median",
        xlabel="accuracy on the test set after the last round",
    )
    ax.set_ylim(-0.8, len(curves) - 0.2)
    ax.grid(axis="x", alpha=0.3)
    return figure


def variance(results: ContextsResults) -> Figure | None:
    """Variance over that of the phenotype estimate along training."""
    panels = [
        (kind, name)
        for kind in VARIANCES
        for name in results.settings.sets
        if f"{kind}/{name}" in results.parts
    ]
    if not panels:
        return None
    figure, axes = _panels(
        "Variance of the estimate over that of the phenotype, on the same individuals", len(panels)
    )
    for ax, (kind, name) in zip(axes, panels, strict=True):
        part = results.parts[f"{kind}/{name}"]
        totals = results.settings.totals if kind == "variance" else (None,)
        for k, total in sorted(enumerate(totals), key=lambda pair: pair[1] or 0):
            for key in ("genotype", "mix"):
                if key in part:
                    ratio = part[key] if total is None else part[key][..., k]
                    _ratio(ax, part["rounds"], ratio, key, None if total is None else k, total)
        ax.axhline(1, color=plots.INK, linewidth=0.8, linestyle=":")
        ax.set(
            title=f"{'mixture, ' if kind != 'variance' else ''}{name}",
            xlabel="rounds",
            yscale="log",
            ylabel="variance / phenotype's",
        )
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        # numbers between the powers where there is one power only
        ax.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.4)))
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.legend(fontsize=8)
    return figure


def _ratio(
    ax: Axes, rounds: np.ndarray, ratio: np.ndarray, key: str, k: int | None, total: float | None
) -> None:
    low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75], axis=0)
    label = LABELS.get(key, key) + ("" if total is None else f", Σ alpha = {total:g}")
    style = ("-", "--", ":")[(k or 0) % 3]
    band(ax, rounds, low, middle, high, COLOURS[key], 0.12, linestyle=style, label=label)


def experts(results: ContextsResults) -> Figure | None:
    """Loss of the mixtures against rounds."""
    sets = [name for name in MIXTURES if results.has(name, "experts-phenotype")]
    if not sets:
        return None
    title = (
        f"Mixtures of {results.settings.experts} experts: expected loss, median and quartiles of"
        f" {results.settings.seeds} seeds"
    )
    figure, axes = _panels(title, len(sets))
    for ax, name in zip(axes, sets, strict=True):
        for method in (m for m in METHODS if m.startswith("experts-") and results.has(name, m)):
            _loss(ax, results.best(method, name))
        ax.set(
            title=name,
            xlabel="rounds (of EM: a sweep for each measurement)",
            ylabel="1 - P(right answer), test set",
            ylim=(0, None),
        )
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.legend(fontsize=8)
    return figure


def _loss(ax: Axes, curve: Curve) -> None:
    _band(ax, curve.rounds, curve.loss, curve.method, f"{LABELS[curve.method]}, {curve.label}")


def regions(results: ContextsResults) -> Figure | None:
    """Who speaks where, and what is answered there: the truth, and the seed with the median
    accuracy of each method.
    """
    shown = [
        m
        for m in ("experts-phenotype", "experts-genotype", "experts-EM")
        if results.has("regions", m)
    ]
    if not shown:
        return None
    figure = Figure(figsize=(3.1 * (1 + len(shown)), 6.6), layout="constrained")
    titled(
        figure,
        "Regions of the gate (above) and answers (below), at the seed with the median accuracy",
    )
    axes = figure.subplots(2, 1 + len(shown))
    _plane(axes[0, 0], region_of(grid()), "true regions", "Pastel1")
    _plane(axes[1, 0], label_of(grid()), "true labels", "Set2")
    for column, method in enumerate(shown, 1):
        final = results.best(method, "regions").final
        seed = int(np.argsort(final)[final.size // 2])
        speaker, answer = (
            results.at_the_end(method, "regions", what)[seed] for what in ("speaker", "answer")
        )
        who = LABELS[method].split(",")[0].split(":")[0]
        _plane(axes[0, column], speaker, f"{who}: who speaks", "Pastel1")
        _plane(axes[1, column], answer, f"accuracy {final[seed]:.3f}", "Set2")
    return figure


def _plane(ax: Axes, values: np.ndarray, title: str, colours: str) -> None:
    top = 8 if colours == "Pastel1" else 7
    shown = {"origin": "lower", "extent": (-1, 1, -1, 1), "interpolation": "nearest"}
    ax.imshow(values.reshape(GRID, GRID), cmap=colours, vmin=0, vmax=top, **shown)
    ax.axhline(0, color=plots.INK, linewidth=0.6, linestyle=":")
    ax.axvline(0, color=plots.INK, linewidth=0.6, linestyle=":")
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=10)
