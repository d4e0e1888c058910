"""Ask and tell: the optimiser for labs, machines and simulators that realise x themselves."""

import warnings
from typing import Any

import numpy as np

from phenes import _validate
from phenes.adaptive import Adaptive
from phenes.evidence.observations import HUGE
from phenes.evidence.verification import surely_beats
from phenes.optimizer.history import History
from phenes.optimizer.noise_fit import Learnt, Residuals, expected_moments, misfit
from phenes.optimizer.noise_model import Measured, Moments, Sampled, as_channel
from phenes.optimizer.result import Result
from phenes.optimizer.trust import SIMULATED, Trust
from phenes.optimizer.verdict import Facts, answer

# evaluations of the first generation at x0 itself: what the answer has to beat; without noise two,
# whether f repeats itself
PROBES = 1
STREAM = 2**31 - 1  # seed of draws that are simulated, not evaluated
# generations without any finite value after which an experiment is taken to be broken
PATIENCE = 20


UNMEASURED = (
    "noise='learn' and nothing was measured: tell `realised`, or declare the noise; until then"
    " values are taken to scatter by themselves"
)


class NoiseWarning(UserWarning):
    """The realised inputs contradict what was declared of them."""


class Optimizer:
    """Minimises E f(x), x ~ p_theta, from the intended theta, the realised x and the values f.

        opt = phenes.Optimizer(x0=np.zeros(10), sigma0=0.5, noise=0.1)
        while not opt.stop():
            theta = opt.ask()
            x, f = lab(theta)
            opt.tell(theta, f, realised=x)
        print(opt.result)

    noise: as for `minimize`. Values may come in any order, in parts, for theta that were never
    asked, or not at all; NaN or infinite values are failed evaluations, NaN coordinates of x were
    not measured. Without `realised` nothing is known of x, and the search is an ordinary evolution
    strategy on noisy values. maximize=True maximises instead.
    """

    def __init__(
        self,
        x0: Any,
        sigma0: Any,
        noise: Any = None,
        *,
        bounds: Any = None,
        popsize: int | None = None,
        budget: int | None = None,
        target: float | None = None,
        maximize: bool = False,
        verify: int | None = None,
        seed: int = 0,
    ):
        x0, sigma0 = _validate.start(x0, sigma0)
        self.dim, self.sign = x0.size, -1.0 if _validate.flag("maximize", maximize) else 1.0
        lower, upper = _validate.bounds(bounds, x0)
        self.popsize = None if popsize is None else _validate.count("popsize", popsize, 2)
        self.budget = _validate.budget(budget, self.dim)
        self.target = None if target is None else _validate.number("target", target)
        self.reserved = _validate.verify(verify, self.budget)
        self.seed = _validate.count("seed", seed, 0)
        self.learns = isinstance(noise, str) and noise == "learn"
        nothing = np.zeros(self.dim)
        self.channel = Measured(nothing, nothing) if self.learns else as_channel(noise, self.dim)
        self._known: Moments = self.channel.moments(x0)
        rng = np.random.default_rng([self.seed, 0])
        self._engine = Adaptive(
            x0,
            sigma0,
            self._known.cov,
            popsize=self.popsize,
            rng=rng,
            bias=self._known.bias,
            lower=lower,
            upper=upper,
        )
        self._residuals = Residuals(self.dim)
        self._next_check = 8 if self.learns else 64
        self._told: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._waiting = 0
        self._failed, self._barren = 0, 0
        self._history = History()
        self.nfev, self.generation = 0, 0
        self.warning: str | None = None
        self._asked = 0
        self._ending = ""  # why the verification began: "budget", "converged" or "target"
        self._next_target = 0  # evaluations before which the target is not tested again
        self._patterns: set[bytes] = set()  # of coordinates that were not measured
        self._trust = Trust(
            self._engine.x0,
            self._noiseless(),
            2 * self._engine.popsize,
            self._law_of,
            self._scale,
            self._estimate,
        )

    def ask(self, n: int | None = None, pending: int = 0) -> np.ndarray:
        """Intended theta to try, [n, d]; by default a whole generation. May be asked again before
        anything is told.

        Near the end of the budget these are points at which the answer is verified; there are never
        more than the budget leaves. Once it is used, more draws at the answer. pending: rows that
        were handed out, are still under way and will be told.
        """
        wanted = (self.popsize or self._engine.popsize) if n is None else _validate.count("n", n)
        used = self.nfev + pending
        rows = max(min(wanted, self.budget - used), 0) if self.nfev < self.budget else wanted
        if rows == 0:  # what is under way uses the budget
            return np.empty((0, self.dim))
        self._advance(pending)
        verification = self._trust.verification
        if verification is not None:
            return self._hand_out(verification.ask(rows))
        return self._hand_out(self._search(min(rows, max(self.budget - self._reserve - used, 1))))

    def _search(self, n: int) -> np.ndarray:
        """Candidates of the search, after x0 itself in the first generation."""
        probes = max((2 * PROBES if self._trust.noiseless else PROBES) - self._asked, 0)
        known = np.concatenate([np.tile(self._trust.x0, (probes, 1)), self._trust.repeats(n)])[:n]
        wanted = n - len(known)
        # candidates come in mirrored pairs: one that lost its place to x0 must not shift those of
        # all generations to come
        return (
            np.concatenate([known, self._engine.ask(wanted + len(known) % 2)[:wanted]])
            if wanted
            else known
        )

    def _hand_out(self, theta: np.ndarray) -> np.ndarray:
        self._asked += len(theta)
        return theta

    def tell(self, theta: Any, f: Any, realised: Any = None) -> None:
        """Values of f at what became of theta: rows of `theta` [n, d], numbers `f` [n], and the
        measured x `realised` [n, d].
        """
        theta, f, x = _validate.told(theta, f, realised, self.dim)
        self.nfev += f.size
        self._failed += int(np.sum(~np.isfinite(f)))
        # restarts may well fall where f fails: they end by themselves, and say nothing of the best
        # run
        counted = 0 if self._engine.challenging else f.size
        self._barren = 0 if np.isfinite(f).any() else self._barren + counted
        self._patterns |= {row.tobytes() for row in np.unique(np.isnan(x), axis=0)}
        self._told.append(
            (theta, x, np.where(np.isfinite(f), np.clip(self.sign * f, -HUGE, HUGE), np.nan))
        )
        self._waiting += f.size
        full, _ = self.channel.fill(theta, x)
        self._trust.add(theta, x, self.channel.pull(full, theta), self.sign * f)
        if self._waiting >= self._engine.popsize or self.nfev >= self.budget:
            self._update()
        self._advance()

    def verify(self, n: int) -> np.ndarray:
        """n more theta at the present answer, to be told like any others: the claim then rests on
        them too. Does not mind the budget.
        """
        count = _validate.count("n", n)
        at = self._trust.recommend(self._engine.mean).estimate.theta
        self._trust.place("answer", at)
        return np.tile(at, (count, 1))

    def stop(self) -> dict[str, Any]:
        """Reasons to stop, by name; empty, and so false, while there is something to gain or to
        verify.
        """
        reasons: dict[str, Any] = {}
        if self.nfev >= self.budget:
            reasons["budget"] = self.nfev
        if self._barren >= PATIENCE * max(self._engine.popsize, 1):
            reasons["failing"] = f"no finite value in the last {self._barren} evaluations"
        verification = self._trust.verification
        if (verification is not None and verification.done) or not self._reserve:
            if self._ending == "target" and self._target_holds():
                reasons["target"] = self.target
            if self.generation and self._engine.converged:
                reasons["converged"] = self._engine.converged
        return reasons

    @property
    def _reserve(self) -> int:
        return self._trust.reserve(self.budget, self.reserved, self.popsize)

    def _advance(self, pending: int = 0) -> None:
        """Begin the verification when it is due, and go on searching when it found the search to be
        wrong and there is budget left.
        """
        if not self._reserve:
            self._ending = "target" if self._seems_reached() else ""
            return
        trust = self._trust
        if trust.verification is not None:
            late = self.nfev + pending >= self.budget - self._reserve
            if self._ending == "budget" and not late:  # the budget was raised
                trust.verification = None
            elif trust.verification.done and self._ending != "budget" and self.nfev < self.budget:
                self._judge_early()
        if trust.verification is None:
            self._ending = self._due(self.nfev + pending)
            if self._ending:
                self._begin(pending)

    def _due(self, used: int) -> str:
        if used >= self.budget - self._reserve:
            return "budget"
        if self.generation and self._engine.converged:
            return "converged"
        return "target" if self._seems_reached() and self.nfev >= self._next_target else ""

    def _begin(self, pending: int) -> None:
        if self._told:
            self._update()
        if self._ending == "budget":
            self._engine.conclude()
        left = max(self.budget - self.nfev - pending, 1)
        reserve = left if self._ending == "budget" else min(self._reserve, left)
        self._trust.begin(self._engine.mean, reserve, self._history.means(), self._engine.inside)

    def _judge_early(self) -> None:
        """A verification before the end of the budget: it stands, or the search goes on from where
        the evidence points.
        """
        trust, asked = self._trust, self._trust.verification
        assert asked is not None
        if self._ending == "target":
            if self._target_holds():
                return
            self._next_target = int(1.3 * self.nfev)
        else:
            found = trust.recommend(self._engine.mean).estimate
            stands = (
                trust.exact
                or np.array_equal(found.theta, asked.proposal)
                or not surely_beats(found, trust.claim(asked.proposal))
            )
            if stands or self.budget - self.nfev < 2 * self._reserve:
                return
            self._engine.restart(found.theta)
        trust.verification, self._ending = None, ""

    def _seems_reached(self) -> bool:
        """By the model of the search."""
        if self.target is None or not self.generation:
            return False
        fun, se = self._estimate()
        return fun + 2 * se <= self.sign * self.target

    def _target_holds(self) -> bool:
        """By the evidence: below the target by two standard errors."""
        if self.target is None:
            return False
        if not self._reserve:
            return self._seems_reached()
        known = self._trust.recommend(self._engine.mean).estimate
        return known.fun + 2 * known.se <= self.sign * self.target

    def _noiseless(self) -> bool:
        if self.learns:
            return not np.any(self._residuals.variances() > 0)
        return not np.any(self.channel.moments(self._engine.x0).cov)

    def _law_of(self, theta: np.ndarray) -> Any:
        """The law of x at theta: moments, or draws where only these say it."""
        if isinstance(self.channel, Sampled) and not any(
            any(pattern) for pattern in self._patterns
        ):
            return self.channel.draw(STREAM, 0, np.tile(theta, (SIMULATED, 1)))
        rests_on = float(self._residuals.samples) if self.learns else np.inf
        return self._known.bias, self._known.cov, rests_on

    def _scale(self) -> np.ndarray:
        spread = np.asarray(self._engine.spread)
        return np.maximum(spread, 1e-12 * (1 + np.abs(self._engine.mean)))

    @property
    def mean(self) -> np.ndarray:
        """The theta recommended now: the mean of the search, and what was verified once draws were
        made for that.
        """
        best = self._trust.best if self._trust.exact else -1
        if best >= 0:
            return self._trust.seen.theta[best].copy()
        if self._trust.places:
            return self._trust.recommend(self._engine.mean).estimate.theta.copy()
        return self._engine.mean.copy()

    @property
    def estimate(self) -> tuple[float, float]:
        """E f at `mean`, and its standard error: by the model of the search, and by the evidence
        once draws were made for that.
        """
        trust = self._trust
        if trust.places or (trust.exact and trust.best >= 0):
            known = trust.recommend(self._engine.mean).estimate
            fun, se = known.fun, known.se
        else:
            fun, se = self._estimate()
        return self.sign * fun, se

    @property
    def phase(self) -> str:
        """What the search is doing now, in a word."""
        return self._engine.phase

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of the search in each coordinate."""
        return np.asarray(self._engine.spread).copy()

    @property
    def noise_std(self) -> np.ndarray:
        """Standard deviation of x - theta in each coordinate, as it is taken to be now."""
        cov = self._known.cov
        return np.sqrt(np.diag(cov) if cov.ndim == 2 else cov)

    @property
    def noise(self) -> Learnt | Moments:
        """What is taken for the law of x - theta: learnt, or declared (mean and covariance)."""
        return self._residuals.learn() if self.learns else self._known

    @property
    def result(self) -> Result:
        """The recommendation and what is claimed of it, on the evidence so far."""
        trust, verification = self._trust, self._trust.verification
        model = self._estimate()
        facts = Facts(
            claim=trust.recommend(self._engine.mean),
            seen=trust.seen,
            reasons=self.stop(),
            proposal=verification.proposal if verification is not None else self._engine.mean,
            model=model,
            verifies=bool(self._reserve),
            nfev=self.nfev,
            budget=self.budget,
            generations=self.generation,
            popsize=self._engine.popsize,
            width=np.asarray(self._engine.space.width),
            spread=self.spread,
            noise=trust.law(trust.x0),
            sign=self.sign,
        )
        found = answer(
            facts,
            nit=self.generation,
            failed=self._failed,
            spread=self.spread,
            history=self._history.arrays(),
            noise=str(self._residuals.learn()) if self.learns and self._residuals.samples else "",
        )
        return found if self.sign > 0 else found.negated()

    def _estimate(self) -> tuple[float, float]:
        """As minimised. Variances that were learnt from n residuals are known to a share sqrt(2 /
        n), and so is what the noise costs.
        """
        if not self.generation:
            return np.nan, np.inf
        fun, se = self._engine.estimate
        learnt = (
            abs(self._engine.noise_cost) * np.sqrt(2 / max(self._residuals.samples, 2))
            if self.learns
            else 0.0
        )
        return float(fun), float(np.hypot(se, learnt))

    def _update(self) -> None:
        """One generation for the engine, from all that was told since the last; rows of the
        verification only enter its models.
        """
        parts, self._told, self._waiting = self._told, [], 0
        theta, x, f = (np.concatenate(each) for each in zip(*parts, strict=True))
        self._observe(theta, x)
        full, known = self.channel.fill(theta, x)
        if not _same(known, self._known):
            self._engine.update_noise(
                known.cov, known.bias, _variances(self.channel.moments(theta)) - _variances(known)
            )
            self._known = known
        self._trust.noiseless = self._noiseless()
        self._trust.control = self.warning is None and len(self._patterns) <= 1
        take_in = self._engine.tell if self._trust.verification is None else self._engine.learn
        take_in(theta, self.channel.pull(full, theta), f)
        self.generation += 1
        self._note(f)

    def _observe(self, theta: np.ndarray, x: np.ndarray) -> None:
        """Learn the noise, or hold it against what was declared, whenever there are half as many
        data more.
        """
        if self.learns and self.generation == 0 and np.isnan(x).all():
            warnings.warn(UNMEASURED, NoiseWarning, stacklevel=4)
        pulled = x if self.learns else self.channel.pull(x, theta)
        self._residuals.add(pulled - theta)
        if self._residuals.samples < self._next_check:
            return
        self._next_check = self._residuals.samples * 3 // 2 + 1
        if self.learns:
            learnt = self._residuals.learn()
            self.channel = Measured(learnt.bias, learnt.cov)
            return
        sentence = (
            misfit(self._residuals, *expected_moments(self.channel, theta))
            if self.channel.fixed
            else None
        )
        if sentence and self.warning is None:  # once: later ones would say the same with more data
            self.warning = sentence
            warnings.warn(sentence, NoiseWarning, stacklevel=4)

    def _note(self, f: np.ndarray) -> None:
        fun, se = self._estimate()
        finite = f[np.isfinite(f)]
        median = np.median(finite) if finite.size else np.nan
        self._history.add(
            self.nfev, self._engine.mean, fun, se, median, self._engine.spread, self._engine.phase
        )


def _variances(moments: Moments) -> np.ndarray:
    return np.diag(moments.cov) if moments.cov.ndim == 2 else moments.cov


def _same(a: Moments, b: Moments) -> bool:
    """Up to what a few unmeasured coordinates more or less make."""
    return (
        a.cov.shape == b.cov.shape
        and np.allclose(a.cov, b.cov, rtol=0.02, atol=1e-300)
        and np.array_equal(a.bias, b.bias)
    )
