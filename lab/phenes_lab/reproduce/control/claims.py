"""The paper's claims about this environment, and ours, each with what was measured and a verdict by
a stated rule.
"""

import math
from collections.abc import Callable

import numpy as np

from phenes_lab.report import CLEARLY, Claim, difference, mean_se, number, plus_minus, verdict
from phenes_lab.reproduce.control.results import ControlResults
from phenes_lab.reproduce.control.settings import RIVALS


def claims(results: ControlResults) -> list[Claim]:
    """Those that the methods of this run have something to say about."""
    out = [
        about(results, text, *needed)
        for needed, about, text in WANTED
        if all(name in results.runs for name in needed)
    ]
    rival = results.best_rival()
    if "default" in results.runs and rival is not None:
        count = sum(name in RIVALS for name in results.runs)
        text = "The default needs fewer episodes than evosax Open_ES, the best of"
        out.append(fewer(results, f"{text} {count} settings", rival, "default"))
    if "default" in results.runs and results.settings.keep_on:
        out.append(kept(results))
    return out


def times(results: ControlResults, method: str) -> str:
    middle = results.median_first(method)
    end = (
        f"{count(middle)} generations, {count(results.episodes(method))} episodes"
        if math.isfinite(middle)
        else "never"
    )
    of = (
        f"{results.reached(method)} of {len(results.runs[method])} seeds in at most"
        f" {results.settings.length(method)} generations"
    )
    if results.stops:
        of += f", {results.solved(method)} proved on 100 episodes"
    return f"{end} (median; {of})"


def count(value: float) -> str:
    """A median of whole numbers, which may be half of one."""
    return f"{value:,.1f}".removesuffix(".0") if math.isfinite(value) else "never"


def seeds(results: ControlResults, *methods: str) -> int:
    """Of the method that has fewest."""
    return min(len(results.runs[method]) for method in methods)


def bounded(results: ControlResults, method: str) -> np.ndarray:
    """First generations, with those that never got there one past the end: a bound, so differences
    are understated.
    """
    return np.minimum(results.firsts(method), results.settings.length(method) + 1.0)


def faster(results: ControlResults, text: str, es: str, paes: str) -> Claim:
    d = difference(bounded(results, es), bounded(results, paes))
    a, b = results.median_first(es), results.median_first(paes)
    if math.isfinite(a) or math.isfinite(b):
        ratio = float(np.median(bounded(results, es))) / float(np.median(bounded(results, paes)))
        least = "" if math.isfinite(a) else "at least "
        found, holds, partly = (
            f"{least}{number(ratio)} times fewer, {d}",
            d.below,
            b < a,
        )
    else:
        d = difference(results.values(es), results.values(paes))
        late = " and ".join(plus_minus(*mean_se(results.lately(name))) for name in (es, paes))
        found = (
            f"return of the policies that are kept: {_values(results, es)} and"
            f" {_values(results, paes)}, {d}; in the last tenth of the generations: {late}"
        )
        holds, partly = False, d.above
    return Claim(
        text,
        f"return {results.settings.target:g}: {es} {times(results, es)}; {paes}"
        f" {times(results, paes)}; {found}",
        f"holds: fewer generations to the target {CLEARLY}; partly: a lower median, or if neither"
        f" gets there a higher return of what is kept {CLEARLY}",
        verdict(bool(holds), bool(partly), seeds=seeds(results, es, paes)),
    )


def fewer(results: ControlResults, text: str, other: str, default: str) -> Claim:
    return Claim(
        text,
        f"return {results.settings.target:g}: {other} {times(results, other)}; {default}"
        f" {times(results, default)}",
        "holds: fewer episodes to the target by the median",
        verdict(
            results.episodes(default) < results.episodes(other),
            seeds=seeds(results, other, default),
        ),
    )


def ours(results: ControlResults, text: str, default: str) -> Claim:
    n, bar = len(results.runs[default]), results.settings.bar
    solved = results.solved("default")
    many, half = solved >= 0.9 * n, solved >= 0.5 * n
    within = bar is None or results.episodes("default") <= bar
    return Claim(
        text.format(results.settings.target) + ("" if bar is None else f", in {bar} episodes"),
        f"{times(results, 'default')}; proved by {solved} of {n}; return of the mean policy that is"
        f" kept {_values(results, 'default')}",
        "holds: at least 9 of 10 seeds"
        + ("" if bar is None else ", and the median of the episodes")
        + "; partly: at least half of the seeds",
        verdict(many and within, half, seeds=n),
    )


def kept(results: ControlResults) -> Claim:
    """Of the looks at the mean policy after the first at the target."""
    target, lowest = results.settings.target, []
    for one in results.runs["default"]:
        later = one.mean_policy[one.at >= one.first]
        lowest.append(float(later.min()) if later.size else math.nan)
    good = [low >= 0.9 * target for low in lowest]
    return Claim(
        "The default does not collapse after it got there",
        "lowest look at the mean policy afterwards, by seed:"
        f" {', '.join(number(low, 4) for low in lowest)}",
        "holds: never below nine tenths of the target, with every seed; partly: with at least half",
        verdict(all(good), sum(good) >= 0.5 * len(good), seeds=len(good)),
    )


def _values(results: ControlResults, method: str) -> str:
    return plus_minus(*mean_se(results.values(method)))


About = Callable[..., Claim]
WANTED: list[tuple[tuple[str, ...], About, str]] = [
    (
        ("ES-paper", "PAES-paper"),
        faster,
        "Section 6.3: PAES converges faster than ES in terms of generations (the paper's settings)",
    ),
    (
        ("ES-paper", "PAES-theta"),
        faster,
        "The same with the score at theta_i, which is unbiased (erratum 17)",
    ),
    (("default",), ours, "The default reaches {:g} without tuning"),
    (
        ("genotype", "default"),
        faster,
        "The default learns faster than the same with the genotype score",
    ),
    (
        ("ES", "default"),
        fewer,
        "The default needs fewer episodes than ES with settings that suit it",
    ),
]
