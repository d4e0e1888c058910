"""Learn a policy for a Gymnasium environment that has a transition table: `train`, and what comes
out of it.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

import phenes
from phenes import _validate
from phenes.rl.tabular import evaluate, learners
from phenes.rl.tabular.environment import Environment, load
from phenes.rl.tabular.table import Table

GENERATIONS = 500
CHUNK = 25  # generations between two signs of life
FORMAT = "phenes tabular policy 1"

Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Score:
    """Exact expected returns of the policy that was learnt. limit: steps of an episode; own: is
    that the environment's own limit?

    greedy: of the most likely action in every state. stochastic: of actions drawn with the learnt
    probabilities. unlimited: of the greedy policy without a step limit (minus infinity if it may
    never arrive and pays for every step). optimum: of the best policy there is.
    """

    limit: int
    own: bool
    greedy: float
    stochastic: float
    unlimited: float
    optimum: float
    start: float  # of the uniformly random policy
    truncated: float  # share of the episodes of the last generation that were cut off


@dataclass(frozen=True)
class Trained:
    """probabilities: the learnt policy [S, A]. curve: exact value of the greedy policy after each
    generation; population: mean return.
    """

    name: str
    options: dict[str, Any]
    seed: int
    probabilities: Float[np.ndarray, "s a"]
    curve: Float[np.ndarray, " g"]
    population: Float[np.ndarray, " g"]
    score: Score
    episodes: int
    steps: int
    seconds: float  # of learning, compilation included

    def predict(self, obs: Any) -> int:
        """The most likely action."""
        return int(np.argmax(self.probabilities[int(obs)]))

    def save(self, path: str | Path) -> Path:
        """Data only: arrays in NumPy's npz form, the rest as JSON."""
        about = {
            name: getattr(self, name)
            for name in ("name", "options", "seed", "episodes", "steps", "seconds")
        }
        text = json.dumps({"format": FORMAT, **about, "score": asdict(self.score)})
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                about=text,
                probabilities=self.probabilities,
                curve=self.curve,
                population=self.population,
            )
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> "Trained":
        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in ("probabilities", "curve", "population")}
            if about.pop("format") != FORMAT:
                raise KeyError("format")
        except (KeyError, EOFError, ValueError) as error:
            raise ValueError(
                f"{path} is not a policy that was saved by this version of phenes: {error}"
            ) from error
        return cls(**arrays, score=Score(**about.pop("score")), **about)


def train(
    env: str,
    *,
    seed: int = 0,
    generations: int = GENERATIONS,
    popsize: int = learners.POPSIZE,
    options: dict[str, Any] | None = None,
    progress: Progress = lambda done, total: None,
) -> Trained:
    """The default learner (`learners.default`), which needs no tuning, on the environment with this
    id.

    options: for `gymnasium.make`, as {"map_name": "8x8"}. progress(done, total) counts generations.
    """
    seed = _validate.count("seed", seed, 0)
    generations = _validate.count("generations", generations)
    popsize = _validate.count("popsize", popsize, 2)
    made = load(env, **(options or {}))
    started = time.perf_counter()
    learner = learners.default(made.table, popsize)
    q, policies, infos = learn(learner, seed, generations, progress)
    seconds = time.perf_counter() - started
    table = made.table.limited(learners.horizon(made.table))
    curve = evaluate.values_of(table, policies, table.limit)
    probabilities = np.asarray(q.mean)
    truncated = float(1 - infos["ended"][-1])
    score = _score(table, made.table.limit is not None, probabilities, float(curve[-1]), truncated)
    steps = round(float(np.sum(infos["length"])) * popsize)
    return Trained(
        env,
        options or {},
        seed,
        probabilities,
        curve,
        infos["return"],
        score,
        popsize * generations,
        steps,
        round(seconds, 2),
    )


def learn(
    learner: learners.Learner, seed: int, generations: int, progress: Progress
) -> tuple[Any, Int[np.ndarray, "g s"], dict[str, Any]]:
    """One run in compiled chunks: the last search law, the greedy policy after each generation, and
    means over the population.
    """
    key = jax.random.key(seed)

    def report(state, batch):
        x = batch.x
        means = {
            "return": jnp.mean(x.total),
            "length": jnp.mean(x.length, dtype=x.total.dtype),
            "ended": jnp.mean(x.ended, dtype=x.total.dtype),
        }
        return evaluate.best_action(learner.policy(state.q)), means

    @eqx.filter_jit
    def some(state, steps):
        state, (_, reported) = phenes.run(
            key, learner.problem, learner.strategy, state, steps, report=report
        )
        return state, reported

    state, chunks, done = learner.strategy.init(learner.start(key)), [], 0
    progress(0, generations)
    while done < generations:
        # the last chunk may be shorter, and is then compiled once more
        steps = min(CHUNK, generations - done)
        state, reported = some(state, steps)
        chunks.append(jax.tree.map(np.asarray, reported))
        done += steps
        progress(done, generations)
    policies, means = jax.tree.map(lambda *parts: np.concatenate(parts), *chunks)
    return state.q, policies, means


def _score(
    table: Table, own: bool, probabilities: np.ndarray, greedy: float, truncated: float
) -> Score:
    limit = learners.horizon(table)
    uniform = np.full_like(probabilities, 1 / table.actions)
    chance, random = (
        float(jax.jit(evaluate.value, static_argnums=2)(table, jnp.asarray(p), limit))
        for p in (probabilities, uniform)
    )
    unlimited = evaluate.stationary_value(table, np.argmax(probabilities, axis=1))
    best = evaluate.optimum(table.limited(limit))[0]
    return Score(limit, own, greedy, chance, unlimited, best, random, truncated)


def environment_of(trained: Trained) -> Environment:
    """Made again, for its map."""
    return load(trained.name, **trained.options)
