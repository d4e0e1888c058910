"""Ask and tell: the optimiser for labs, machines and simulators that realise x themselves."""

import warnings
from typing import Any

import numpy as np

from phenes.adaptive import Adaptive
from phenes.optimizer import door
from phenes.optimizer.channel import Measured, Moments, as_channel
from phenes.optimizer.history import History
from phenes.optimizer.learning import Learnt, Residuals, expected_moments, misfit
from phenes.optimizer.result import Result

PATIENCE = 20  # generations without any finite value after which an experiment is taken to be broken


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

    noise: as for `minimize`. Values may come in any order, in parts, for theta that were never asked, or not at all; NaN or infinite
    values are failed evaluations, NaN coordinates of x were not measured. Without `realised` nothing is known of x, and the search is an
    ordinary evolution strategy on noisy values. maximize=True maximises instead.
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
        seed: int = 0,
    ):
        x0, sigma0 = door.start(x0, sigma0)
        self.dim, self.sign = x0.size, -1.0 if maximize else 1.0
        lower, upper = door.box(bounds, x0)
        self.popsize = door.popsize(popsize)
        self.budget = door.budget(budget, self.dim)
        self.target = door.target(target)
        self.seed = door.seed(seed)
        self.learns = isinstance(noise, str) and noise == "learn"
        nothing = np.zeros(self.dim)
        self.channel = Measured(nothing, nothing) if self.learns else as_channel(noise, self.dim)
        self._known: Moments = self.channel.moments(x0)
        rng = np.random.default_rng([self.seed, 0])
        self._engine = Adaptive(x0, sigma0, self._known.cov, popsize=self.popsize, rng=rng, bias=self._known.bias, lower=lower, upper=upper)
        self._residuals = Residuals(self.dim)
        self._next_check = 8 if self.learns else 64
        self._told: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._waiting = 0
        self._failed, self._barren = 0, 0
        self._history = History()
        self.nfev, self.generation = 0, 0
        self.warning: str | None = None

    def ask(self, n: int | None = None) -> np.ndarray:
        """Intended theta to try, [n, d]; by default a whole generation. May be asked again before anything is told."""
        return self._engine.ask(self.popsize if n is None else door.whole("n", n, 1))

    def tell(self, theta: Any, f: Any, realised: Any = None) -> None:
        """Values of f at what became of theta: rows of `theta` [n, d], numbers `f` [n], and the measured x `realised` [n, d]."""
        theta, f, x = door.told(theta, f, realised, self.dim)
        self.nfev += f.size
        self._failed += int(np.sum(~np.isfinite(f)))
        self._barren = self._barren + f.size if not np.isfinite(f).any() else 0
        self._told.append((theta, x, self.sign * f))
        self._waiting += f.size
        if self._waiting >= self._engine.popsize or self.nfev >= self.budget:
            self._update()

    def stop(self) -> dict[str, Any]:
        """Reasons to stop, by name; empty, and so false, while there is something to gain."""
        reasons: dict[str, Any] = {}
        if self.nfev >= self.budget:
            reasons["budget"] = self.nfev
        if self._barren >= PATIENCE * max(self._engine.popsize, 1):
            reasons["failing"] = f"no finite value in the last {self._barren} evaluations"
        if self.generation:
            if self.target is not None and self._reached():
                reasons["target"] = self.target
            if self._engine.converged:
                reasons["converged"] = self._engine.converged
        return reasons

    @property
    def mean(self) -> np.ndarray:
        """The theta recommended now."""
        return self._engine.mean.copy()

    @property
    def estimate(self) -> tuple[float, float]:
        """E f at the mean, and its standard error."""
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
        fun, se = self._estimate()
        reasons = self.stop()
        failing = "failing" in reasons
        answer = Result(
            x=self.mean,
            fun=float(fun),
            fun_se=float(se),
            nfev=self.nfev,
            nit=self.generation,
            success=bool(self.generation) and np.isfinite(fun) and not failing,
            message=_message(reasons, self.generation),
            failed=self._failed,
            spread=self.spread,
            history=self._history.arrays(),
            noise=str(self._residuals.learn()) if self.learns and self._residuals.samples else "",
        )
        return answer if self.sign > 0 else answer.negated()

    def _estimate(self) -> tuple[float, float]:
        """As minimised. Variances that were learnt from n residuals are known to a share sqrt(2 / n), and so is what the noise costs."""
        if not self.generation:
            return np.nan, np.inf
        fun, se = self._engine.estimate
        learnt = abs(self._engine.noise_cost) * np.sqrt(2 / max(self._residuals.samples, 2)) if self.learns else 0.0
        return float(fun), float(np.hypot(se, learnt))

    def _update(self) -> None:
        """One generation for the engine, from all that was told since the last."""
        parts, self._told, self._waiting = self._told, [], 0
        theta, x, f = (np.concatenate(each) for each in zip(*parts, strict=True))
        self._observe(theta, x)
        full, known = self.channel.fill(theta, x)
        if not _same(known, self._known):
            self._engine.update_noise(known.cov, known.bias, _variances(self.channel.moments(theta)) - _variances(known))
            self._known = known
        self._engine.tell(theta, self.channel.pull(full, theta), f)
        self.generation += 1
        self._note(f)

    def _observe(self, theta: np.ndarray, x: np.ndarray) -> None:
        """Learn the noise, or hold it against what was declared, whenever there are half as many data more."""
        pulled = x if self.learns else self.channel.pull(x, theta)
        self._residuals.add(pulled - theta)
        if self._residuals.samples < self._next_check:
            return
        self._next_check = self._residuals.samples * 3 // 2 + 1
        if self.learns:
            learnt = self._residuals.learn()
            self.channel = Measured(learnt.bias, learnt.cov)
            return
        sentence = misfit(self._residuals, *expected_moments(self.channel, theta)) if self.channel.fixed else None
        if sentence and self.warning is None:  # once: later ones would say the same with more data
            self.warning = sentence
            warnings.warn(sentence, NoiseWarning, stacklevel=4)

    def _note(self, f: np.ndarray) -> None:
        fun, se = self._estimate()
        finite = f[np.isfinite(f)]
        median = np.median(finite) if finite.size else np.nan
        self._history.add(self.nfev, self.mean, fun, se, median, self._engine.spread, self._engine.phase)

    def _reached(self) -> bool:
        """With confidence: the estimate is below the target by two standard errors."""
        fun, se = self._estimate()
        return self.target is not None and fun + 2 * se <= self.sign * self.target


def _variances(moments: Moments) -> np.ndarray:
    return np.diag(moments.cov) if moments.cov.ndim == 2 else moments.cov


def _same(a: Moments, b: Moments) -> bool:
    """Up to what a few unmeasured coordinates more or less make."""
    return a.cov.shape == b.cov.shape and np.allclose(a.cov, b.cov, rtol=0.02, atol=1e-300) and np.array_equal(a.bias, b.bias)


def _message(reasons: dict[str, Any], updates: int) -> str:
    if not updates and not reasons:
        return "nothing has been told yet"
    said = {
        "budget": lambda value: f"the budget is used, {value} evaluations",
        "failing": lambda value: value,
        "target": lambda value: f"the target {value:.6g} is reached with confidence",
        "converged": lambda value: value if isinstance(value, str) else "nothing more to gain",
    }
    return "; ".join(said[name](value) for name, value in reasons.items()) or "not finished"
