"""Results -> pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from phenes import plots
from phenes_lab import palette
from phenes_lab.palette import AMBER, ES, GREEN, GREY, INK, PAES, PINK, SKY, SMALL, YELLOW
from phenes_lab.reproduce.frozenlake.results import Curve, FrozenlakeResults, gain, optimum, signal
from phenes_lab.reproduce.frozenlake.settings import LAST, VARIANCE

COLOURS = {
    "ES": ES,
    "PAES-SGD": PAES,
    "PAES": AMBER,
    "default": GREEN,
    "ES-tuned": SKY,
    "ES-softmax": PINK,
    "reparameterised": PINK,
    "mix": GREY,
    "PAES-free": YELLOW,
}
COLOURS |= {
    f"clean-{name}{step}": colour
    for name, colour in (("genotype", ES), ("phenotype", PAES))
    for step in ("", "-SGD")
}
LABELS = {
    "ES": "ES, argmax",
    "PAES-SGD": "PAES, SGD on alpha",
    "PAES": "PAES, natural",
    "default": "PAES, reward-to-go",
    "mix": "information mix",
    "ES-tuned": "ES, softmax, antithetic",
    "ES-softmax": "ES, softmax",
    "PAES-free": "PAES, natural, S free",
}
STYLE: dict[Any, Any] = SMALL | {
    "legend.frameon": True,
    "legend.framealpha": 0.8,
    "legend.edgecolor": "none",
}
SHOWN = 250  # generations of the learning curves, as in the paper
VALUE = "exact value of the greedy policy"


def figures(results: FrozenlakeResults, out: Path) -> list[Path]:
    """All figures, as PNG files in `out`."""
    drawn = {"main": main, "sweep": sweep, "time": clock, "estimators": estimators}
    if {"clean-genotype", "clean-phenotype"} <= set(results.methods):
        drawn["clean"] = clean
    with matplotlib.rc_context(STYLE):
        return [
            plots.save(draw(results), out / f"frozenlake-{name}.png", 120, STYLE)
            for name, draw in drawn.items()
        ]


def _figure(
    results: FrozenlakeResults, title: str, columns: int, rows: int = 1, height: float = 4.6
) -> tuple[Figure, Any]:
    s = results.settings
    figure = Figure(figsize=(4.6 * columns, height * rows + 0.4), layout="constrained")
    palette.titled(figure, f"{title} (N = {s.popsize}, {s.seeds} seeds)")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _band(ax: Axes, x: np.ndarray, runs: np.ndarray, colour: Any, label: str, **style: Any) -> None:
    """Mean and standard deviation over seeds."""
    mean, std = runs.mean(axis=0), runs.std(axis=0)
    low = np.maximum(mean - std, 0)
    palette.band(ax, x, low, mean, mean + std, colour, 0.15, label=label, **style)


def _learning(
    ax: Axes, curve: Curve, label: str, colour: Any = None, length: int | None = None, **style: Any
) -> None:
    runs = curve.value[:, :length]
    colour = COLOURS[curve.method] if colour is None else colour
    _band(ax, np.arange(1, runs.shape[1] + 1), runs, colour, label, **style)


def _levels(ax: Axes, target: float, side: str = "right") -> None:
    """The best there is under the step limit, and what counts as learnt."""
    best = optimum().limited
    for level, name, where in (
        (best, f"best possible: {best:.3f}", "bottom"),
        (target, f"learnt: {target:g}", "top"),
    ):
        ax.axhline(level, color=INK, linewidth=0.8, linestyle=":")
        place = (0.01 if side == "left" else 1, level)
        across = ("axes fraction", "data")
        ax.annotate(name, place, xycoords=across, ha=side, va=where, fontsize=8)
    ax.set_ylim(-0.02, 0.82)


def main(results: FrozenlakeResults) -> Figure:
    """The paper's figure: learning curves at the best setting, sensitivity of ES to sigma and of
    PAES to S.
    """
    figure, ((curves, spread, total),) = _figure(
        results, "FrozenLake-v1: mean and standard deviation over seeds", 3
    )
    for method in results.among("ES", "PAES-SGD", "PAES", "default"):
        best = results.best(method)
        label = f"{LABELS[method]} ({_short(best)})" if best.at else LABELS[method]
        _learning(curves, best, label, length=SHOWN, linewidth=1.8)
    curves.set(title="(a) learning curves at the best setting", xlabel="generation", ylabel=VALUE)
    _levels(curves, results.settings.target)
    curves.legend(loc="lower right", fontsize=8.5, borderaxespad=0.2)
    for method in results.among("ES", "ES-softmax"):
        _sensitivity(spread, results.curves(method), "sigma", LABELS[method], COLOURS[method])
    for floor, colour in zip(results.settings.floors, (PAES, PINK, INK), strict=False):
        chosen = results.curves("PAES-SGD", floor=floor)
        _sensitivity(total, chosen, "total", f"SGD on alpha, floor {floor:g}", colour)
    for method in results.among("PAES", "PAES-free"):
        colour = COLOURS[method] if method == "PAES" else "#B8A800"
        label = LABELS[method].removeprefix("PAES, ")
        _sensitivity(total, results.curves(method), "total", label, colour)
    spread.set(title=f"(b) ES: final value by σ, SGD {results.settings.rate:g}", xlabel="σ")
    total.set(title="(c) PAES: final value by S = Σ alpha", xlabel="S")
    for ax, ticks in ((spread, results.settings.sigmas), (total, results.settings.totals)):
        ax.set(xscale="log", ylabel=f"mean of the last {LAST} generations")
        ax.set(xticks=ticks, xticklabels=[f"{t:g}" for t in ticks])
        ax.xaxis.set_minor_locator(NullLocator())
        _levels(ax, results.settings.target, "left")
        ax.legend(loc="lower left" if ax is total else "lower right", fontsize=8.5)
    return figure


def _short(curve: Curve) -> str:
    """The swept number alone."""
    keys = {"sigma": "σ", "total": "S"}
    return ", ".join(
        f"{keys[name]} = {value:g}" for name, value in curve.at.items() if name in keys
    )


def _sensitivity(ax: Axes, curves: Sequence[Curve], by: str, label: str, colour: str) -> None:
    """Each series a little to the right of the one before it: many of them end at the same
    height.
    """
    shift = 1.06 ** len(ax.containers)
    x = [shift * c.at[by] for c in curves]
    mean, std = (np.array([getattr(np, stat)(c.final) for c in curves]) for stat in ("mean", "std"))
    ax.errorbar(
        x, mean, std, color=colour, marker="o", markersize=4, capsize=3, linewidth=1.5, label=label
    )


def sweep(results: FrozenlakeResults) -> Figure:
    """Learning curves of every setting."""
    settings = results.settings
    figure, axes = _figure(
        results, "Learning curves by setting: mean and standard deviation over seeds", 3, 2, 3.9
    )
    panels = [("ES", {}, "ES, argmax, by σ"), ("ES-softmax", {}, "ES, softmax, by σ")]
    panels += [
        ("PAES-SGD", {"floor": floor}, f"PAES, SGD on alpha, floor {floor:g}, by S")
        for floor in settings.floors[:2]
    ]
    panels += [
        ("PAES", {}, "PAES, natural, S kept"),
        ("PAES-free", {}, "PAES, natural, S free: by S at the start"),
    ]
    panels = [panel for panel in panels if panel[0] in results.parts]
    for ax in axes.ravel()[len(panels) :]:
        ax.set_axis_off()
    for ax, (method, at, title) in zip(axes.ravel(), panels, strict=False):
        chosen = results.curves(method, **at)
        shades = matplotlib.colormaps["viridis"](np.linspace(0, 0.92, len(chosen)))
        for curve, shade in zip(chosen, shades, strict=True):
            label = f"{curve.at.get('sigma', curve.at.get('total')):g}"
            _learning(ax, curve, label, colour=shade, linewidth=1.5)
        ax.set(title=title, xlim=(0, settings.generations))
        _levels(ax, settings.target)
        above = method == "ES-softmax"
        place = {"loc": "upper right" if above else "lower right"}
        place |= {"bbox_to_anchor": (1, 0.82) if above else (1, 0)}
        ax.legend(ncols=2, fontsize=8.5, title="σ" if "ES" in method[:2] else "S", **place)
    for ax in axes[-1]:
        ax.set_xlabel("generation")
    for ax in axes[:, 0]:
        ax.set_ylabel(VALUE)
    return figure


def clock(results: FrozenlakeResults) -> Figure:
    """Value against the time of one run by itself, on one core, without compilation."""
    figure, ((ax, bars),) = _figure(
        results, "Time of one run by itself on one core, compilation apart", 2
    )
    methods = results.among("ES", "ES-tuned", "PAES-SGD", "PAES", "default")
    for method in methods:
        best, each = results.best(method), results.per_generation(method)
        seconds = each * np.arange(1, results.settings.generations + 1)
        _band(ax, seconds, best.value, COLOURS[method], LABELS[method], linewidth=1.8)
    longest = max(results.per_generation(m) for m in methods) * min(
        SHOWN, results.settings.generations
    )
    ax.set(title="learning curves at the best setting", ylabel=VALUE)
    ax.set(xlabel="seconds", xlim=(0, longest))
    _levels(ax, results.settings.target)
    ax.legend(loc="lower right", fontsize=8.5)
    for k, method in enumerate(methods):
        curve, each = results.best(method), 1e3 * results.per_generation(method)
        bars.barh(-k, each, color=COLOURS[method], height=0.6)
        to = "never there"
        if np.isfinite(curve.median_first):
            to = f"{curve.median_first * each / 1e3:.2g} s to {results.settings.target:g}"
        bars.text(each, -k, f" {each:.2f} ms, {to}", va="center", fontsize=9)
    bars.set(title="a generation; median time to learn", xlabel="milliseconds")
    bars.set_yticks([-k for k in range(len(methods))])
    bars.set_yticklabels([LABELS[m] for m in methods])
    bars.set_xlim(0, 1.75 * bars.get_xlim()[1])
    return figure


def clean(results: FrozenlakeResults) -> Figure:
    """Same policies, same steps, only the estimator differs; and what its variance is."""
    totals, extra = results.settings.clean, VARIANCE in results.parts
    title = "Only the estimator differs: genotype (told theta) or phenotype (told what was done)"
    figure, axes = _figure(results, title, len(totals) + extra, 2, 3.7)
    steps = [("", "natural, S kept"), ("-SGD", "SGD on alpha")]
    for row, (suffix, how) in zip(
        axes, [step for step in steps if f"clean-genotype{step[0]}" in results.parts], strict=False
    ):
        for ax, total in zip(row, totals, strict=False):
            for name in ("genotype", "phenotype"):
                for k, curve in enumerate(results.curves(f"clean-{name}{suffix}", total=total)):
                    slow = f", rate {curve.at['rate']:g}" if k else ""
                    _learning(
                        ax, curve, f"{name}{slow}", linewidth=1.8, linestyle="--" if k else "-"
                    )
            ax.set(title=f"{how}, S = {total:g}", xlim=(0, results.settings.generations))
            _levels(ax, results.settings.target)
            ax.legend(loc="center right", fontsize=8.5)
        row[0].set_ylabel(VALUE)
    for ax in axes[1, : len(totals)]:
        ax.set_xlabel("generation")
    if extra:
        _variances(axes[0, -1], axes[1, -1], results)
    return figure


def _variances(above: Axes, below: Axes, results: FrozenlakeResults) -> None:
    place = np.arange(len(results.settings.clean))
    names = [f"S = {total:g}" for total in results.settings.clean]
    above.bar(place, gain(results), color=INK, width=0.5)
    for k, ratio in enumerate(gain(results)):
        above.text(k, ratio, f"{ratio:.3g}", ha="center", va="bottom")
    above.set(title="variance, genotype / phenotype", xticks=place, xticklabels=names)
    above.margins(y=0.12)
    for shift, which in ((-0.2, "genotype"), (0.2, "phenotype")):
        shares = signal(results, which)
        below.bar(place + shift, shares, width=0.38, color=COLOURS[f"clean-{which}"], label=which)
        for k, share in enumerate(shares):
            below.text(
                k + shift, max(share, 0), f"{share:.2g}", ha="center", va="bottom", fontsize=9
            )
    below.set(
        title="signal |E g|² / E|g|² at N = " + str(results.settings.popsize),
        xticks=place,
        xticklabels=names,
    )
    below.margins(y=0.3)
    below.legend(loc="upper left", fontsize=8.5, ncols=2)


def estimators(results: FrozenlakeResults) -> Figure:
    """All estimators on the one problem, each at its best setting."""
    figure, ((ax, dots),) = _figure(
        results, "All estimators on one problem, each at the best of its settings", 2, 1, 5.0
    )
    methods = results.among(
        "ES", "ES-softmax", "ES-tuned", "reparameterised", "mix", "PAES-SGD", "PAES", "default"
    )
    colours = dict(COLOURS, **{"ES-softmax": "#F0B7D4"})
    for k, method in enumerate(methods):
        best = results.best(method)
        runs = best.value[:, :SHOWN]
        name = LABELS.get(method, method)
        generation = np.arange(1, runs.shape[1] + 1)
        ax.plot(generation, runs.mean(axis=0), color=colours[method], linewidth=1.8, label=name)
        times = np.minimum(best.first, 1.15 * results.settings.generations)
        rows = np.full(times.size, -k) + np.linspace(-0.18, 0.18, times.size)
        dots.plot(times, rows, "o", color=colours[method], markersize=5, alpha=0.8)
        dots.plot([np.median(times)] * 2, [-k - 0.32, -k + 0.32], color=INK, linewidth=2)
    ax.set(title="mean over seeds", xlabel="generation", ylabel=VALUE)
    _levels(ax, results.settings.target)
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.22), fontsize=8.5)
    dots.axvline(1.07 * results.settings.generations, color=INK, linewidth=0.8, linestyle=":")
    dots.set(xscale="log", xlabel="generation (right of the line: never)")
    dots.set_yticks([-k for k in range(len(methods))])
    dots.set_title(f"first generation with {results.settings.target:g}, by seed")
    dots.set_yticklabels(
        [f"{LABELS.get(m, m)}\n{results.best(m).label}" for m in methods], fontsize=8.5
    )
    return figure
