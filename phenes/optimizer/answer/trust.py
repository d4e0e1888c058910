"""Which theta is recommended, and what is claimed of it.

Observations, the verification at the end of the budget, and the claim.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from phenes._validate import FloatArray
from phenes.evidence import Estimate, Law, Observations, Verification
from phenes.evidence.control import LocalModel, Surrogate
from phenes.evidence.estimate import (
    EXACT,
    balance_weights,
    estimate,
    fresh_weights,
    nothing,
    shifted_weights,
)
from phenes.evidence.limits import Limits, worst_excess
from phenes.evidence.reach import aimed, unmet
from phenes.evidence.retreat import way_back
from phenes.evidence.standing import Place
from phenes.evidence.verification import (
    MOST_FAILING,
    TRIAL,
    Repeats,
    carries,
    decide,
    few,
    surely_beats,
)
from phenes.optimizer.answer.claim import Claim, exact_claim, modelled
from phenes.optimizer.answer.reserve import LARGEST_SHARE, reserved
from phenes.optimizer.answer.rivals import APART, candidates, rivals
from phenes.optimizer.answer.standings import Standings
from phenes.optimizer.merit import Merit
from phenes.optimizer.noise.local_laws import GaussianAt, LocalLaws
from phenes.risk import mean

REPEATS_BEST, REPEATS_START = 4, 2  # repeated evaluations where f seems to take few values
# evaluations up to which a Gaussian process of the nearest is asked for a second opinion: beyond,
# the evolution strategy knows its mean better
MOST_FOR_OPINION = 5000
# rows for each coordinate, and beside, below which a model is surer of itself than it may be, and
# by how much: its lengths are fitted to hardly more values than there are lengths
ROWS_OF_A_MODEL, FEW_ROWS = (3, 10), 2.0
ANSWER = "answer"  # role of a place that the user wants verified, or that an answer moved to


class Trust:
    """Which theta is recommended, on which evidence.

    law_of(theta): moments or draws [n, d] of x around theta. scale(): units of coordinates without
    noise, [d]. model(): E f at the mean of the search and its error, by its own model. surrogate():
    that model, if it explains values anywhere. local_model(): its quadratic of f around its mean,
    if there is one. better(theta): what the search proposes instead.
    predict(theta): E f at rows [n, d] by the model of the search, and its error.
    merit: what is minimised in place of E f. limits: the constraints, if there are any.
    """

    def __init__(
        self,
        x0: FloatArray,
        noiseless: bool,
        early: int,
        law_of: Callable[[FloatArray], GaussianAt | FloatArray],
        scale: Callable[[], FloatArray],
        model: Callable[[], tuple[float, float]],
        surrogate: Callable[[], Surrogate | None],
        local_model: Callable[[], LocalModel | None],
        better: Callable[[FloatArray], FloatArray | None],
        predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
        merit: Merit | None = None,
        limits: Limits | None = None,
    ):
        self.x0, self.noiseless, self.early = x0, noiseless, early
        self.seen = Observations(x0.size)
        self.model = model
        self._laws = LocalLaws(law_of, scale)
        self._standings = Standings(limits, self.seen, self._laws)
        self._surrogate, self._local_model = surrogate, local_model
        self._better, self._predict = better, predict
        self._merit = Merit(mean()) if merit is None else merit
        self._risk = self._merit.functional
        self.modelled = x0  # what `model` was of when the verification began
        self.opinions = False  # may a model of the rows be asked for another answer?
        self._opinion: Surrogate | None = None
        self._local: LocalModel | None = None  # the search's, from before the verification
        self._inside: Callable[[FloatArray], FloatArray] = _as_it_is
        self.noisy_values = False
        self.control = True  # may a model of f be used for the claim?
        self.verification: Verification | Repeats | None = None
        self.places: list[tuple[str, FloatArray]] = []  # role and theta of the verified candidates
        self._questioned = False
        self._estimates: dict[tuple[bytes, bool, bool, int], Estimate] = {}
        self._said: tuple[Any, Claim] | None = None  # cache: key, claim

    @property
    def exact(self) -> bool:
        """Whether f is deterministic in theta, as far as the evaluations show."""
        return self.noiseless and not self.noisy_values

    @property
    def price(self) -> float:
        return self.seen.price(self.early)

    def reserve(
        self, budget: int, wanted: int | None, popsize: int | None, whole: bool = False
    ) -> int:
        """Evaluations that are kept for the end."""
        risky = self._risk is not None
        least = max(self._kept_draws, self._standings.kept_draws(int(LARGEST_SHARE * budget)))
        return reserved(budget, wanted, popsize, whole, self.exact, least, risky)

    @property
    def _kept_draws(self) -> int:
        """Draws of the answer that a claim of the risk needs; fewer where a model knows f."""
        risk = self._merit.risk
        return risk.least_draws if self._surrogate() is None else risk.kept_draws

    def add(
        self,
        theta: FloatArray,
        x: FloatArray,
        point: FloatArray,
        f: FloatArray,
        phase: str = "",
        c: FloatArray | None = None,
    ) -> None:
        self.seen.add(theta, x, point, f, phase, c)
        self._forget()
        if self.noiseless and not self.noisy_values:
            self._compare_repeats(theta, point)
        if self.verification is not None:
            self.seen.compare_failures(self.x0)
            for each in self.verification.contenders:
                if np.any(np.all(theta == each, axis=1)):
                    self.place("rival", each)
                    self.seen.compare_failures(each)
            self.verification.told(theta)

    def _compare_repeats(self, theta: FloatArray, point: FloatArray) -> None:
        """Values that differ at the same x: noise on f."""
        for k in range(len(theta)):
            same = self.seen.at(theta[k])
            if same.sum() > 1:
                f = self.seen.f[same & np.all(self.seen.point == point[k], axis=1)]
                finite = f[np.isfinite(f)]
                self.noisy_values |= bool(finite.size > 1 and np.ptp(finite) > 0)

    def repeats(self, most: int) -> FloatArray:
        """Rows [k, d] to evaluate again, once, where f seems exact but takes few values.

        Are these chance? Two evaluations of a coin agree half of the time. The best point is the
        luckiest, if it was luck.
        """
        if (
            self._questioned
            or not self.exact
            or self.seen.count < self.early
            or most < 1
            or not self._ties()
        ):
            return np.empty((0, self.x0.size))
        self._questioned = True
        rows = [self.seen.theta[self.best]] * REPEATS_BEST + [self.x0] * REPEATS_START
        return np.array(rows[:most])

    def closing(self, n: int, mean: FloatArray) -> FloatArray:
        """What `Repeats` asks for, n rows at once: the mean unless it is known, and the best."""
        best = self.seen.theta[self.best] if self.best >= 0 else mean
        first = best if np.any(self.seen.at(mean)) else mean
        return np.array([first] + [best] * (n - 1))

    def _ties(self) -> bool:
        """Whether different theta have equal values, while not all values are equal."""
        return not self.seen.flat and self.seen.tied

    def law(self, theta: FloatArray) -> Law:
        """The law of x at theta, as it is known now."""
        return self._laws.at(theta)

    def evidence(self, theta: FloatArray) -> Estimate:
        """Estimate of E f at theta from all rows, by importance weights."""
        key = (theta.tobytes(), self.control, self.seen.walled, id(self._surrogate()))
        if key not in self._estimates:
            self._estimates[key] = self._estimated(theta, balance_weights)
        return self._estimates[key]

    def claim(self, theta: FloatArray) -> Estimate:
        """Estimate of E f from the draws at theta; other rows only fit the control variate."""
        return self._estimated(theta, fresh_weights, self._local)

    def _estimated(
        self,
        theta: FloatArray,
        weigh: Callable[[Observations, Law], FloatArray],
        local: LocalModel | None = None,
    ) -> Estimate:
        law = self.law(theta)
        surrogate = self._surrogate() or self._opinion
        weights = weigh(self.seen, law)
        return estimate(
            self.seen, law, self.price, weights, self.control, surrogate, self._risk, local
        )

    def _forget(self) -> None:
        """Rows have come, or the noise may be known better: laws and estimates are other ones."""
        self._laws.forget()
        self._estimates.clear()

    def begin(
        self,
        proposal: FloatArray,
        reserve: int,
        path: FloatArray,
        inside: Callable[[FloatArray], FloatArray],
    ) -> None:
        """Start the verification. path [k, d]: means along the way."""
        self._local = self._local_model()
        self.modelled = proposal.copy()
        self._inside = inside
        self._forget()  # an earlier look at the result must not change this one
        if self.exact:
            self.verification = Repeats(
                proposal,
                reserve,
                functools.partial(self._best_or, proposal),
            )
        else:
            first, others = self._proposals(proposal)
            if self.constrained:
                first = self._safer(first)
            self.verification = Verification(
                self.x0,
                first,
                reserve,
                self.evidence,
                functools.partial(self._rivals, path),
                self._improve,
                self._modelled_start,
                others,
                self.admissible,
                self._probe,
                self._way_back,
                max(self._kept_draws, self._standings.kept_draws(reserve)),
            )
            for other in others:
                self.place("proposal", other)
            proposal = first
        self.place("proposal", proposal)

    @property
    def constrained(self) -> bool:
        """Whether there are constraints, whose names are known by now."""
        return self._standings.constrained

    def standing(self, theta: FloatArray) -> Place:
        """What is known of the constraints at theta."""
        return self._standings.at(theta, self.exact)

    def admissible(self, known: list[Estimate]) -> list[Estimate]:
        """Those that meet the constraints; if none does, the one that violates them least."""
        return self._standings.admissible(known, self.exact)

    def _safer(self, theta: FloatArray) -> FloatArray:
        return self._standings.safer(theta, self._inside, self.exact)

    def _improve(self, theta: FloatArray) -> FloatArray | None:
        if self.constrained and not self.standing(theta).safe:
            found = self._safer(theta)
        else:
            found = self._better(theta)
        if self.constrained and found is not None and not self.standing(found).safe:
            found = None
        if found is not None:
            self.place("proposal", found)
        return found

    def unmet(self, theta: FloatArray) -> float:
        """The largest share of the law at theta beyond all evaluations in one direction.

        For risks, as `_probe`.
        """
        if self._risk is None:
            return 0.0
        return unmet(self.law(theta), self.seen.point).share

    def _probe(self, theta: FloatArray) -> FloatArray | None:
        """Where to aim at the part of the law at theta that no evaluation has met; None if small.

        For risks: E f does not hang on what is rare, unless that is seen elsewhere.
        """
        if self._risk is None:
            return None
        law, most = self.law(theta), self._merit.risk.most_unmet
        side = unmet(law, self.seen.point)
        if side.share <= most:
            return None
        found = self._inside(aimed(law, side.direction, most)[None])[0]
        # at a bound nothing can be aimed beyond it, and draws at theta are as good
        gained = float((law.z(found) - law.z(theta)) @ side.direction)
        return found if gained > 0.5 else None

    def _way_back(self, theta: FloatArray, count: int) -> list[FloatArray]:
        """Places between a theta that fails and the start; none where that leads nowhere.

        Not where failures have no place, or at the start as well. Constraints and risks have other
        ways to be met than by the mean of three draws.
        """
        start = self.evidence(self.x0)
        here = self.claim(theta)
        tells = self.seen.walled or here.share >= MOST_FAILING
        if not tells or start.share >= here.share or self.constrained or self._risk is not None:
            return []
        return list(self._inside(way_back(self.law(theta), self.x0, count)))

    def _modelled_start(self) -> Estimate | None:
        """E f at the start by the model of the search, where that explains values anywhere."""
        if not self.control or self._surrogate() is None:
            return None
        fun, se = (float(each[0]) for each in self._predict(self.x0[None]))
        hoped = self.evidence(self.x0).hoped
        each, beside = ROWS_OF_A_MODEL
        if self.seen.count < each * self.x0.size + beside:
            se *= FEW_ROWS
        return modelled(self.x0, fun, se, hoped=hoped)

    def _proposals(self, mean: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
        """What is verified first, and what else: the mean of the search, and a second opinion."""
        rows = self.seen.count
        if not self.opinions or rows > MOST_FOR_OPINION or not self.control:
            return mean, []
        if self._risk is None and not self.constrained and self._explained(mean):
            return mean, []
        from phenes.gp.opinion import second_opinion

        law = self.law(mean)
        seen = self.seen
        found = second_opinion(
            seen.theta,
            seen.point,
            seen.f,
            mean,
            law.centre - law.theta,
            law.cov,
            self._laws.draws_at,
            *self._standings.wanted(),
            self._risk,
        )
        if found is None:
            return mean, []
        if self.constrained:  # it has nothing to gain by violating them
            return found.theta, [self._safer(mean)]
        self._opinion = found.surrogate
        self._estimates.clear()
        return (found.theta, [mean]) if found.better else (mean, [])

    def _explained(self, theta: FloatArray) -> bool:
        """Whether a quadratic is exact around theta: no other model has anything to add."""
        law = self.law(theta)
        weights = balance_weights(self.seen, law)
        plain, known = (
            estimate(self.seen, law, self.price, weights, control) for control in (False, True)
        )
        return known.spread <= EXACT * plain.spread

    def _best_or(self, other: FloatArray) -> FloatArray:
        """The best theta that was evaluated, or another if none has a value."""
        return self.seen.theta[self.best].copy() if self.best >= 0 else other

    def place(self, role: str, theta: FloatArray) -> None:
        if not any(np.array_equal(theta, at) for _, at in self.places):
            self.places.append((role, theta.copy()))

    def _rivals(
        self, path: FloatArray, leader: Estimate, entrants: list[FloatArray]
    ) -> list[FloatArray]:
        """Theta that may be better than the leader. path [k, d]: means along the way."""
        if self.constrained:  # what has a better value often has it by violating them
            return []
        law = self.law(leader.theta)
        earlier = np.array([theta for _, theta in self.places]).reshape(-1, self.x0.size)
        pool = candidates(self.seen, law, earlier, path, self._inside)
        of_values = self._merit.of_values
        return rivals(self.seen, law, self.price, leader, entrants, pool, of_values)

    @property
    def best(self) -> int:
        """The row of the best finite value, -1 if there is none.

        Of those that meet the constraints; if none does, the row that violates them least.
        """
        f = self.seen.f
        if not np.isfinite(f).any():
            return -1
        if not self.constrained:
            return int(np.nanargmin(f))
        excess = worst_excess(self.seen.c)
        excess = np.where(np.isfinite(f), excess, np.inf)
        least = excess.min()
        return int(np.argmin(np.where(excess <= max(least, 0.0), f, np.inf)))

    def recommend(self, mean: FloatArray) -> Claim:
        """What is known now. mean: what the search would propose, if nothing was verified yet."""
        if self.exact:
            return self._exactly(mean)
        key = (self.seen.count + self.seen.dropped, len(self.places), mean.tobytes())
        if self._said is None or self._said[0] != key:
            self._said = (key, self._weigh(mean))
        return self._said[1]

    def _weigh(self, mean: FloatArray) -> Claim:
        start = self.evidence(self.x0)
        known = [(role, self.evidence(theta)) for role, theta in self.places]
        last = self._last_verified(mean)
        drawn = sorted(
            (each for _, each in known if each.draws),
            key=lambda each: not np.array_equal(each.theta, last),
        )
        if drawn and self.constrained:
            answer, at = self._decide(drawn, start)
            if at is not answer.theta:
                known.append((ANSWER, answer))
                return Claim(answer, start, (("start", start), *known), at, False)
        elif drawn:
            chosen = decide(drawn, start, self._modelled_start())
            answer = self._moved(chosen, mean)
            if answer is not None:
                known.append((ANSWER, answer))
                return Claim(answer, start, (("start", start), *known), chosen.theta, False)
            answer = self.claim(chosen.theta) if chosen.draws >= TRIAL else chosen
        else:
            here = self.evidence(mean)
            # too few rows nearby: fall back on the model of the search
            if not np.isfinite(here.fun):
                fun, se = self.model()
                here = modelled(mean, fun, se, here.draws, here.failed)
            known.append(("mean", here))
            answer = start if surely_beats(start, here) else here
            if self.constrained:
                able = self.admissible([here, start])
                answer = answer if any(answer is each for each in able) else able[0]
        return Claim(answer, start, (("start", start), *known), answer.theta, False)

    def _last_verified(self, mean: FloatArray) -> FloatArray:
        """What was verified last: where the user wanted it, else the proposal of the search."""
        wanted = [theta for role, theta in self.places if role == ANSWER]
        if wanted:
            return wanted[-1]
        return mean if self.verification is None else self.verification.proposal

    def _moved(self, chosen: Estimate, mean: FloatArray) -> Estimate | None:
        """E f at what the search proposes after the last draws, if that is the better answer."""
        last = None if self.verification is None else self.verification.proposal
        if last is None or not np.array_equal(chosen.theta, last) or np.array_equal(mean, last):
            return None
        law = self.law(last)
        near = bool(np.linalg.norm(law.z(mean) - law.z(last)) <= APART)
        if not near or not self.control or self._surrogate() is None:
            return None
        if self.seen.tied:  # f jumps: an edge may lie between the draws and the new place
            return None
        if not carries(chosen, self.evidence(mean)):
            return None
        return self._shifted(mean, chosen)

    def _shifted(self, theta: FloatArray, chosen: Estimate) -> Estimate | None:
        """E f at theta by the draws at a place nearby; None if too few of them count there."""
        at = chosen.theta
        claimed = self._estimated(theta, lambda seen, law: shifted_weights(seen, law, at))
        return replace(claimed, draws=chosen.draws) if claimed.effective >= TRIAL else None

    def _decide(self, drawn: list[Estimate], start: Estimate) -> tuple[Estimate, FloatArray]:
        """The best of those that meet the constraints; the start only if it does.

        And where the draws were made that it rests on.
        """
        inside = [self._led_inside(each) for each in drawn]
        able = self.admissible([*inside, start])
        known = [each for each in able if each is not start]
        if not known:
            return start, start.theta
        unbeaten = start if any(each is start for each in able) else nothing(self.x0)
        modelled = self._modelled_start() if unbeaten is start else None
        answer = decide(known, unbeaten, modelled)
        if answer is not start and answer is unbeaten:  # too few draws to tell
            answer = max(known, key=lambda each: each.draws)
        for each, moved in zip(drawn, inside, strict=True):
            if answer is moved and moved is not each:
                return answer, each.theta
        answer = self.claim(answer.theta) if answer.draws >= TRIAL else answer
        return answer, answer.theta

    def _led_inside(self, chosen: Estimate) -> Estimate:
        """The same nearby, within the limits as the model knows them after the last draws.

        The draws move the model a little, so that it may no longer be sure of a place that it
        proposed with a margin: then they speak for one beside it, as those of `_moved` do.
        """
        if not few(chosen) or not self.control or self._surrogate() is None:
            return chosen
        place = self.standing(chosen.theta)
        if place.met or not place.expected:
            return chosen
        theta = self._safer(chosen.theta)
        law = self.law(chosen.theta)
        near = bool(np.linalg.norm(law.z(theta) - law.z(chosen.theta)) <= APART)
        if not near or not self.standing(theta).met:
            return chosen
        return self._shifted(theta, chosen) or chosen

    def _exactly(self, mean: FloatArray) -> Claim:
        best = self.seen.theta[self.best].copy() if self.best >= 0 else None
        return exact_claim(self.seen, best, self.x0, mean, self._risk)


def _as_it_is(theta: FloatArray) -> FloatArray:
    """Without bounds every theta is inside. A function of the module: an Optimizer is pickled."""
    return theta
