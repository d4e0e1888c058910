"""A model chooses which of many candidates are worth an evaluation, and stands in for the others.

n evaluated points and the others, which only the model values, are a population of `breadth` times
n for the price of n. Ranks ask little of a model: it has to order points, not to explain their
values. Whether it does is seen on every point before the model learns from it.
"""

from dataclasses import dataclass, field

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.cma import Population
from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.estimate import horizon
from phenes.adaptive.model.features import axis_features
from phenes.adaptive.model.surrogate import Surrogate, learn, least_rows
from phenes.adaptive.policies.mirroring import Mirroring, worth_it
from phenes.adaptive.state import State


def _nothing() -> np.ndarray:
    return np.empty((0, 0))


@dataclass
class Screening:
    """Owns the surrogate, how far it is trusted, and the candidates it stands in for."""

    on: bool = True
    mirroring: Mirroring = field(default_factory=Mirroring)
    surrogate: Surrogate = field(default_factory=Surrogate)
    agreement: float = 0.0  # rank correlation of the surrogate with f at points it had not seen
    learnt_at: int = 0  # rows ever seen when the surrogate was fitted
    breadth: float = 1.0  # candidates per evaluation
    pool: np.ndarray = field(default_factory=_nothing)  # candidates not evaluated, in x

    def applies(self, coords: Coordinates) -> bool:
        return self.on and worth_it(coords)

    def draw(self, state: State, n: int, rng: np.random.Generator) -> np.ndarray:
        """n intended theta: the most promising of breadth * n.

        The others stay in the pool of the generation, as if they were realised.
        """
        coords = state.coords
        screens = self.applies(coords) and not state.phase.refines and bool(self.surrogate)
        total = round(n * self.breadth) if screens else n
        theta = coords.intend(state.marginal.draw(self.mirroring.draw(total, coords, rng)))
        if total == n:
            return theta
        order = np.argsort(self.surrogate.predict(theta + coords.bias), kind="stable")
        rest = theta[order[n:]] + coords.bias
        rest += coords.to_x(rng.standard_normal(rest.shape) * np.sqrt(coords.c))
        # bounded: a caller may ask many times without telling
        most = round(tuning.BROADEST * max(n, state.popsize))
        self.pool = np.concatenate([self.pool.reshape(-1, coords.dim), rest])[:most]
        return theta[order[:n]]

    def population(self, state: State, x: np.ndarray, f: np.ndarray) -> Population:
        """The evaluated points x [n, d] with f [n], and those of the pool with what the model says.

        The model has seen x by then.
        """
        coords = state.coords
        evaluated = f.size
        if self.applies(coords):
            x, f = self._extended(state, x, f)
        return Population(coords.to_y(x), f, evaluated, self.mirroring.applies(coords))

    def forget(self) -> None:
        """The candidates belong to a search that is given up."""
        self.pool = _nothing()

    def _extended(
        self, state: State, x: np.ndarray, f: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        most = round((self.breadth - 1) * f.size)
        pool = self.pool.reshape(-1, state.coords.dim)[:most]
        self.forget()
        self._judge(x, f)
        self._learn(state)
        if not self.surrogate or not len(pool):
            return x, f
        slope, level = _calibrate(self.surrogate.predict(x), f)
        if slope <= 0:
            return x, f
        guess = level + slope * self.surrogate.predict(pool)
        return np.concatenate([x, pool]), np.concatenate([f, guess])

    def _learn(self, state: State) -> None:
        """Fits the surrogate again, in many dimensions only when there are some new rows for it."""
        wait = axis_features(state.coords.dim) // tuning.SURROGATE_WAIT
        if not self.surrogate or state.archive.total - self.learnt_at >= wait:
            self.surrogate = learnt(state)
            self.learnt_at = state.archive.total

    def _judge(self, x: np.ndarray, f: np.ndarray) -> None:
        """More candidates if the model orders points that it has not seen as f does, else fewer."""
        good = np.isfinite(f)
        n = int(good.sum())
        if not self.surrogate or n < tuning.FEWEST_RANKED:
            return
        guess = _ranks(self.surrogate.predict(x)[good])
        truth = _ranks(f[good])
        now = float(guess @ truth / (truth @ truth))
        self.agreement += min(1.0, n / tuning.AGREEMENT_MEMORY) * (now - self.agreement)
        if self.agreement > tuning.AGREEMENT:
            self.breadth = min(tuning.BROADEST, 2 * self.breadth)
        else:
            self.breadth = max(1.0, self.breadth / 2)


def learnt(state: State) -> Surrogate:
    """The surrogate of the newest samples near the mean."""
    coords = state.coords
    marginal = state.marginal
    if state.archive.count <= least_rows(coords.dim):  # not worth the turning of all rows
        return Surrogate()
    newest = tuning.SURROGATE_ROWS_PER_FEATURE * axis_features(coords.dim)
    x, f = state.archive.newest(max(newest, state.popsize + tuning.SPARE_ROWS))
    return learn(x, f, coords, marginal, horizon(coords.dim))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks less their mean."""
    return np.argsort(np.argsort(values, kind="stable")) - (values.size - 1) / 2


def _calibrate(guess: np.ndarray, f: np.ndarray) -> tuple[float, float]:
    """Slope and level of f on what the model says about the evaluated points.

    The others have to compare with these.
    """
    good = np.isfinite(f)
    if good.sum() < tuning.FEWEST_RANKED:
        return 0.0, 0.0
    g = guess[good] - guess[good].mean()
    v = f[good]
    slope = float(g @ v / max(float(g @ g), tuning.TINY))
    return slope, float(v.mean() - slope * guess[good].mean())
