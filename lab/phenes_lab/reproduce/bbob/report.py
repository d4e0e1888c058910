"""Results -> report.md, report.html and a summary; what the disputed functions show."""

from pathlib import Path
from typing import Any

import numpy as np

from phenes_lab.report import (
    Difference,
    Document,
    finite,
    mean_se,
    number,
    plus_minus,
    summary_head,
)
from phenes_lab.reproduce.bbob.claims import claims
from phenes_lab.reproduce.bbob.results import BbobResults, Score, score
from phenes_lab.reproduce.bbob.settings import EXPERIMENT, METHODS, VALUE

PICTURES = {
    "bbob-final.png": (
        "Above, as in the paper, ES blue and PAES orange: gap at the end on all functions, error"
        " bars: standard deviation. Below: beside that of ES, with 2 standard errors."
    ),
    "bbob-selected.png": (
        "The three functions that the paper shows, panel by panel, and what the printed formula"
        " does on them."
    ),
    "bbob-value.png": "Weights by rank (full) against weights by value (dashed, hollow).",
    "bbob-curves-1.png": "All functions, first page: F(mean), the objective.",
    "bbob-curves-2.png": "All functions, second page: F(mean), the objective.",
    "bbob-curves-at-mean-1.png": "All functions, first page: f(mean), without noise.",
    "bbob-curves-at-mean-2.png": "All functions, second page: f(mean), without noise.",
    "bbob-time.png": "Time of a run.",
}


def report(results: BbobResults, out: Path) -> tuple[Path, Path]:
    """Writes both files. Figures that are in `out` are shown in them."""
    document = Document(
        "Gaussian input noise on the BBOB functions (paper, section 6.1 and appendix)"
    )
    _setting(document, results)
    document.claims(claims(results))
    _all_functions(document, results)
    for function in results.settings.valued:
        _disputed(document, results, function)
    _projections(document, results)
    _times(document, results)
    document.figures(out, PICTURES)
    return document.write(out)


def _setting(document: Document, results: BbobResults) -> None:
    s = results.settings
    document.text(
        f"{len(s.functions)} functions, instance {s.instance}, d = {s.dim}, N = {s.popsize},"
        f" {s.generations} generations, {s.seeds} seeds, input noise {s.noise:g}, search from N(0,"
        f" {s.variance:g} I), SGD with rate {s.learning_rate:g} on the natural gradient; weights"
        f" linear in the rank over the best {100 * s.fraction:g} % from {s.largest:g} down, summed"
        f" over the population (with the printed 1/N the step is {s.popsize} times shorter: erratum"
        f" 27). phenes {results.version}, state of the run: {results.status}."
    )
    document.text(
        "All values are gaps to the smallest value of f. f(mean) is f at the mean of the search"
        f" law; F(mean) = E f(x) is what is optimised, estimated with {s.draws} draws of the noise,"
        " the same for all methods, seeds and generations of a function. ± is the standard error"
        " over seeds. Differences are tested by Welch's test; z is the difference over its"
        " standard error."
    )
    document.table(
        ["method", "what it is"], [[name, METHODS[name].about] for name in _ran(results)]
    )


def _ran(results: BbobResults) -> list[str]:
    return [name for name in METHODS if results.functions(name)]


def _all_functions(document: Document, results: BbobResults) -> None:
    document.heading("All functions: F(mean) at the end")
    methods = [m for m in ("ES", "PAES", "PAES-Iq") if results.functions(m)]
    others = [m for m in methods if m != "ES"]
    head = ["function", *methods, *(f"{m} - ES, z, p" for m in others), "F at the nominal optimum"]
    document.table(head, [_row(results, f, methods, others) for f in results.functions(*methods)])
    for other in others:
        document.text(f"{other} against ES: {_score(score(results, 'ES', other))}")
        document.text(f"The same in f(mean): {_score(score(results, 'ES', other, 'f_mean'))}")
    measures = {
        "f_mean": "f(mean)",
        "population": "mean of the population",
        "best": "best of the population",
    }
    document.heading("All functions: other measures at the end")
    document.text(
        "The mean of the population counts the spread of the search law, which F(mean) does not;"
        " the best of it is luck."
    )
    pairs = [(what, m) for what in measures for m in ("ES", "PAES")]
    rows = [
        [results.name(f), *(results.gap(f, m, what) for what, m in pairs)]
        for f in results.functions("ES", "PAES")
    ]
    document.table(["function", *(f"{measures[what]}: {m}" for what, m in pairs)], rows)


def _row(results: BbobResults, f: int, methods: list[str], others: list[str]) -> list[str]:
    gaps = [results.gap(f, m) for m in methods]
    tests = [_difference(results.against(f, "ES", m)) for m in others]
    return [results.name(f), *gaps, *tests, number(float(results.parts[f, "ES"]["F_nominal"]))]


def _difference(d: Difference) -> str:
    return f"{number(d.value)}, {number(d.z, 2)}, {number(d.p, 2)}"


def _score(s: Score) -> str:
    names = lambda functions: ", ".join(f"f{f}" for f in functions) or "none"  # noqa: E731
    return (
        f"lower mean on {s.wins} of {s.n} functions, higher on {s.losses} (two-sided sign test p ="
        f" {number(s.p, 2)}); clearly lower (Welch, Holm) on {len(s.clear_wins)}"
        f" ({names(s.clear_wins)}), higher by as much on {len(s.clear_losses)}"
        f" ({names(s.clear_losses)})."
    )


def _disputed(document: Document, results: BbobResults, function: int) -> None:
    """Is the result on this function one of the weights or one of the estimator?"""
    if function not in results.functions("ES", "PAES", "ES-value", "PAES-value"):
        return
    document.heading(f"f{function}: weights by rank and weights by value")
    rows = []
    for method in (m.removesuffix("-value") for m in results.methods(function, VALUE)):
        pair = (method, f"{method}-value")
        expected, at_mean = (
            [results.gap(function, m, what) for m in pair] for what in ("F_mean", "f_mean")
        )
        traces = [mean_se(results.final(function, m, "trace"))[0] for m in pair]
        change = _difference(results.against(function, *pair))
        sizes = ", ".join(number(trace, 2) for trace in traces)
        rows.append([method, *expected, change, *at_mean, sizes])
    head = [
        f"{what}, by {weights}" for what in ("F(mean)", "f(mean)") for weights in ("rank", "value")
    ]
    head.insert(2, "by value - by rank, z, p")
    document.table(["method", *head, "trace of Sigma, rank and value"], rows)
    document.text(rank_bias(results, function))
    document.text(_without_noise(results, function))


def rank_bias(results: BbobResults, function: int) -> str:
    """PAES - ES within ranks and within values, and what the two say together.

    Rank weights do not maximise E f but an expectation of ranks. If that is what separates the
    methods, weights by value, which follow E f, must remove the difference or turn it round.
    """
    rank = results.against(function, "ES", "PAES")
    by_value = results.against(function, "ES-value", "PAES-value")
    numbers = (
        f"PAES - ES is {plus_minus(rank.value, rank.se)} (z = {number(rank.z, 2)}) with weights by"
        f" rank and {plus_minus(by_value.value, by_value.se)} (z = {number(by_value.z, 2)}) with"
        " weights by value."
    )
    if not rank.above:
        side = "lower" if rank.below else "not clearly different"
        return (
            f"{numbers} With weights by rank PAES is {side}: there is no loss of PAES here for a"
            " bias of ranks to explain."
        )
    biased = [m for m in ("ES", "PAES") if results.against(function, m, f"{m}-value").below]
    better = f" Weights by value end lower for {' and '.join(biased) or 'neither'}."
    if by_value.above:
        return f"{numbers} PAES loses in both: ranks alone do not explain it.{better}"
    turned = "PAES is ahead" if by_value.below else "the difference is not clear"
    return (
        f"{numbers} PAES loses with ranks only; with values {turned}, as a bias of the ranks would"
        f" have it.{better}"
    )


def _without_noise(results: BbobResults, function: int) -> str:
    """f(mean) against F(mean), and the two metrics: is it the place that is worse, or only what the
    noise makes of it?
    """
    at_mean, expected = (
        results.against(function, "ES", "PAES", what) for what in ("f_mean", "F_mean")
    )
    text = (
        f"Without noise, f(mean), PAES - ES is {plus_minus(at_mean.value, at_mean.se)} (z ="
        f" {number(at_mean.z, 2)})"
    )
    if at_mean.below and expected.above:
        text += (
            ": PAES is closer to the minimum of f and further from that of F. It converges, to"
            " another place than F asks for."
        )
    elif (at_mean.below and expected.below) or (at_mean.above and expected.above):
        text += ": the same way as in F."
    else:
        text += "; with F this says nothing beyond chance."
    if (function, "PAES-Iq") not in results.parts:
        return text
    d = results.against(function, "ES", "PAES-Iq")
    beyond = "beyond" if d.below or d.above else "within"
    numbers = f"{plus_minus(d.value, d.se)} in F, {beyond} chance by Welch's test ({d})"
    return f"{text} With the metric of ES, PAES-Iq - ES is {numbers}."


def _projections(document: Document, results: BbobResults) -> None:
    document.heading("Projections")
    s, rows = results.settings, []
    for method in _ran(results):
        counts, skipped = (
            np.array([results.final(f, method, what).mean() for f in results.functions(method)])
            for what in ("projected", "skipped")
        )
        spread = f"{counts.min():.0f} to {counts.max():.0f}"
        means = f"{counts.mean():.0f}", spread, f"{skipped.mean():.0f}"
        rows.append([method, str(counts.size), *means])
    document.text(
        f"Generations of {s.generations} in which the updated Sigma had left the positive definite"
        " matrices and was projected back, mean over seeds; and in which no step was taken because"
        " the direction was not finite."
    )
    document.table(
        ["method", "functions", "projected: mean over functions", "from, to", "skipped"], rows
    )


def _times(document: Document, results: BbobResults) -> None:
    document.heading("Time")
    s, rows = results.settings, []
    for method in _ran(results):
        parts = [results.parts[f, method] for f in results.functions(method)]
        runs = np.concatenate([part["seconds"] for part in parts])
        compilation = np.mean([float(part["compilation"]) for part in parts])
        each = f"{1e6 * runs.mean() / s.generations:.0f}"
        whole = f"{compilation:.1f}", f"{results.cost[method]:.0f}"
        rows.append([method, plus_minus(*mean_se(runs)), each, *whole])
    document.text(
        "Every run is timed by itself on one core: the same compiled program is called with another"
        " key, one seed after the other. Compilation, once for each function and method, is apart,"
        " and so is the estimation of F."
    )
    head = ["seconds of a run", "microseconds a generation", "seconds of compilation"]
    document.table(["method", *head, "all of it, seconds of a core"], rows)
    document.sessions(results.sessions)


def summary(results: BbobResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    functions = {f"f{f:02d}": _function(results, f) for f in results.functions()}
    return {
        **summary_head(EXPERIMENT, results, claims(results)),
        "scores": {
            f"{b} against {a}": vars(score(results, a, b))
            for a, b in (("ES", "PAES"), ("ES", "PAES-Iq"))
        },
        "functions": functions,
    }


def _function(results: BbobResults, function: int) -> dict[str, Any]:
    methods = results.methods(function)
    first = results.parts[function, methods[0]] if methods else {}
    levels = {what: finite(float(first[what]), 6) for what in ("F_start", "F_nominal") if first}
    return {
        "name": results.name(function),
        **levels,
        "methods": {m: _method(results, function, m) for m in methods},
    }


def _method(results: BbobResults, function: int, method: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for what in ("F_mean", "f_mean", "population", "best"):
        out[what] = [finite(v, 6) for v in mean_se(results.final(function, method, what))]
    part = results.parts[function, method]
    out["seconds"] = [finite(v, 3) for v in mean_se(part["seconds"])]
    out["projected"] = float(np.mean(part["projected"][:, -1]))
    if method != "ES" and (function, "ES") in results.parts:
        value, se, z, p, _ = results.against(function, "ES", method)
        digits = {"difference": (value, 6), "se": (se, 6), "z": (z, 3), "p": (p, 3)}
        out["against ES"] = {name: finite(*each) for name, each in digits.items()}
    return out
