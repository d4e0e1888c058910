"""The adaptive strategy: descents with restarts; the answer is the mean of the run with the best
estimate of F.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from phenes.adaptive import door, estimate, restarts, screen
from phenes.adaptive import run as runs
from phenes.adaptive.record import from_record, to_record
from phenes.adaptive.space import Space, make_space
from phenes.adaptive.state import Run


class Adaptive:
    """Minimises E f(x), x = theta + noise of known covariance: ask for intended theta, tell the
    realised x and f(x).
    """

    def __init__(
        self,
        x0,
        sigma0,
        cov,
        *,
        popsize: int | None = None,
        rng: np.random.Generator,
        bias=None,
        lower=None,
        upper=None,
    ):
        given = door.check(x0, sigma0, cov, popsize, bias, lower, upper)
        self.rng = rng
        self.space: Space = make_space(given.cov, given.width, given.bias, given.lower, given.upper)
        self.x0 = np.clip(given.x0, given.lower, given.upper)
        self.plan = restarts.Plan(
            popsize if popsize is not None else restarts.default_popsize(self.space)
        )
        self.incumbent: Run = runs.start(self.space, self.x0 + given.bias, 1.0, self.plan.small)
        self.challenger: Run | None = None
        self.evaluations = 0
        self.generation = 0

    @property
    def _task(self) -> Run:
        return self.challenger if self.challenger is not None else self.incumbent

    @property
    def popsize(self) -> int:
        return self._task.popsize

    def ask(self, n: int | None = None) -> np.ndarray:
        """Intended theta [n, d] inside the box; n is the current population size unless given."""
        task = self._task
        return screen.draw(task, self.space, task.popsize if n is None else n, self.rng)

    def tell(self, theta, x, f) -> None:
        """Realised x [n, d] and values f [n] of any number of samples; NaN or infinite values are
        failed evaluations.
        """
        x, f = door.samples(x, f, self.space.dim)
        task = self._task
        before = task.generation
        runs.tell(task, self.space, x, f)
        self.evaluations += f.size
        self.generation += task.generation - before
        self._schedule()

    def learn(self, theta, x, f) -> None:
        """Samples for the models of the best run that are no part of its search."""
        x, f = door.samples(x, f, self.space.dim)
        self.incumbent.archive.add(x, f)
        self.evaluations += f.size

    def conclude(self) -> None:
        """No more samples of this generation will come: move on with those that came, if they are
        half of it.
        """
        runs.conclude(self._task, self.space)

    def restart(self, theta: np.ndarray) -> None:
        """A new run from theta, half as wide as the first: the evidence says that the answer is not
        where the best run ended.
        """
        self.plan = restarts.Plan(self.plan.small)
        self.challenger = None
        self.incumbent = runs.start(
            self.space, theta + self.space.bias, 0.5, self.plan.small, self.incumbent.value_noise
        )

    def inside(self, theta: np.ndarray) -> np.ndarray:
        """Rows of theta, or the nearest that the box allows."""
        return np.clip(theta, self.space.lower, self.space.upper)

    def _schedule(self) -> None:
        """When a run has ended: is the challenger better, and who is next?"""
        if self.challenger is not None:
            self.plan.spent(self.challenger)
            if not restarts.decided(self.challenger, self.incumbent):
                return
            same = restarts.same_place(self.challenger, self.incumbent)
            # of two at the same place the one that can go on averaging is worth more
            stuck = self.incumbent.phase == "search" and self.challenger.phase == "newton"
            better = stuck if same else restarts.better(self.challenger, self.incumbent)
            self.plan.judged(better, same)
            if better:
                self.incumbent = self.challenger
            self.challenger = None
        if self.incumbent.finished and not self.plan.refine(self.incumbent):
            self.challenger = restarts.challenge(
                self.plan, self.space, self.x0, self.incumbent.value_noise, self.rng
            )

    @property
    def mean(self) -> np.ndarray:
        """The recommendation: theta at the mean of the best run."""
        return self.space.intend(self.incumbent.normal.mean)

    @property
    def estimate(self) -> tuple[float, float]:
        """Estimate of E f(x) at `mean` and its standard error, from values."""
        return estimate.current(self.incumbent, self.space)

    @property
    def noise_cost(self) -> float:
        """What the noise of the inputs adds to F at `mean`: with C known to some per cent, F is
        known to no more per cent of this.
        """
        return self.incumbent.noise_cost

    @property
    def spread(self) -> np.ndarray:
        """Standard deviation of theta per coordinate."""
        normal = self._task.normal
        return self.space.std_x(normal.search(self.space.c))

    @property
    def challenging(self) -> bool:
        """Is a restart under way, beside a best run that has seen values?"""
        return self.challenger is not None and self.incumbent.archive.best() is not None

    @property
    def restarts(self) -> int:
        return self.plan.started

    @property
    def phase(self) -> str:
        if self.challenger is not None:
            return f"restart {self.plan.started}: {self.challenger.phase}"
        return "refine" if self.incumbent.finished else self.incumbent.phase

    @property
    def converged(self) -> str:
        """Why more evaluations would gain nothing; empty while they may, and while no two values
        differ: that is no convergence.
        """
        f = self.incumbent.archive.newest(self.incumbent.archive.count)[1]
        return (
            self.incumbent.finished
            if self.incumbent.finished and self.plan.pointless and f.size and np.ptp(f) > 0
            else ""
        )

    def update_noise(self, cov, bias, unmeasured=None) -> None:
        """The noise is known better now: the same distributions in new coordinates. unmeasured:
        variances [d] of what nobody measures.
        """
        old, smooth = (
            self.space,
            (None if unmeasured is None else np.sqrt(np.maximum(unmeasured, 0.0))),
        )
        new = make_space(
            np.asarray(cov, float), old.width, np.array(bias, float), old.lower, old.upper, smooth
        )
        for task in [self.incumbent] + ([self.challenger] if self.challenger is not None else []):
            runs.move(task, old, new)
        self.space = new

    def state(self) -> dict[str, Any]:
        """All there is, as data: arrays, numbers, strings and dicts of them."""
        return {
            "rng": self.rng.bit_generator.state,
            "x0": self.x0,
            "evaluations": self.evaluations,
            "generation": self.generation,
            "space": to_record(self.space),
            "plan": to_record(self.plan),
            "incumbent": to_record(self.incumbent),
            "challenger": {} if self.challenger is None else to_record(self.challenger),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Adaptive:
        """Goes on bit for bit where `state()` was taken."""
        self = cls.__new__(cls)
        bits = getattr(np.random, state["rng"]["bit_generator"])()
        bits.state = state["rng"]
        self.rng = np.random.Generator(bits)
        self.x0 = np.array(state["x0"])
        self.evaluations, self.generation = int(state["evaluations"]), int(state["generation"])
        self.space = from_record(Space, state["space"])
        self.plan = from_record(restarts.Plan, state["plan"])
        self.incumbent = from_record(Run, state["incumbent"])
        self.challenger = from_record(Run, state["challenger"]) if state["challenger"] else None
        return self
