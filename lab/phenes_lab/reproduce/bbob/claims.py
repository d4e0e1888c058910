"""The claims of the paper's section 6.1 and its appendix, each with what was measured and a verdict
by a stated rule.
"""

import math

import numpy as np

from phenes_lab.report import Claim, difference, mean_se, number, plus_minus, verdict
from phenes_lab.reproduce.bbob.compute import NEAR
from phenes_lab.reproduce.bbob.results import BbobResults, reached, score, seconds

FOUND = 0.95  # share of the coordinates close to the optimum, from which on it counts as found


def claims(results: BbobResults) -> list[Claim]:
    """Those that the functions of this run have something to say about."""
    out = [consistently(results), on_most(results)]
    for function, about in ((1, sphere), (20, schwefel), (23, katsuura)):
        if function in results.functions("ES", "PAES"):
            out += about(results)
    return [*out, computation(results), *printed(results)]


def consistently(results: BbobResults) -> Claim:
    s = score(results, "ES", "PAES")
    ahead, lost = s.wins > s.losses and s.p < 0.05, ", ES on none"
    if s.clear_losses:
        names = ", ".join(f"f{f}" for f in s.clear_losses)
        lost = f", ES by Welch's test, uncorrected, on {len(s.clear_losses)} ({names})"
    return Claim(
        'Section 6.1: "PAES consistently achieves lower errors than ES"',
        f"lower mean of F on {s.wins} of {s.n} functions (sign test p = {number(s.p, 2)}); PAES"
        f" ahead by Welch's test at .05, corrected for {s.n} tests (Holm), on"
        f" {len(s.clear_wins)}{lost}",
        "holds: sign test below .05 in favour of PAES and no function lost by Welch's test at"
        " .05, uncorrected; partly: the first alone",
        verdict(ahead and not s.clear_losses, ahead, seeds=results.settings.seeds),
    )


def on_most(results: BbobResults) -> Claim:
    s = score(results, "ES", "PAES")
    return Claim(
        'Figure of all functions: "PAES outperforms ES on most functions"',
        f"lower mean of F on {s.wins} of {s.n}, by Welch's test at .05,"
        f" corrected for {s.n} tests (Holm), on {len(s.clear_wins)}",
        "holds: over half by that test; partly: over half in the mean",
        verdict(2 * len(s.clear_wins) > s.n, 2 * s.wins > s.n, seeds=results.settings.seeds),
    )


def sphere(results: BbobResults) -> list[Claim]:
    # what every run of both gets to, so that all of them have a time
    target = 1.01 * max(float(results.final(1, m, "f_mean").max()) for m in ("ES", "PAES"))
    times = {m: reached(results, 1, m, target) for m in ("ES", "PAES")}
    gain = difference(times["ES"], times["PAES"])
    reach = ", ".join(f"{m} {plus_minus(*mean_se(times[m]))}" for m in times)
    d = results.against(1, "ES", "PAES", "f_mean")
    return [
        Claim(
            "f1: PAES converges faster than ES",
            f"generations until f(mean) is at {number(target)}, the highest value that any run ends"
            f" with: {reach}, {gain}",
            "holds: fewer by Welch's test at .05; partly: fewer in the mean",
            verdict(gain.below, gain.value < 0, seeds=results.settings.seeds),
        ),
        Claim(
            "f1: PAES achieves a lower objective value at the end",
            f"f(mean): {_pair(results, 1, 'f_mean')}, {d}; F(mean):"
            f" {_pair(results, 1)}, z = {number(results.against(1, 'ES', 'PAES').z, 2)} (F at the"
            f" optimum is {number(_level(results, 1, 'F_nominal'))})",
            "holds: f(mean) lower by Welch's test at .05; partly: lower in the mean",
            verdict(d.below, d.value < 0, seeds=results.settings.seeds),
        ),
    ]


def schwefel(results: BbobResults) -> list[Claim]:
    d = results.against(20, "ES", "PAES")
    near = {m: mean_se(results.final(20, m, "near")) for m in ("ES", "PAES")}
    nearer = results.against(20, "ES", "PAES", "near")
    share = ", ".join(f"{m} {plus_minus(*near[m])}" for m in near)
    out = [
        Claim(
            "f20: PAES finds a significantly better solution than ES",
            f"F(mean): {_pair(results, 20)}, {d}",
            "holds: lower by Welch's test at .05; partly: lower in the mean",
            verdict(d.below, d.value < 0, seeds=results.settings.seeds),
        ),
        Claim(
            "f20: ES was unable to find the optimal solution, PAES found it",
            f"share of the coordinates of the mean within {NEAR} standard deviations of the noise"
            f" of the optimum: {share}; f(mean): {_pair(results, 20, 'f_mean')}",
            f"holds: {FOUND:g} for PAES and less for ES; partly: more for PAES by Welch's test at"
            " .05",
            verdict(
                near["PAES"][0] >= FOUND > near["ES"][0],
                nearer.above,
                seeds=results.settings.seeds,
            ),
        ),
    ]
    return [
        *out,
        *_scale(
            results, 20, "f20: many local minima on a scale comparable to the input noise", 1 / 3, 3
        ),
    ]


def katsuura(results: BbobResults) -> list[Claim]:
    left, d = {m: _left(results, 23, m) for m in ("ES", "PAES")}, results.against(23, "ES", "PAES")
    level = min(abs(results.final(23, m).mean()) for m in ("ES", "PAES"))
    failed, similar = min(left.values()) > 0.5, abs(d.value) <= 0.1 * level
    out = [
        Claim(
            "f23: both methods fail to minimise and plateau at a similar level",
            f"F(mean): {_pair(results, 23)}; share of the gap at the start that is left: ES"
            f" {number(left['ES'], 3)}, PAES {number(left['PAES'], 3)}",
            "holds: both keep over half of the gap and differ by at most a tenth; partly: one of"
            " the two",
            verdict(failed and similar, failed or similar, seeds=results.settings.seeds),
        ),
        *_scale(results, 23, "f23: many local minima within the input noise scale", 0, 1),
    ]
    if 23 in results.landscapes:
        facts = results.landscapes[23]
        flat = float(np.std(facts["F"]) / np.std(facts["f"]))
        out.append(
            Claim(
                "f23: the noise averages the structure and F becomes flat",
                f"standard deviation over the box: f {number(float(np.std(facts['f'])))}, F"
                f" {number(float(np.std(facts['F'])))}, ratio {number(flat, 2)}; F is"
                f" {number(_level(results, 23, 'F_start'))} at the start and"
                f" {number(_level(results, 23, 'F_nominal'))} at the nominal optimum",
                "holds: F varies by less than a tenth of what f does; partly: by less than half",
                verdict(flat < 0.1, flat < 0.5, seeds=math.inf),
            )
        )
    return out


def _scale(results: BbobResults, function: int, claim: str, low: float, high: float) -> list[Claim]:
    if function not in results.landscapes:
        return []
    facts, noise = results.landscapes[function], results.settings.noise
    spacing = facts["spacing"][np.isfinite(facts["spacing"])]
    ratio = float(np.median(spacing)) / noise if spacing.size else math.inf
    seen = (
        "no second one"
        if math.isinf(ratio)
        else f"the next is {number(ratio)} standard deviations of the noise away (median)"
    )
    return [
        Claim(
            claim,
            f"local minima of f on cuts through the optimum: {seen}; resolution"
            f" {number(float(facts['step']) / noise, 2)}",
            f"holds: the distance is {f'{number(low, 2)} to ' if low else 'up to '}{number(high)}"
            f" standard deviations; partly: up to {number(3 * high)}",
            verdict(low <= ratio <= high, ratio <= 3 * high, seeds=math.inf),
        )
    ]


def computation(results: BbobResults) -> Claim:
    both = results.functions("ES", "PAES")
    ratio = np.array(
        [
            results.parts[f, "PAES"]["seconds"].mean() / results.parts[f, "ES"]["seconds"].mean()
            for f in both
        ]
    )
    median = float(np.median(ratio))
    per = 1e6 / results.settings.generations
    costs = ", ".join(
        f"{m} {per * seconds(results, m).mean():.0f}"
        for m in results.settings.methods
        if seconds(results, m).size
    )
    return Claim(
        "Appendix: computation times of ES and PAES are comparable",
        f"PAES / ES: median over functions {median:.2f}, from {ratio.min():.2f} to"
        f" {ratio.max():.2f}; microseconds a generation: {costs}",
        "holds: median ratio within 1.5; partly: within 2.5",
        verdict(1 / 1.5 <= median <= 1.5, 1 / 2.5 <= median <= 2.5, seeds=results.settings.seeds),
    )


def printed(results: BbobResults) -> list[Claim]:
    """Erratum 1, as data: does the formula that is printed for Sigma give the results that are
    shown?
    """
    functions = results.functions("ES", "PAES", "printed", "printed-mean")
    if not functions:
        return []
    d = {m: [results.against(f, "ES", m) for f in functions] for m in ("printed", "printed-mean")}
    each = "; ".join(
        f"f{f}: ES {results.gap(f, 'ES')}, PAES {results.gap(f, 'PAES')}, printed"
        f" {results.gap(f, 'printed')}, printed with 1/N {results.gap(f, 'printed-mean')}"
        for f in functions
    )
    ahead = {m: sum(x.below for x in differences) for m, differences in d.items()}
    best = max(ahead.values())
    return [
        Claim(
            "The update of PAES is the formula as printed (Sigma + sigma^2 I outside of the sum)",
            f"F(mean) at the end: {each}",
            "holds: it beats ES by Welch's test at .05 wherever it was run (weights summed or"
            " averaged); partly: on over half",
            verdict(
                best == len(functions),
                2 * best > len(functions),
                seeds=results.settings.seeds,
            ),
        )
    ]


def _left(results: BbobResults, function: int, method: str) -> float:
    return float(results.final(function, method).mean() / _level(results, function, "F_start"))


def _level(results: BbobResults, function: int, what: str) -> float:
    return float(results.parts[function, "ES"][what])


def _pair(results: BbobResults, function: int, what: str = "F_mean") -> str:
    return f"ES {results.gap(function, 'ES', what)}, PAES {results.gap(function, 'PAES', what)}"
