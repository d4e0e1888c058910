"""From evidence to an answer: the `Result`, and whether it is one that can be trusted."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from phenes._validate import FloatArray
from phenes.constraints import Constraints
from phenes.evidence import Estimate, Law, Observations
from phenes.evidence.verification import LEAST_DRAWS, MOST_FAILING
from phenes.optimizer.answer.claim import Claim
from phenes.optimizer.answer.held import unconfirmed, unmet
from phenes.optimizer.answer.reserve import LARGEST_SHARE, VERIFYING
from phenes.optimizer.answer.result import Best, Candidate, Failing, Result
from phenes.optimizer.answer.unmet_failures import change_of_mean
from phenes.risk import Risk, mean, probability_below

POPULATIONS = 2  # evaluations below so many populations are no search
MODEL = "process"  # the control variate that explains f wherever x may be
# times the share of the law of x that evaluations should have met: beyond, no model is believed
UNMET = 4.0
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CONTRADICTED = 3.0  # joint standard errors between the model of the search and the draws
NOTABLE = 0.1  # standard deviations of f at x by which they must differ as well
# share of the whole gain, in the last quarter of the evaluations, above which f still falls
LATE_GAIN = 0.1
# multiple of the start width: a search that ends wider has not found the scale of f
GROWN = 10.0
# multiples of the start width between the start and an answer that a search hardly looked around
FAR = 100.0


class Facts(NamedTuple):
    """All that an answer is made of.

    model: E f at `modelled`, the mean of the search, and its error by its own model.
    """

    claim: Claim
    seen: Observations
    reasons: dict[str, Any]
    proposal: FloatArray
    model: tuple[float, float]
    modelled: FloatArray
    verifies: bool
    nfev: int
    budget: int
    generations: int
    popsize: int
    width: FloatArray
    spread: FloatArray
    noise: Law
    sign: float
    failed: int
    history: dict[str, NDArray[Any]]
    noise_text: str
    noise_cov: FloatArray
    held: Constraints | None = None
    objective: Risk = mean()
    unmet: float = 0.0  # share of the law at the answer beyond all evaluations in one direction


def answer(facts: Facts) -> Result:
    """The result, as minimised."""
    claim, known = facts.claim, facts.claim.estimate
    own = facts.seen.f[facts.seen.at(claim.drawn)]
    finite = own[np.isfinite(own)]
    doubts, notes = _doubts(facts), _notes(facts)
    if facts.held is not None and facts.held.met and facts.reasons:
        notes = [*unconfirmed(facts.held), *notes]
    fun_se = np.inf if facts.seen.flat and not claim.exact else known.se
    hidden = _hidden(facts, own)
    if hidden > known.se and facts.reasons:
        notes.append(
            f"none of {own.size} evaluations at x failed, but others did: fun_se allows for"
            f" failures that so few have not met"
        )
    message = "; ".join([*_ends(facts.reasons, facts.generations), *doubts, *notes])
    return Result(
        x=known.theta.copy(),
        status=_status(facts.reasons),
        fun=float(known.fun),
        fun_se=float(np.hypot(fun_se, hidden)),
        nfev=facts.nfev,
        success=not doubts and bool(facts.reasons),
        message=message,
        verified=int(finite.size),
        failing=failing(known),
        best=_best(facts.seen),
        evaluations=facts.seen.arrays(1.0),
        quantiles={q: float(np.quantile(finite, q)) for q in QUANTILES} if finite.size else {},
        candidates=tuple(_candidate(role, each) for role, each in claim.candidates),
        nit=facts.generations,
        failed=facts.failed,
        spread=facts.spread,
        history=facts.history,
        noise=facts.noise_text,
        noise_cov=facts.noise_cov,
        constraints=facts.held,
        objective=facts.objective,
    )


def _hidden(facts: Facts, own: FloatArray) -> float:
    """What failures that none of the draws at x has met may change of the mean of f there.

    Zero where failures are no matter of place: those are as likely everywhere.
    """
    seen = facts.seen
    if facts.claim.exact or facts.objective != mean() or np.isnan(own).any():
        return 0.0
    return change_of_mean(own) if seen.walled and facts.failed else 0.0


def _status(reasons: dict[str, Any]) -> int:
    """See `Result`: the last of several reasons is what happened before the budget was used."""
    codes = {"converged": 0, "target": 0, "budget": 1, "failing": 2, "unbounded": 3}
    return min((codes[name] for name in reasons), default=-1)


def failing(known: Estimate) -> Failing:
    """Clopper-Pearson interval of a probability, at 95 %."""
    n, k = known.draws, known.failed
    if n == 0:
        return Failing(np.nan, 0.0, 1.0, 0)
    low = float(special.betaincinv(k, n - k + 1, 0.025)) if k else 0.0
    high = float(special.betaincinv(k + 1, n - k, 0.975)) if k < n else 1.0
    return Failing(k / n, low, high, n)


def _candidate(role: str, known: Estimate) -> Candidate:
    return Candidate(
        role,
        known.theta.copy(),
        float(known.fun),
        float(known.se),
        known.draws,
        float(known.effective),
        known.share,
    )


def _best(seen: Observations) -> Best | None:
    f = seen.f
    if seen.limits:  # what violates constraints is not good, however low its value
        f = np.where(np.all(seen.c <= 0, axis=1), f, np.nan)
    if not np.isfinite(f).any():
        return None
    row = int(np.nanargmin(f))
    return Best(seen.theta[row].copy(), seen.x[row].copy(), float(seen.f[row]))


def _doubts(facts: Facts) -> list[str]:
    """What is not trusted, and what would help; the first that applies says it all."""
    claim, known, seen = facts.claim, facts.claim.estimate, facts.seen
    if not facts.generations and not seen.count:
        return []
    if not np.isfinite(seen.lowest):
        return [f"no finite value in {facts.nfev} evaluations: start where f has one"]
    if seen.flat and seen.count > 1:
        return [
            f"all values were equal ({0.0 + facts.sign * seen.lowest:.6g}), so nothing is known of"
            " better ones: start nearer to where f changes, try another sigma0, or let f return a"
            " margin instead of pass or fail"
        ]
    if "unbounded" in facts.reasons:
        return [
            f"f has no bound, {'down' if facts.sign > 0 else 'up'} to"
            f" {facts.sign * seen.lowest:.3g}: bounds of theta would help"
        ]
    if "failing" in facts.reasons:
        return ["the search was lost where f fails: a smaller sigma0, or bounds, would help"]
    if not facts.verifies and int(LARGEST_SHARE * facts.budget):
        return ["the claim was not verified (verify=0)"]
    if not facts.verifies:
        return [f"a budget of {facts.budget} leaves no evaluation to verify the claim"]
    if not facts.reasons:
        return ["not verified yet"]
    if facts.popsize > facts.budget:
        return [
            f"the budget of {facts.budget} is less than one population of {facts.popsize}: give a"
            " larger budget or a smaller popsize"
        ]
    if facts.nfev < POPULATIONS * facts.popsize and "converged" not in facts.reasons:
        few = (
            f"only {facts.nfev} evaluations, less than {POPULATIONS} populations of {facts.popsize}"
        )
        return [f"{few}: hardly a search; a larger budget would help"]
    if known.draws and known.share > MOST_FAILING:
        return [
            f"{known.failed} of {known.draws} evaluations at x failed: start where f succeeds, or"
            " with a smaller sigma0"
        ]
    if facts.held is not None and not facts.held.met:
        return [unmet(facts.held)]
    if facts.objective.name == probability_below.__name__ and known.fun >= 1:
        return [
            f"{facts.objective.label(facts.sign)} is 0 by all that is seen at x, so that nothing is"
            " better there than elsewhere: a larger budget, another start, or"
            " objective=risk.quantile(0.5) to come near the limit would help"
        ]
    if not claim.exact and np.isfinite(claim.start.fun) and _is_start(facts):
        return [
            "nothing better than the start was confirmed: a larger budget, another sigma0 or less"
            " noise would help"
        ]
    if not facts.noise.noisy.any() and not claim.exact and known.draws < LEAST_DRAWS:
        return [
            f"f gave different values at the same x, and only {known.draws} evaluations at the"
            " answer are left to say what it is worth"
        ]
    if not claim.exact and known.draws - known.failed < LEAST_DRAWS:
        count = known.draws - known.failed
        made = "evaluation was made" if count == 1 else "evaluations were made"
        return [f"only {count} {made} at x: too few for a claim; a larger budget would help"]
    thin = _thin_tail(facts) or _vague(facts)
    if thin:
        return [thin]
    if not np.isfinite(known.se):
        return ["the evidence at x is too thin for a standard error; a larger budget would help"]
    if "converged" not in facts.reasons and _has_gone_far(facts) and _still_falling(facts):
        return [
            "the search was still growing when it ended: f may have no bound, or sigma0 was far too"
            " small; bounds of theta would help"
        ]
    return []


def _thin_tail(facts: Facts) -> str:
    """What is to be said of too few draws for a tail that no model explains.

    Of what lies beyond all evaluations a model explains nothing. Moments of f may be explained by a
    quadratic of x, with which few draws are worth many.
    """
    known, needed = facts.claim.estimate, facts.objective.least_draws
    count = known.draws - known.failed
    explained = facts.objective.moments and known.control != MODEL and known.worth >= needed
    if facts.claim.exact or count >= needed or explained:
        return ""
    few = (
        f"the {facts.objective.label(facts.sign)} needs {needed} or more evaluations at x, and"
        f" there were {count}"
    )
    helps = f"a larger budget would help, or verify={needed}"
    if known.control != MODEL:
        return f"{few}: {helps}"
    if facts.unmet <= UNMET * facts.objective.most_unmet:
        return ""
    return f"{few}; to one side {facts.unmet:.0%} of all x lie beyond all evaluations: {helps}"


def _vague(facts: Facts) -> str:
    """What is to be said of a spread that is not known to within its own size, by few draws.

    As many draws as show the outer tenth of x show what a rare part of it may cause.
    """
    known = facts.claim.estimate
    if known.draws - known.failed >= facts.objective.least_draws:
        return ""
    own = facts.seen.f[facts.seen.at(facts.claim.drawn)]
    if not known.vague or not np.nanmax(own) > np.nanmin(own):  # equal draws are what they are
        return ""
    return (
        "what evaluations and model say of the variance of f(x) is not more than its own error: a"
        " rare part of x may cause most of it; a larger budget would help"
    )


def _has_gone_far(facts: Facts) -> bool:
    """Whether the search is much wider than it began, or its answer far from the start."""
    away = np.abs(facts.claim.estimate.theta - facts.claim.start.theta)
    return bool(np.max(facts.spread / facts.width) > GROWN or np.max(away / facts.width) > FAR)


def _still_falling(facts: Facts) -> bool:
    """Whether a good part of the whole gain is from the last quarter of the search.

    Draws that verify its answer are no steps of it: a slope is as long as the search went down.
    """
    f = facts.seen.f[~facts.seen.made_for(VERIFYING)]
    finite = f[np.isfinite(f)]
    if finite.size < 2:
        return False
    last = 3 * finite.size // 4
    before, after = finite[:last].min(), finite[last:].min()
    return bool(before - after > LATE_GAIN * (finite[0] - after))


def _is_start(facts: Facts) -> bool:
    """Whether the start is recommended though the search proposed another place, or never moved."""
    at = facts.claim.estimate.theta
    if not np.array_equal(at, facts.claim.start.theta):
        return False
    away = np.linalg.norm(facts.noise.z(facts.proposal) - facts.noise.z(at))
    return bool(away > 0.5 or away == 0)


def _notes(facts: Facts) -> list[str]:
    claim, known = facts.claim, facts.claim.estimate
    fun, se = facts.model
    if known.failed and facts.reasons and known.share <= MOST_FAILING:
        return [
            f"{known.share:.0%} of the evaluations at x failed; what a failure costs is not known,"
            " and fun_se allows for it"
        ]
    if (
        claim.exact
        or not known.draws
        or not facts.reasons
        or not np.isfinite(fun)
        or not np.isfinite(known.fun)
    ):
        return []
    off = abs(fun - known.fun)
    own = facts.seen.f[facts.seen.at(claim.drawn)]
    if (
        np.array_equal(known.theta, facts.modelled)
        and off > CONTRADICTED * np.hypot(se, known.se)
        and off > NOTABLE * np.nanstd(own)
    ):
        said = f"{facts.sign * fun:.4g} ± {se:.1g}"
        return [
            f"the model of the search was contradicted (it said {said}); fun is from {known.draws}"
            " evaluations at x"
        ]
    return []


def _ends(reasons: dict[str, Any], updates: int) -> list[str]:
    if not reasons:
        return [] if updates else ["nothing has been told yet"]
    said: dict[str, Callable[[Any], str]] = {
        "budget": lambda n: f"the budget is used, {n} evaluation{'s' if n != 1 else ''}",
        "failing": str,
        "unbounded": str,
        "target": "the target {:.6g} is reached with confidence".format,
        "converged": str,
    }
    return [said[name](value) for name, value in reasons.items()]
