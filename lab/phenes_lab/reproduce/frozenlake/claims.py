"""The claims of the paper's section 6.2 and its appendix, and ours, each with what was measured and
a verdict by a stated rule.
"""

import math
from collections.abc import Iterable

import numpy as np

from phenes_lab.report import (
    CLEARLY,
    Claim,
    Difference,
    difference,
    holm,
    mean_se,
    number,
    plus_minus,
    verdict,
)
from phenes_lab.reproduce.frozenlake.results import Curve, FrozenlakeResults, gain, optimum
from phenes_lab.reproduce.frozenlake.settings import ENVIRONMENT, LAST, VARIANCE


def claims(results: FrozenlakeResults) -> list[Claim]:
    """Those that the methods of this run have something to say about."""
    out = []
    for needed, about in (
        (("ES", "PAES-SGD"), faster),
        (("ES", "PAES-SGD"), caption),
        (("ES",), spread),
        (("PAES-SGD",), concentration),
        (("PAES-SGD",), too_small),
        (("ES", "PAES-SGD"), reward),
        (("ES", "PAES-SGD"), wall_clock),
        (("PAES-SGD",), weights),
        (("PAES-SGD",), constraint),
        (
            ("clean-genotype", "clean-phenotype"),
            lambda r: clean(r, "", "natural gradient in log alpha, S kept"),
        ),
        (
            ("clean-genotype-SGD", "clean-phenotype-SGD"),
            lambda r: clean(r, "-SGD", "SGD on alpha, as in the paper"),
        ),
        ((VARIANCE,), variance),
        (("default",), ours),
    ):
        settings = results.settings
        if about is caption and not (0.01 in settings.sigmas and 1.0 in settings.totals):
            continue
        if all(name in results.parts for name in needed):
            out.append(about(results))
    return out


def bounded(curve: Curve) -> np.ndarray:
    """First generations, with those that never got there one past the end: a bound, so differences
    are understated.
    """
    return np.minimum(curve.first, curve.value.shape[1] + 1.0)


def seeds(curves: Iterable[Curve]) -> int:
    """Of the setting that has fewest."""
    return min(len(curve.value) for curve in curves)


def times(curve: Curve) -> str:
    n = curve.first.size
    middle = number(curve.median_first) if math.isfinite(curve.median_first) else "never"
    return f"{middle} (median; {curve.reached} of {n} seeds)"


def faster(results: FrozenlakeResults) -> Claim:
    es, paes = results.best("ES"), results.best("PAES-SGD")
    d = difference(bounded(es), bounded(paes))
    ours = (
        f"; natural gradient, {results.best('PAES').label}: {times(results.best('PAES'))}"
        if "PAES" in results.parts
        else ""
    )
    return Claim(
        'Section 6.2: "PAES converges to a high cumulative reward of the updated policy faster than'
        ' ES" (each at its best setting)',
        f"first generation with a value of {results.settings.target:g}: ES, {es.label} (best of"
        f" {len(results.curves('ES'))} settings): {times(es)}; PAES as in the paper, {paes.label}"
        f" (best of {len(results.curves('PAES-SGD'))}): {times(paes)}; {d}{ours};"
        " chosen and compared on the same seeds",
        f"holds: fewer generations {CLEARLY}; partly: a lower median",
        verdict(d.below, paes.median_first < es.median_first, seeds=d.n),
    )


def caption(results: FrozenlakeResults) -> Claim:
    a, b = (
        results.curves("ES", sigma=0.01)[0],
        max(results.curves("PAES-SGD", total=1.0), key=lambda c: c.final.mean()),
    )
    d = difference(a.final, b.final)
    return Claim(
        "Figure, caption: ES (σ = 0.01) and PAES (S = 1) reach a comparable final reward, PAES"
        " substantially faster",
        f"final: ES {plus_minus(*mean_se(a.final))}, PAES ({b.label})"
        f" {plus_minus(*mean_se(b.final))}; first at the target: ES {times(a)}, PAES {times(b)}",
        "holds: finals within 0.05 and PAES first by the median; partly: PAES first only",
        verdict(
            abs(d.value) <= 0.05 and b.median_first < a.median_first,
            b.median_first < a.median_first,
            seeds=d.n,
        ),
    )


def spread(results: FrozenlakeResults) -> Claim:
    curves = results.curves("ES")
    large, small = ([c for c in curves if (c.at["sigma"] >= 0.1) == side] for side in (True, False))
    means = {c.at["sigma"]: float(c.final.mean()) for c in curves}
    above = bool(large and small) and min(means[c.at["sigma"]] for c in large) > max(
        means[c.at["sigma"]] for c in small
    )
    top = max(means, key=means.__getitem__)
    return Claim(
        "Section 6.2: the performance of ES is better when σ is no less than 0.1",
        "final by σ: " + ", ".join(f"{s:g}: {number(m)}" for s, m in means.items()),
        "holds: every σ from 0.1 on ends above every smaller one; partly: the best does",
        verdict(above, bool(small) and top >= 0.1, seeds=seeds(curves)),
    )


def concentration(results: FrozenlakeResults) -> Claim:
    rows = [(floor, results.curves("PAES-SGD", floor=floor)) for floor in results.settings.floors]
    text = "; ".join(
        f"floor {floor:g}: "
        + ", ".join(f"S = {c.at['total']:g}: {number(c.final.mean())}" for c in cs)
        for floor, cs in rows
    )
    ones = [(cs, [c for c in cs if c.at["total"] == 1.0]) for _, cs in rows]
    high = [
        bool(one) and one[0].final.mean() >= max(c.final.mean() for c in cs) - 0.01
        for cs, one in ones
    ]
    stable = [bool(one) and one[0].collapsed == 0 for _, one in ones]
    lost = ", ".join(str(one[0].collapsed) if one else "not run" for _, one in ones)
    return Claim(
        "Appendix: at S = 1 the converged reward of PAES is the highest, and stable",
        f"final by S and by the floor under alpha (which the paper does not mention): {text}; runs"
        f" at S = 1 that are below {results.settings.target:g} again in the second half: {lost}",
        "holds: S = 1 is within 0.01 of the best and loses no run, for every floor; partly: one of"
        " the two for every floor",
        verdict(
            all(high) and all(stable),
            all(h or s for h, s in zip(high, stable, strict=True)),
            seeds=seeds(c for _, cs in rows for c in cs),
        ),
    )


def too_small(results: FrozenlakeResults) -> Claim:
    out, shown = [], []
    for floor in results.settings.floors:
        curves = results.curves("PAES-SGD", floor=floor)
        low, one = curves[0], [c for c in curves if c.at["total"] == 1.0]
        small = [c for c in curves if c.at["total"] < 1 and math.isfinite(c.median_first)]
        quick = min(small, key=lambda c: c.median_first) if small else None
        earlier = bool(one and quick and quick.median_first < one[0].median_first)
        lower = bool(one) and low.final.mean() < one[0].final.mean() - 0.01
        out.append((earlier, lower))
        at = (
            f"S = {quick.at['total']:g} {times(quick)}"
            if quick
            else "no S below 1 gets there by the median"
        )
        end = f"final at S = {low.at['total']:g}: {number(low.final.mean())}"
        shown.append(f"floor {floor:g}: {at}, S = 1 {times(one[0]) if one else 'not run'}; {end}")
    return Claim(
        "Appendix: PAES converges faster when S is smaller than 1, and the final reward decreases"
        " when S is too small",
        "; ".join(shown),
        "holds: both, for every floor; partly: both for one floor, or one of the two for every"
        " floor",
        verdict(
            all(a and b for a, b in out),
            any(a and b for a, b in out) or all(a or b for a, b in out),
            seeds=seeds(results.curves("PAES-SGD")),
        ),
    )


def reward(results: FrozenlakeResults) -> Claim:
    limit, limited, free = optimum()
    es, paes = results.best("ES"), results.best("PAES-SGD")
    at_end = {c.method: c.unlimited[:, -LAST:].mean() for c in (es, paes)}
    shown = ", ".join(
        f"{c.method} {number(c.final.mean())} with the limit and {number(at_end[c.method])} without"
        for c in (es, paes)
    )
    return Claim(
        "Appendix: the cumulative reward gets to about 0.8",
        f"no policy is worth more than {number(limited, 4)} within the {limit} steps of"
        f" {ENVIRONMENT}, nor more than {number(free, 4)} without the limit; at the end: {shown}",
        "holds: 0.79 within the step limit; partly: without it",
        verdict(
            max(es.final.mean(), paes.final.mean()) >= 0.79,
            max(at_end.values()) >= 0.79,
            seeds=seeds((es, paes)),
        ),
    )


def wall_clock(results: FrozenlakeResults) -> Claim:
    a, b = results.best("ES"), results.best("PAES-SGD")
    cost = {c.method: results.per_generation(c.method) for c in (a, b)}
    to = {c.method: c.median_first * cost[c.method] for c in (a, b)}
    shown = ", ".join(
        f"{m} {number(to[m], 2)} seconds ({1e3 * cost[m]:.2f} ms a generation)" for m in to
    )
    return Claim(
        "Appendix: PAES converges faster than ES in wall-clock time as well",
        f"median time to the target: {shown}",
        "holds: PAES needs less than 0.8 of the time of ES; partly: less",
        verdict(to["PAES-SGD"] < 0.8 * to["ES"], to["PAES-SGD"] < to["ES"], seeds=seeds((a, b))),
    )


def weights(results: FrozenlakeResults) -> Claim:
    curves = results.curves("PAES-SGD")
    early = {c.label: float(c.flat[:, :LAST].mean()) for c in curves}
    name = max(early, key=early.__getitem__)
    typical = float(np.median(list(early.values())))
    return Claim(
        "Section 6.2: W = (r - mean) / std is defined (erratum 25)",
        f"share of the first {LAST} generations in which all have the same return:"
        f" {number(typical, 2)} (median over settings), up to {number(early[name], 2)} ({name})",
        "holds: never; does not otherwise (W is 0 there)",
        verdict(max(early.values()) == 0, seeds=seeds(curves)),
    )


def constraint(results: FrozenlakeResults) -> Claim:
    curves = results.curves("PAES-SGD")
    held = {c.label: float((c.held > 0).mean()) for c in curves}
    shown = ", ".join(
        f"{label}: {number(v, 2)}"
        for label, v in held.items()
        if "S = 1," in label or label == next(iter(held))
    )
    return Claim(
        "Section 6.2: SGD on alpha needs no constraint (erratum 22)",
        "share of generations in which an alpha had to be kept from falling below the floor:"
        f" {shown}",
        "holds: never; does not otherwise",
        verdict(max(held.values()) == 0, seeds=seeds(curves)),
    )


def clean(results: FrozenlakeResults, suffix: str, how: str) -> Claim:
    pairs: list[tuple[Curve, Curve, Difference]] = []
    for b in results.curves(f"clean-phenotype{suffix}"):
        same = {"total": b.at["total"], "rate": b.at["rate"]}
        (a,) = results.curves(f"clean-genotype{suffix}", **same)
        pairs.append((a, b, difference(bounded(a), bounded(b))))
    shown = "; ".join(
        f"S = {b.at['total']:g}: genotype {_end(a)}, phenotype {_end(b)}, {d}" for a, b, d in pairs
    )
    # for one S or the other: many tests are one
    clear = holm([d.p for _, _, d in pairs])
    first = [d.below or (a.reached == 0 and b.reached > 0) for a, b, d in pairs]
    some = [c and f for c, f in zip(clear, first, strict=True)]
    behind = [d.above for _, _, d in pairs]
    return Claim(
        "The clean experiment: same law of the policies, same step, only the estimator differs"
        f" ({how})",
        f"first generation at the target, and final: {shown}",
        f"holds: the phenotype estimator is first {CLEARLY} for every S; partly: for some S after"
        f" Holm's correction for {len(pairs)} tests, and behind for none",
        verdict(
            all(first),
            any(some) and not any(behind),
            seeds=seeds(c for a, b, _ in pairs for c in (a, b)),
        ),
    )


def _end(curve: Curve) -> str:
    return f"{times(curve)}, {number(curve.final.mean())}"


def variance(results: FrozenlakeResults) -> Claim:
    ratios = gain(results)
    shown = ", ".join(
        f"S = {t:g}: {number(r)}" for t, r in zip(results.settings.clean, ratios, strict=True)
    )
    return Claim(
        "Theorem: the phenotype gradient has the smaller variance",
        "variance of the genotype estimate over that of the phenotype one, same populations,"
        f" median over generations: {shown}",
        "holds: above 1 for every S",
        verdict(bool(np.all(ratios > 1)), seeds=results.parts[VARIANCE]["gain"].shape[1]),
    )


def ours(results: FrozenlakeResults) -> Claim:
    curve = results.best("default")
    n = curve.first.size
    good = curve.median_first <= 50 and curve.reached == n and curve.collapsed == 0
    return Claim(
        "PAES with reward-to-go and S = 4 gets to 0.7 in 50 generations (median) with every seed,"
        " and stays there",
        f"first at the target: {times(curve)}, from {number(curve.first.min())} to"
        f" {number(curve.first.max())}; below it in the second half: {curve.collapsed} of {n} runs;"
        f" final {plus_minus(*mean_se(curve.final))}",
        "holds: all of it; partly: the median",
        verdict(good, curve.median_first <= 50, seeds=n),
    )
