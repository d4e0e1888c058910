"""Results -> report.md, report.html and a summary."""

import math
from pathlib import Path
from typing import Any

from phenes.rl.tabular.learners import START
from phenes_lab.report import Document, finite, mean_se, number, plus_minus, summary_head
from phenes_lab.reproduce.frozenlake.claims import claims
from phenes_lab.reproduce.frozenlake.results import Curve, FrozenlakeResults, gain, optimum, signal
from phenes_lab.reproduce.frozenlake.settings import (
    ENVIRONMENT,
    EXPERIMENT,
    LAST,
    METHODS,
    VARIANCE,
)

PICTURES = {
    "frozenlake-main.png": (
        "The paper's figure, panel by panel, ES blue and PAES orange. (a) at the best setting of"
        " each, as the paper's text says; its caption has σ = 0.01 and S = 1, with which ES learns"
        " nothing here. (b, c) mean of the last generations, error bars: standard deviation over"
        " seeds."
    ),
    "frozenlake-sweep.png": "Learning curves of every setting: the paper's appendix, and more.",
    "frozenlake-clean.png": (
        "The clean experiment: the same law of policies and the same steps. Right: variances on the"
        " same populations."
    ),
    "frozenlake-estimators.png": "All estimators on the same task.",
    "frozenlake-time.png": "Wall-clock time, as in the paper's appendix.",
}


def report(results: FrozenlakeResults, out: Path) -> tuple[Path, Path]:
    """Writes both files. Figures that are in `out` are shown in them."""
    document = Document(
        "Exact Rao-Blackwellisation on FrozenLake-v1 (paper, section 6.2 and appendix)"
    )
    _setting(document, results)
    document.claims(claims(results))
    document.heading("All settings")
    for method in results.methods:
        document.text(f"{method}: {METHODS[method].about}.")
        _settings_of(document, results, method)
    _variances(document, results)
    _times(document, results)
    document.figures(out, PICTURES)
    return document.write(out)


def _setting(document: Document, results: FrozenlakeResults) -> None:
    s, (limit, limited, free) = results.settings, optimum()
    document.text(
        f"{ENVIRONMENT} (4x4, slippery), N = {s.popsize}, {s.generations} generations, {s.seeds}"
        " seeds, standardised weights (all 0 where returns do not differ), one episode for each"
        f" individual. phenes {results.version}, state of the run: {results.status}."
    )
    document.text(
        "Values are those of the greedy policy of the mean after each update, computed exactly"
        f" from the transition table. Gymnasium cuts episodes off at {limit} steps, and the best"
        f" value is then {number(limited, 4)}; without the limit it is {number(free, 4)}. All"
        f" methods learn and are judged with the limit. Learnt means {s.target:g}. ± is the"
        " standard error over seeds."
    )
    document.text(
        f"Readings. The first logits of ES have standard deviation {START:g}; N(0, 0.01) read as a"
        " variance is ES-far below, which starts ten times as far out. Plain SGD on alpha leaves"
        " the positive numbers (erratum 22) and is given a floor, which the paper does not"
        " mention. Rates of natural steps are in units of 1 + S."
    )


def _settings_of(document: Document, results: FrozenlakeResults, method: str) -> None:
    head = ["setting", f"value, last {LAST}", "without limit", "actions drawn, at the end"]
    head += ["first at the target", "seeds", "collapsed", "population, at the end"]
    rows = [_row(curve) for curve in results.curves(method)]
    document.table([*head, "weights 0, start"], rows)


def _row(curve: Curve) -> list[str]:
    first = number(curve.median_first) if math.isfinite(curve.median_first) else "never"
    unlimited = curve.unlimited[:, -LAST:].mean(axis=1)
    population = float(curve.population[:, -LAST:].mean())
    start = float(curve.flat[:, :LAST].mean())
    counts = [f"{curve.reached} of {curve.first.size}", str(curve.collapsed)]
    values = [plus_minus(*mean_se(v)) for v in (curve.final, unlimited, curve.stochastic)]
    ends = [number(population), number(start, 2)]
    return [curve.label or "-", *values, first, *counts, *ends]


def _variances(document: Document, results: FrozenlakeResults) -> None:
    if VARIANCE not in results.parts:
        return
    document.heading("Variance on the same populations")
    generations = results.parts[VARIANCE]["gain"].shape[-1]
    document.text(
        f"Both estimators on the same individuals, over the first {generations} generations of the"
        " phenotype estimator (natural gradient, S kept); medians over seeds and generations in"
        " which the weights are not all 0. Signal: |E g|² / E|g|², what is not noise."
    )
    columns = (gain(results), signal(results, "genotype"), signal(results, "phenotype"))
    rows = [
        [f"{t:g}", *(number(float(c[k])) for c in columns)]
        for k, t in enumerate(results.settings.clean)
    ]
    document.table(
        ["S", "variance, genotype / phenotype", "signal, genotype", "signal, phenotype"], rows
    )


def _times(document: Document, results: FrozenlakeResults) -> None:
    document.heading("Time")
    rows = []
    for method in results.methods:
        part = results.parts[method]
        runs = results.settings.seeds * len(results.curves(method))
        alone = f"{1e3 * results.per_generation(method):.2f}" if "timed" in part else "-"
        each = 1e3 * float(part["running"]) / runs / results.settings.generations
        rows.append([method, alone, f"{each:.2f}", str(runs), f"{float(part['compilation']):.1f}"])
    document.text(
        "Milliseconds a generation of one run by itself on one core (at the best setting), and as a"
        " share of all seeds and settings run together, which is how the experiment is computed."
    )
    document.table(
        ["method", "ms a generation, alone", "ms, together", "runs", "seconds of compilation"], rows
    )
    document.sessions(results.sessions)
    parts = [results.parts[method] for method in results.methods]
    total = sum(float(part["running"]) + float(part["compilation"]) for part in parts)
    document.text(f"Computing and compiling, added up over processes: {total:.0f} seconds.")


def summary(results: FrozenlakeResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    return {
        **summary_head(EXPERIMENT, results, claims(results)),
        "methods": {
            name: [_numbers(curve) for curve in results.curves(name)] for name in results.methods
        },
        "best": {name: results.best(name).at for name in results.methods},
        "gain": (
            {f"{t:g}": finite(gain(results)[k]) for k, t in enumerate(results.settings.clean)}
            if VARIANCE in results.parts
            else {}
        ),
    }


def _numbers(curve: Curve) -> dict[str, Any]:
    return {
        **curve.at,
        "final": [finite(v) for v in mean_se(curve.final)],
        "unlimited": finite(float(curve.unlimited[:, -LAST:].mean())),
        "stochastic": finite(float(curve.stochastic.mean())),
        "first": finite(curve.median_first),
        "reached": curve.reached,
        "collapsed": curve.collapsed,
    }
