"""The paper's claims about this environment, and ours, each with what was measured and a verdict by a stated rule."""

import math

import numpy as np

from phenes.experiments.control.results import Results
from phenes.experiments.report import Claim, difference, mean_se, number, plus_minus, verdict


def claims(results: Results) -> list[Claim]:
    out = []
    for needed, about in (
        (("ES-paper", "PAES-paper"), faster),
        (("ES-paper", "PAES-theta"), unbiased),
        (("default",), ours),
        (("default", "genotype"), clean),
        (("default", "ES"), beside),
    ):
        if all(name in results.runs for name in needed):
            out.append(about(results))
    return out


def times(results: Results, method: str) -> str:
    middle = results.median_first(method)
    runs = results.runs[method]
    end = (
        f"{number(middle)} generations, {number(float(np.median([r.episodes for r in runs])))} episodes"
        if math.isfinite(middle)
        else "never"
    )
    return f"{end} (median; {results.reached(method)} of {len(runs)} seeds in at most {results.settings.length(method)} generations)"


def bounded(results: Results, method: str) -> np.ndarray:
    """First generations, with those that never got there one past the end: a bound, so differences are understated."""
    return np.minimum(results.firsts(method), results.settings.length(method) + 1.0)


def _faster(results: Results, text: str, es: str, paes: str) -> Claim:
    d = difference(bounded(results, es), bounded(results, paes))
    a, b = results.median_first(es), results.median_first(paes)
    if math.isfinite(a) or math.isfinite(b):
        found, holds, partly = f"z = {number(d.z, 2)}", d.z < -2, b < a
    else:
        d = difference(results.values(es), results.values(paes))
        found = f"return at the end: {_values(results, es)} and {_values(results, paes)}, z = {number(d.z, 2)}"
        holds, partly = False, d.z > 2
    return Claim(
        text,
        f"return {results.settings.target:g}: {es} {times(results, es)}; {paes} {times(results, paes)}; {found}",
        "holds: fewer generations to the target by over 2 standard errors; partly: a lower median, or if neither gets there a higher "
        "return at the end by over 2 standard errors",
        verdict(bool(holds), bool(partly)),
    )


def faster(results: Results) -> Claim:
    return _faster(
        results, "Section 6.2: PAES converges faster than ES in terms of generations (the paper's settings)", "ES-paper", "PAES-paper"
    )


def unbiased(results: Results) -> Claim:
    return _faster(results, "The same with the score at theta_i, which is unbiased (erratum 17)", "ES-paper", "PAES-theta")


def clean(results: Results) -> Claim:
    return _faster(results, "The default learns faster than the same with the genotype score", "genotype", "default")


def beside(results: Results) -> Claim:
    d = [float(np.median([one.episodes for one in results.runs[name]])) for name in ("ES", "default")]
    return Claim(
        "The default needs fewer episodes than ES with settings that suit it",
        f"return {results.settings.target:g}: ES {times(results, 'ES')}; default {times(results, 'default')}",
        "holds: fewer episodes to the target by the median",
        verdict(d[1] < d[0]),
    )


def ours(results: Results) -> Claim:
    n = len(results.runs["default"])
    return Claim(
        f"The default reaches {results.settings.target:g} without tuning",
        f"{times(results, 'default')}; return of the mean policy at the end {_values(results, 'default')}",
        "holds: at least 9 of 10 seeds; partly: at least half",
        verdict(results.reached("default") >= 0.9 * n, results.reached("default") >= 0.5 * n),
    )


def _values(results: Results, method: str) -> str:
    return plus_minus(*mean_se(results.values(method)))
