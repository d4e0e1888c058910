"""Policies in tables: Dirichlet search, episodes compiled from the table, exact values."""

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes.rl.curve import Curve, Report
from phenes.rl.problems import Advanced, scanned
from phenes.rl.rollouts.backends import Workers, check_workers
from phenes.rl.rollouts.spaces import Observation, Options, World
from phenes.rl.tabular import evaluate, learners
from phenes.rl.tabular.environment import load
from phenes.rl.tabular.playing import play
from phenes.rl.tabular.table import Table
from phenes.strategy import State

GENERATIONS = 500
CHUNK = 25  # generations between two reports of progress


@dataclass(frozen=True)
class Score:
    """Exact expected returns of a policy in a table.

    Parameters
    ----------
    limit : int
        Steps of an episode.
    own : bool
        That is the environment's own limit.
    greedy : float
        Of the most likely action in every state.
    stochastic : float
        Of actions drawn with the learnt probabilities.
    unlimited : float
        Of the greedy policy without a step limit; minus infinity if it may never arrive and pays
        for every step.
    optimum : float
        Expected return of the best policy there is.
    start : float
        Expected return of the uniformly random policy.
    truncated : float
        Share of the episodes of the last generation that were cut off.
    """

    limit: int
    own: bool
    greedy: float
    stochastic: float
    unlimited: float
    optimum: float
    start: float
    truncated: float


@dataclass(frozen=True)
class TablePolicy:
    """probabilities: of the actions in each state."""

    probabilities: Float[np.ndarray, "s a"]
    score: Score
    kind = "table"

    def predict(self, obs: Observation, name: str, rng: np.random.Generator | None = None) -> int:
        """See `Readout.predict`: the most likely action in this state."""
        states = len(self.probabilities)
        if np.ndim(obs) != 0 or not 0 <= int(obs) < states or int(obs) != obs:
            raise ValueError(
                f"obs must be a state of {name}, an integer from 0 to {states - 1}, got {obs!r}"
            )
        own = self.probabilities[int(obs)]
        return int(np.argmax(own)) if rng is None else int(rng.choice(own.size, p=own / own.sum()))

    def returns(
        self, env: World, options: Options, episodes: int, seed: int, workers: Workers
    ) -> np.ndarray:
        """See `Readout.returns`. The table is the environment: episodes are compiled from it."""
        check_workers(workers)
        table = load(env, **options).table.limited(self.score.limit)
        best = np.eye(table.actions)[np.argmax(self.probabilities, axis=1)]
        weights = jnp.broadcast_to(jnp.asarray(best)[None], (episodes, *best.shape))
        episode = jax.jit(lambda key, weights: play(table, key, weights))
        return np.asarray(episode(jax.random.key(seed), weights).total, float)

    def arrays(self) -> dict[str, np.ndarray]:
        """See `Readout.arrays`."""
        return {"probabilities": self.probabilities}

    def described(self) -> dict[str, object]:
        """See `Readout.described`."""
        return {"score": asdict(self.score)}


def restored(described: dict[str, Any], arrays: dict[str, np.ndarray]) -> TablePolicy:
    """The policy of `arrays` and `described`, checked."""
    score, probabilities = Score(**described["score"]), arrays["probabilities"]
    _validate.count("limit", score.limit)
    for name in ("greedy", "stochastic", "optimum", "start"):
        _validate.number(name, getattr(score, name))
    if probabilities.ndim != 2 or probabilities.dtype.kind != "f":
        raise ValueError(
            "probabilities must have a row of real numbers for each state, got shape"
            f" {probabilities.shape} and type {probabilities.dtype}"
        )
    _validate.finite("probabilities", probabilities)
    _validate.signs("probabilities", probabilities, strict=False)
    if not np.allclose(probabilities.sum(axis=1), 1.0, atol=1e-4):  # single precision
        raise ValueError("probabilities must sum to one in each state")
    return TablePolicy(probabilities, score)


class Carry(NamedTuple):
    """Everything that the next generation depends on; truncated: share of episodes cut off."""

    state: State
    truncated: Float[Array, ""]


class Programs(NamedTuple):
    """A learner and what is compiled of it.

    some(key, carry, n): n generations later, their reports, and the greedy policies [n, S].
    values: expected returns of greedy policies [n, S], exactly.
    """

    learner: learners.Learner
    some: Callable[[PRNGKeyArray, Carry, int], tuple[Carry, tuple[Report, Array]]]
    values: Callable[[Array], Array]


class ByValue:
    """A table that equals another of the same numbers, so that programs are found again."""

    def __init__(self, table: Table):
        self.table = table
        arrays = [leaf for leaf in jax.tree.leaves(table) if isinstance(leaf, np.ndarray)]
        self.value = (table.limit, *(array.shape for array in arrays), *map(bytes, arrays))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByValue) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


@functools.lru_cache(maxsize=8)
def programs(given: ByValue, popsize: int, precision: str) -> Programs:
    """Compiled programs of the default learner, shared by all seeds and numbers of generations."""
    learner = learners.default(given.table, popsize)
    table = given.table.limited(learners.horizon(given.table))

    def some(key: PRNGKeyArray, carry: Carry, n: int) -> tuple[Carry, tuple[Report, Array]]:
        return scanned(lambda carry: _once(learner, key, carry), carry, n)

    values = jax.vmap(lambda policy: evaluate.value(table, policy, table.limit))
    return Programs(learner, eqx.filter_jit(some), jax.jit(values))


def _once(
    learner: learners.Learner, key: PRNGKeyArray, carry: Carry
) -> tuple[Carry, tuple[Report, Array]]:
    """One generation: its report, and the greedy policy after it."""
    problem, strategy, state = learner.problem, learner.strategy, carry.state
    batch = problem.realise(key, state.generation, strategy.ask(key, state))
    batch = batch._replace(f=problem.evaluate(batch.x))
    state, info = strategy.tell(state, batch)
    x, unknown = batch.x, jnp.full((), jnp.nan, batch.f.dtype)
    steps = jnp.sum(x.length, dtype=jnp.int32)
    report = Report(info.f_mean, info.f_best, steps, info.failed, info.skipped, unknown, unknown)
    truncated = 1 - jnp.mean(x.ended, dtype=carry.truncated.dtype)
    return Carry(state, truncated), (report, evaluate.best_action(learner.policy(state.q)))


class TableProblem:
    """A training of the default learner on a table, see `Problem`.

    keeps_best is False: the curve is exact, and the probabilities are the mean of the last search
    law.
    """

    chunk = CHUNK
    keeps_best = False

    def __init__(self, table: Table, popsize: int, seed: int):
        self.key = jax.random.key(seed)
        self.own = table.limit is not None
        self.table = table.limited(learners.horizon(table))
        precision = str(jnp.result_type(float))
        self.learner, self.some, self.values = programs(ByValue(table), popsize, precision)

    def begin(self) -> Carry:
        """See `Problem.begin`."""
        state = self.learner.strategy.init(self.learner.start(self.key))
        return Carry(state, jnp.ones((), jnp.result_type(float)))

    def advance(self, carry: Carry, n: int) -> Advanced[Carry]:
        """See `Problem.advance`. The exact value of every greedy policy."""
        before = int(carry.state.generation)
        carry, (reports, greedy) = self.some(self.key, carry, n)
        values = np.asarray(self.values(greedy), float).tolist()
        looks = list(zip(range(before + 1, before + n + 1), values, strict=True))
        return Advanced(carry, [jax.tree.map(np.asarray, reports)], looks)

    def answer(self, carry: Carry) -> Float[Array, "s a"]:
        """See `Problem.answer`: the mean probabilities of the actions."""
        return self.learner.policy(carry.state.q)

    def prove(self, answer: Float[Array, "s a"], generation: int) -> float:
        """See `Problem.prove`: exactly."""
        return float(self.values(evaluate.best_action(answer)[None])[0])

    def readout(self, answer: Float[Array, "s a"], carry: Carry, curve: Curve) -> TablePolicy:
        """See `Problem.readout`."""
        probabilities, greedy = np.asarray(answer), self.prove(answer, curve.generations)
        score = _score(self.table, self.own, probabilities, greedy, float(carry.truncated))
        return TablePolicy(probabilities, score)

    def close(self) -> None:
        """Nothing is held."""


def _score(
    table: Table, own: bool, probabilities: np.ndarray, greedy: float, truncated: float
) -> Score:
    limit = learners.horizon(table)
    uniform = np.full_like(probabilities, 1 / table.actions)
    stochastic, random = (
        float(jax.jit(evaluate.value, static_argnums=2)(table, jnp.asarray(p), limit))
        for p in (probabilities, uniform)
    )
    unlimited = evaluate.stationary_value(table, np.argmax(probabilities, axis=1))
    optimum = evaluate.optimum(table)[0]
    return Score(limit, own, greedy, stochastic, unlimited, optimum, random, truncated)
