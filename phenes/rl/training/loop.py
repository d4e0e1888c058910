"""The loop of `train`: chunks of generations, compiled as a whole where the environment is, each
followed by a look at the mean policy.
"""

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from phenes.rl.policies import Policy
from phenes.rl.problems.network import Best, Carry, Learner, Report
from phenes.rl.problems.settings import Settings
from phenes.rl.rollouts.trajectory import total
from phenes.rl.training import checkpoint
from phenes.rl.training.curve import Curve
from phenes.rl.trajectories import Trajectories

CHUNK = 5  # generations between two looks at the mean policy
LOOKS = 10  # episodes of a look
PROOF = 100  # episodes that decide whether the target is reached

EVALUATION = 0x65766C  # a stream of random numbers apart from that of the generations

Look = Callable[[Policy, Any, int, int], float]
Progress = Callable[[int, int, Curve | None], Any]


class Outcome(NamedTuple):
    """policy, theta: the last mean, or an earlier one if that is better on the same fresh episodes;
    value: its return there.
    """

    policy: Policy
    theta: Any
    value: float
    curve: Curve
    solved: bool
    seconds: float


def run(
    learner: Learner,
    carry: Carry,
    about: dict[str, Any],
    target: float | None,
    path: Path | None,
    resume: bool,
    progress: Progress,
) -> Outcome:
    """From `carry`, or from the checkpoint at `path`, until the last generation or the target."""
    total = learner.settings.generations
    advance, look = _advance(learner), _look(learner)
    best, curve = _best(carry, -np.inf), Curve.start()
    if path is not None and resume and path.exists():
        carry, best, curve = checkpoint.load(path, about, carry, best)
    before = float(curve.seconds[-1]) if curve.seconds.size else 0.0
    started = time.perf_counter()
    progress(curve.generations, total, curve)
    solved = _solved(curve, target, carry, look)
    while curve.generations < total and not solved:
        carry, reports = advance(carry, min(CHUNK, total - curve.generations))
        curve = curve.extended(reports, before + time.perf_counter() - started)
        value = look(carry.policy, carry.state.q.mean, curve.generations, LOOKS)
        curve = curve.evaluated(value)
        if value >= float(best.value):
            best = _best(carry, value)
        if path is not None:
            checkpoint.save(path, about, carry, best, curve)
        progress(curve.generations, total, curve)
        solved = _solved(curve, target, carry, look)
    candidates = [
        (carry.policy, carry.state.q.mean),
        (carry.policy.with_scale(best.scale), best.theta),
    ]
    values = [look(policy, theta, curve.generations + 1, PROOF) for policy, theta in candidates]
    which = int(np.nan_to_num(values, nan=-np.inf).argmax())
    return Outcome(
        *candidates[which], values[which], curve, solved, before + time.perf_counter() - started
    )


def _best(carry: Carry, value: float) -> Best:
    return Best(jnp.asarray(value, jnp.result_type(float)), carry.state.q.mean, carry.policy.scale)


def _solved(curve: Curve, target: float | None, carry: Carry, look: Look) -> bool:
    """If the population or a look at the mean policy says so, that policy has to prove it."""
    if (
        target is None
        or curve.generations == 0
        or max(curve.mean[-1], curve.deterministic[-1]) < target
    ):
        return False
    return look(carry.policy, carry.state.q.mean, curve.generations, PROOF) >= target


def _advance(learner: Learner) -> Callable[[Carry, int], tuple[Carry, list[Report]]]:
    """`n` generations: one compiled program, or Python around an environment that is not."""
    if learner.env.compiled:
        settings = _without_length(learner)
        return lambda carry, n: _listed(*_some(settings, learner.env, learner.key, carry, n))

    ask, tell = _jit(learner.ask), _jit(learner.tell)

    def step_by_step(carry: Carry, n: int) -> tuple[Carry, list[Report]]:
        reports = []
        for _ in range(n):
            batch = ask(carry)
            carry, report = tell(
                carry, batch._replace(x=_on_device(learner.sample(carry, batch), batch.theta.dtype))
            )
            reports.append(jax.tree.map(np.asarray, report))
        return carry, reports

    return step_by_step


def _jit(method: Callable[..., Any]) -> Callable[..., Any]:
    """Of a method whose object cannot be hashed."""
    return eqx.filter_jit(lambda *args: method(*args))


def _listed(carry: Carry, reports: Report) -> tuple[Carry, list[Report]]:
    return carry, [jax.tree.map(np.asarray, reports)]


def _on_device(x: Any, dtype: Any) -> Any:
    """NumPy arrays of any precision as JAX arrays of one."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(
            leaf, dtype if np.issubdtype(np.asarray(leaf).dtype, np.floating) else None
        ),
        x,
    )


def _look(learner: Learner) -> Look:
    """The mean return of a policy; which episodes, depends on the generation alone. One small
    compiled program for looks and proofs.
    """
    stream = jax.random.fold_in(learner.key, EVALUATION)

    def look(policy: Policy, theta: Any, generation: int, episodes: int) -> float:
        keys = jax.random.split(jax.random.fold_in(stream, generation), episodes // LOOKS)
        if not learner.env.compiled:
            return float(np.mean(learner.evaluate(policy, theta, keys[0], episodes)))
        return float(np.mean([_few(learner.env, key, policy, theta) for key in keys]))

    return look


def _without_length(learner: Learner) -> Settings:
    """Programs are found by settings and environment, which are compared by value: another seed, or
    more generations, need no other.
    """
    return dataclasses.replace(learner.settings, generations=1)


@eqx.filter_jit
def _some(settings: Settings, env: Any, key: Any, carry: Carry, n: int) -> tuple[Carry, Report]:
    learner = Learner(settings, env, key)
    first, rest = eqx.partition(carry, eqx.is_array)

    def one(arrays: Any, _: None) -> tuple[Any, Report]:
        after, report = learner.once(eqx.combine(arrays, rest))
        return eqx.filter(after, eqx.is_array), report

    last, reports = lax.scan(one, first, length=n)
    return eqx.combine(last, rest), reports


@eqx.filter_jit
def _few(env: Any, key: Any, policy: Policy, theta: Any) -> Any:
    """Returns of a look: the same program for all estimators."""
    return total(
        Trajectories(policy, env, deterministic=True).sample_all(
            key, jnp.broadcast_to(theta[None], (LOOKS, theta.size))
        )
    )
