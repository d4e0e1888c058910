"""Results -> pictures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from phenes import plots
from phenes_lab.palette import AMBER, ES, GREEN, INK, PAES, PINK, SMALL, band, panels, titled
from phenes_lab.reproduce.bbob.results import BbobResults
from phenes_lab.reproduce.bbob.settings import CURVES, MAIN, VALUE

COLOURS = {"ES": ES, "PAES": PAES, "PAES-Iq": GREEN, "printed": PINK, "printed-mean": AMBER}
COLOURS |= {f"{name}-value": COLOURS[name] for name in MAIN}
LABELS = {
    "PAES-Iq": "PAES, I[q]",
    "printed": "printed formula",
    "printed-mean": "printed formula, 1/N",
}
LABELS |= {f"{name}-value": f"{LABELS.get(name, name)}, by value" for name in MAIN}
WIDTHS = {"ES": 3.0, "PAES": 2.0, "PAES-Iq": 1.1}  # what lies below another line is still seen
HUGE = 1e12  # what diverged is cut here, or nothing else could be seen


def figures(results: BbobResults, out: Path) -> list[Path]:
    """All figures, as PNG files in `out`."""
    drawn = {"final": final, "selected": selected, "time": computation, "value": value}
    with matplotlib.rc_context(SMALL):
        pictures = {name: draw(results) for name, draw in drawn.items()}
        for page in (1, 2):
            for name, what in (("curves", "F_mean"), ("curves-at-mean", "f_mean")):
                pictures[f"{name}-{page}"] = curves(
                    results, range(12 * page - 11, 12 * page + 1), what
                )
        return [
            plots.save(picture, out / f"bbob-{name}.png", 120, SMALL)
            for name, picture in pictures.items()
            if picture is not None
        ]


def _runs(results: BbobResults) -> str:
    s = results.settings
    return (
        f"d = {s.dim}, N = {s.popsize}, {s.generations} generations, {s.seeds} seeds, input noise"
        f" {s.noise:g}"
    )


def final(results: BbobResults) -> Figure:
    """Above: gap at the end on every function. Below: the same as a share of the gap of ES, for
    F(mean) and for f(mean).
    """
    functions, methods = results.functions("ES", "PAES"), results.settings.methods
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=[1.4, 1], sharex=True)
    titled(
        figure,
        "Gap at the end on the BBOB functions: mean and standard deviation over seeds"
        f" ({_runs(results)})",
    )
    width = 0.8 / len(methods)
    for k, method in enumerate(methods):
        shift = (k - (len(methods) - 1) / 2) * width
        place = np.arange(len(functions)) + shift
        ends = [results.final(f, method) for f in functions]
        _bars(top, place, ends, width, method)
        if method != "ES":
            beside = np.arange(len(functions)) + (k - len(methods) / 2) * 0.3
            _shares(bottom, results, functions, method, beside)
    for k, function in enumerate(functions):
        floor = float(results.parts[function, "ES"]["F_nominal"])
        label = "F at the nominal optimum" if k == 0 else None
        top.plot([k - 0.45, k + 0.45], [floor, floor], color=INK, linewidth=1.2, label=label)
    top.set(yscale="log", ylabel="F(mean) - f_opt")
    top.set_ylim(top=4 * top.get_ylim()[1])  # room for the legend
    top.legend(ncols=len(methods) + 1, loc="upper right")
    bottom.axhline(1, color=COLOURS["ES"], linewidth=1.5)
    bottom.set(yscale="log", ylabel="gap / gap of ES")
    bottom.set(xticks=range(len(functions)), xlim=(-0.6, len(functions) - 0.4))
    bottom.set_xticklabels([f"f{f}" for f in functions])
    bottom.set_title(
        "The same over the gap of ES, with 2 standard errors (below the line: better than ES)"
    )
    _halves(bottom)
    bottom.legend(ncols=4, loc="lower left", bbox_to_anchor=(0, -0.28), borderaxespad=0)
    return figure


def _halves(ax: Axes) -> None:
    """Ticks at powers of 2, over the points and not over the longest error."""
    points = np.concatenate([np.asarray(line.get_ydata(), float) for line in ax.lines])
    points = points[np.isfinite(points) & (points > 0)]
    low, high = (
        int(edge)
        for edge in (np.floor(np.log2(points.min()) - 0.2), np.ceil(np.log2(points.max()) + 0.2))
    )
    ticks = 2.0 ** np.arange(low, high + 1, max(1, (high - low) // 8))
    ax.set(ylim=(2.0**low, 2.0**high), yticks=ticks, yticklabels=[f"{t:g}" for t in ticks])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(axis="y", alpha=0.25)


def _bars(
    ax: Axes, place: np.ndarray, ends: Sequence[np.ndarray], width: float, method: str
) -> None:
    mean, std = (
        np.array([getattr(np, stat)(np.minimum(end, HUGE)) for end in ends])
        for stat in ("mean", "std")
    )
    # on a logarithmic axis a bar that reaches to zero has no length: the lower end of the error
    # stays above a tenth of the mean
    error = np.stack([np.clip(std, 0.0, 0.9 * np.maximum(mean, 0.0)), std])
    ax.bar(place, mean, width, color=COLOURS[method], label=_label(method))
    ax.errorbar(place, mean, error, fmt="none", ecolor=INK, elinewidth=1, capsize=2)


def _shares(
    ax: Axes, results: BbobResults, functions: Sequence[int], method: str, place: np.ndarray
) -> None:
    for shift, what, face, name in (
        (-0.06, "F_mean", COLOURS[method], "F(mean)"),
        (0.06, "f_mean", "white", "f(mean)"),
    ):
        share, error = np.array([_share(results, f, method, what) for f in functions]).T
        error = np.stack([np.clip(2 * error, 0.0, 0.9 * np.maximum(share, 0.0)), 2 * error])
        colour, label = COLOURS[method], f"{_label(method)}: {name}"
        style: dict[str, Any] = {"markeredgecolor": colour, "ecolor": colour, "label": label}
        style |= {"elinewidth": 1, "markersize": 6, "fmt": "o" if what == "F_mean" else "D"}
        ax.errorbar(place + shift, share, error, markerfacecolor=face, **style)


def _share(results: BbobResults, function: int, method: str, what: str) -> tuple[float, float]:
    """Ratio of means and its standard error by the delta method."""
    a, b = (np.minimum(results.final(function, m, what), HUGE) for m in ("ES", method))
    if not (a.mean() > 0 and b.mean() > 0):
        return np.nan, np.nan
    ratio = b.mean() / a.mean()
    return ratio, ratio * np.hypot(
        *(np.std(v) / v.mean() / np.sqrt(max(v.size - 1, 1)) for v in (a, b))
    )


def selected(results: BbobResults) -> Figure | None:
    """The paper's three functions: F(mean) above, f(mean) below, with the printed formula beside
    the others.
    """
    functions = [f for f in CURVES if f in results.functions("ES", "PAES")]
    if not functions:
        return None
    figure = Figure(figsize=(4.4 * len(functions) + 0.5, 8), layout="constrained")
    axes = figure.subplots(2, len(functions), squeeze=False, sharex=True)
    titled(figure, f"Mean and standard deviation over seeds ({_runs(results)})")
    for column, function in zip(axes.T, functions, strict=True):
        methods = results.methods(function, (*results.settings.methods, "printed", "printed-mean"))
        for ax, what, name in zip(
            column, ("F_mean", "f_mean"), ("F(mean)", "f(mean)"), strict=True
        ):
            _panel(ax, results, function, methods, what)
            ax.set_title(f"{results.name(function)}: {name} - f_opt")
        column[1].set_xlabel("generation")
    _legend(figure, axes[0, 0])
    return figure


def curves(results: BbobResults, functions: Iterable[int], what: str) -> Figure | None:
    """A page of twelve."""
    drawn = [f for f in functions if f in results.functions("ES", "PAES")]
    if not drawn:
        return None
    figure, axes = panels(len(drawn), 3, (13 / 3, 3.1), room=(0, 0.8), shrink=False)
    name = what.replace("_mean", "(mean)")
    titled(figure, f"{name} - f_opt: mean and standard deviation over seeds ({_runs(results)})")
    for ax, function in zip(axes, drawn, strict=True):
        _panel(ax, results, function, results.methods(function, results.settings.methods), what)
        ax.set_title(results.name(function))
    for ax in axes[-3:]:
        ax.set_xlabel("generation")
    _legend(figure, axes[0])
    return figure


def _legend(figure: Figure, ax: Axes) -> None:
    """One for all panels, below them."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower left", ncols=7)


def _panel(
    ax: Axes, results: BbobResults, function: int, methods: Iterable[str], what: str
) -> None:
    """One function. What diverged leaves the picture at the top instead of setting its scale."""
    part = results.parts[function, "ES"]
    if what == "F_mean":
        floor = float(part["F_nominal"])
        label = "F at the nominal optimum"
        ax.axhline(floor, color=INK, linewidth=1, linestyle=":", label=label)
    for method in methods:
        runs = results.parts[function, method][what]
        shown = np.clip(np.nan_to_num(runs, nan=HUGE), -HUGE, HUGE)
        _band(ax, results.parts[function, method]["generations"], shown, method)
    ax.set(xscale="log", xlim=(1, results.settings.generations))
    shown = np.concatenate([results.parts[function, m][what] for m in methods if m in MAIN])
    low, high = float(shown.mean(axis=0).min()), float(shown.max())
    if 0 < low < high / 3:
        ax.set(yscale="log", ylim=(low / 3, 2 * high))
    else:  # hardly anything happens: a logarithm would not show more, and its ticks less
        ax.set_ylim(shown.min() - 0.1 * (high - shown.min()), high + 0.3 * (high - shown.min()))


def _band(ax: Axes, generations: np.ndarray, runs: np.ndarray, method: str) -> None:
    """Mean and standard deviation; its lower side ends at a tenth of the mean, where a logarithmic
    axis would run away.
    """
    mean, std = runs.mean(axis=0), runs.std(axis=0)
    dashed = method in VALUE or method in ("printed", "printed-mean")
    width = WIDTHS.get(method.removesuffix("-value"), 1.8)
    style = {"linewidth": width, "linestyle": "--" if dashed else "-", "label": _label(method)}
    low = np.maximum(mean - std, 0.1 * mean)
    band(ax, generations, low, mean, mean + std, COLOURS[method], 0.2, **style)


def _label(method: str) -> str:
    return LABELS.get(method, method)


def computation(results: BbobResults) -> Figure:
    """Seconds of a run: bars for the mean over seeds, the standard deviation, and a dot for each
    run.
    """
    functions, methods = results.functions("ES", "PAES"), results.settings.methods
    figure = Figure(figsize=(13, 4.6), layout="constrained")
    ax = figure.subplots()
    width = 0.8 / len(methods)
    for k, method in enumerate(methods):
        place = np.arange(len(functions)) + (k - (len(methods) - 1) / 2) * width
        runs = np.array([results.parts[f, method]["seconds"] for f in functions])
        style = {"color": COLOURS[method], "alpha": 0.55, "label": _label(method)}
        ax.bar(place, runs.mean(axis=1), width, yerr=runs.std(axis=1), **style)
        spread = np.linspace(-0.3, 0.3, runs.shape[1]) * width
        dots = (place[:, None] + spread[None]).ravel()
        ax.plot(dots, runs.ravel(), ".", color=INK, markersize=2.5)
    ax.set(
        xticks=range(len(functions)), xlim=(-0.6, len(functions) - 0.4), ylabel="seconds of a run"
    )
    ax.set_xticklabels([f"f{f}" for f in functions])
    ax.set_title(
        "Time of a run on one core, compilation apart: mean, standard deviation, a dot for each"
        f" ({_runs(results)})"
    )
    ax.legend(ncols=len(methods), loc="upper right")
    ax.margins(y=0.15)
    return figure


def value(results: BbobResults) -> Figure | None:
    """Where PAES or the paper's account of it is in doubt: weights by rank against weights by
    value.
    """
    functions = [
        f
        for f in results.settings.valued
        if f in results.functions("ES", "PAES", "ES-value", "PAES-value")
    ]
    if not functions:
        return None
    figure = Figure(figsize=(6.5 * len(functions), 8.6), layout="constrained")
    axes = figure.subplots(2, len(functions), squeeze=False, height_ratios=[1.5, 1])
    titled(figure, f"Weights by rank against weights by value ({_runs(results)})")
    for column, function in zip(axes.T, functions, strict=True):
        methods = results.methods(function, (*MAIN, *VALUE))
        _panel(column[0], results, function, methods, "F_mean")
        column[0].set(title=f"{results.name(function)}: F(mean) - f_opt", xlabel="generation")
        _dots(column[1], results, function, methods)
    _legend(figure, axes[0, 0])
    return figure


def _dots(ax: Axes, results: BbobResults, function: int, methods: Sequence[str]) -> None:
    """The end of every run, and the mean."""
    for k, method in enumerate(methods):
        ends = np.minimum(results.final(function, method), HUGE)
        hollow = "white" if method in VALUE else COLOURS[method]
        style = {"markerfacecolor": hollow, "markeredgecolor": COLOURS[method], "alpha": 0.7}
        ax.plot(ends, np.full(ends.size, -k), "o", **style)
        ax.plot([ends.mean()] * 2, [-k - 0.3, -k + 0.3], color=INK, linewidth=2)
    ax.set(xscale="log", title="at the end: each run, and the mean", xlabel="F(mean) - f_opt")
    ax.set_yticks([-k for k in range(len(methods))])
    ax.set_yticklabels([_label(m) for m in methods])
