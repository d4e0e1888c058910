"""What is claimed of contexts, each with what was measured and a verdict by a stated rule."""

from collections.abc import Callable

import numpy as np

from phenes_lab.report import CLEARLY, Claim, difference, number, quartiles, verdict
from phenes_lab.reproduce.contexts.results import ContextsResults, Curve
from phenes_lab.reproduce.contexts.settings import FULL, MIXTURES, SETS, VARIANCES

CLOSE = 0.02  # in accuracy: as good as


def claims(results: ContextsResults) -> list[Claim]:
    """Those that the parts of this run have something to say about."""
    out = []
    for wanted, sets in ((BANDIT, SETS), (OF_EXPERTS, MIXTURES)):
        for needed, about in wanted:
            out += [about(results, name) for name in sets if results.has(name, *needed)]
    out += [
        smaller(results, kind, name)
        for kind in VARIANCES
        for name in results.settings.sets
        if f"{kind}/{name}" in results.parts
    ]
    return out


def spread(curve: Curve) -> str:
    low, middle, high = quartiles(curve.final)
    return f"{middle:.3f} ({low:.3f} to {high:.3f}; {curve.label})"


def compared(results: ContextsResults, name: str, a: str, b: str, claim: str) -> Claim:
    """b ahead of a, each at its best setting."""
    first, second = results.best(a, name), results.best(b, name)
    d = difference(first.final, second.final)
    ahead = np.median(second.final) > np.median(first.final)
    return Claim(
        claim,
        f"test accuracy after {results.settings.rounds_of(name)} rounds, median (quartiles; best"
        f" setting) of {results.settings.seeds} seeds: {b} {spread(second)}, {a} {spread(first)};"
        f" difference of means {d.value:+.3f}, {d}",
        f"holds: the higher median, {CLEARLY}; partly: the higher median",
        verdict(bool(ahead and d.above), bool(ahead), seeds=d.n),
    )


def near_full(results: ContextsResults, name: str) -> Claim:
    ours, full = results.best("phenotype", name), results.best(FULL, name)
    gap = float(np.median(full.final) - np.median(ours.final))
    return Claim(
        f"{name}: bandit feedback costs little in the end",
        f"phenotype {spread(ours)}, logistic regression told every label {spread(full)}: {gap:+.3f}"
        " between the medians",
        f"holds: within {CLOSE:g}; partly: within {2 * CLOSE:g}",
        verdict(gap <= CLOSE, gap <= 2 * CLOSE, seeds=results.settings.seeds),
    )


def experts_faster(results: ContextsResults, name: str) -> Claim:
    """The area under the curve of the loss, which no single round decides."""
    a, b = (results.best(f"experts-{e}", name).loss for e in ("genotype", "phenotype"))
    d, end = difference(a.mean(axis=1), b.mean(axis=1)), difference(a[:, -1], b[:, -1])
    whole, last = (
        [number(float(v.mean())) for v in pair] for pair in ((a, b), (a[:, -1], b[:, -1]))
    )
    return Claim(
        f"Mixture of experts, {name}: learning from the posterior over experts has less loss than"
        " learning from the expert that was asked",
        f"expected loss on the test set, mean over all rounds: genotype {whole[0]}, phenotype"
        f" {whole[1]} ({d}); after the last: {last[0]} and {last[1]} ({end})",
        f"holds: less over all rounds {CLEARLY}; partly: less",
        verdict(d.below, d.value < 0, seeds=d.n),
    )


def near_em(results: ContextsResults, name: str) -> Claim:
    ours, em = results.best("experts-phenotype", name), results.best("experts-EM", name)
    gap = float(np.median(em.final) - np.median(ours.final))
    return Claim(
        f"Mixture of experts, {name}: from feedback alone it gets to where EM gets that is told"
        " every label",
        f"phenotype {spread(ours)}, EM {spread(em)}: {gap:+.3f} between the medians",
        f"holds: within {CLOSE:g}; partly: within {2 * CLOSE:g}",
        verdict(gap <= CLOSE, gap <= 2 * CLOSE, seeds=results.settings.seeds),
    )


def specialise(results: ContextsResults, name: str) -> Claim:
    of = {
        m: np.median(results.specialisation(f"experts-{m}", name))
        for m in ("phenotype", "genotype", "EM")
    }
    what = "region" if name == "regions" else "label"
    return Claim(
        f"Mixture of experts, {name}: experts specialise",
        f"share of the information on the {what} that the most likely expert gives away, median"
        " over seeds: " + ", ".join(f"{m} {value:.2f}" for m, value in of.items()),
        "holds: phenotype at least 0.5; partly: at least 0.2",
        verdict(of["phenotype"] >= 0.5, of["phenotype"] >= 0.2, seeds=results.settings.seeds),
    )


def smaller(results: ContextsResults, kind: str, name: str) -> Claim:
    """Measured ratios are noisy one by one: medians over seeds decide."""
    part = results.parts[f"{kind}/{name}"]
    gains = {key: np.median(part[key], axis=0) for key in ("genotype", "mix") if key in part}
    shown = "; ".join(
        f"{key} over phenotype: from {number(float(g.min()))} to {number(float(g.max()))}"
        for key, g in gains.items()
    )
    below = int(np.sum(part["genotype"] < 1))
    return Claim(
        f"{'Mixture of experts, ' if kind != 'variance' else ''}{name}: the phenotype estimate"
        " never has the larger variance",
        f"variance on the same individuals along training, median over seeds: {shown}; single"
        f" measurements of genotype below 1: {below} of {part['genotype'].size}",
        "holds: no median below 1; partly: of the genotype none",
        verdict(
            all(np.all(g >= 1) for g in gains.values()),
            bool(np.all(gains["genotype"] >= 1)),
            seeds=len(part["genotype"]),
        ),
    )


def _ahead(a: str, b: str, claim: str) -> tuple[tuple[str, ...], "About"]:
    """b ahead of a; "{}" in the claim stands for the data set."""
    return (a, b), lambda results, name: compared(results, name, a, b, claim.format(name))


About = Callable[[ContextsResults, str], Claim]
BANDIT: list[tuple[tuple[str, ...], About]] = [
    _ahead(
        "banditron",
        "phenotype",
        "{}: with bandit feedback the phenotype estimator with belief weights beats Banditron at"
        " its best γ",
    ),
    _ahead("epsilon-greedy", "phenotype", "{}: it beats epsilon-greedy at its best ε and rate"),
    ((FULL, "phenotype"), near_full),
    _ahead(
        "genotype",
        "phenotype",
        "{}: phenotype does better than genotype, same weights, each at its best rate",
    ),
    _ahead("genotype", "mix", "{}: the information mix does better than genotype"),
    _ahead(
        "weights-ES",
        "weights-mix",
        "{}: in the search over weights the information mix does better than genotype (ES)",
    ),
    _ahead(
        "banditron",
        "phenotype-value",
        "{}: the phenotype gradient of E f itself, f minus its running mean as weight, beats"
        " Banditron",
    ),
    _ahead(
        "phenotype-value",
        "phenotype-context",
        "{}: a baseline for each context does better than one for all",
    ),
]
OF_EXPERTS: list[tuple[tuple[str, ...], About]] = [
    (("experts-genotype", "experts-phenotype"), experts_faster),
    _ahead(
        "phenotype",
        "experts-phenotype",
        "Mixture of experts, {}: several experts do better than one linear policy",
    ),
    (("experts-phenotype", "experts-EM"), near_em),
    (("experts-phenotype", "experts-genotype", "experts-EM"), specialise),
]
