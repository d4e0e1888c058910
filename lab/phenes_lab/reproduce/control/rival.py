"""evosax' Open_ES on the same rollouts: the same network and first theta, the same scale of
observations, pairs from the same state.
"""

import functools
import time
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from phenes.rl import rollouts
from phenes.rl.policies import Policy, policy
from phenes.rl.rollouts.trajectory import total
from phenes.rl.trajectories import Trajectories
from phenes_lab.rivals import lenient

CHUNK = 5  # generations in one compiled program, as in `train`
LOOKS, PROOF = 10, 100  # episodes of a look at the mean policy, and of the last one


class Rival(NamedTuple):
    """ControlSettings of Open_ES: Adam with this rate, centred ranks, mirrored pairs."""

    popsize: int
    std: float
    rate: float
    hidden: tuple[int, ...]
    generations: int = 1


class Carry(NamedTuple):
    state: Any
    scale: Any


def play(env_id: str, rival: Rival, seed: int, target: float) -> dict[str, np.ndarray]:
    """What `results` reads of a run, which ends with the chunk in which its population gets to the
    target. Environments in JAX only.
    """
    with lenient():
        return _play(env_id, rival, seed, target)


def _play(env_id: str, rival: Rival, seed: int, target: float) -> dict[str, np.ndarray]:
    env = rollouts.load(env_id, backend="jax")
    key, for_network = jax.random.split(jax.random.key(seed))
    made, theta = policy(for_network, env.spaces, rival.hidden)
    algorithm, params, some = _programs(rival._replace(generations=1), env, theta.size)
    state = algorithm.init(key, theta, params)
    carry = Carry(
        jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype), state), made.scale
    )
    started, mean, seconds, at, seen = time.perf_counter(), [], [], [], []

    def look(g: int, episodes: int) -> float:
        law = made.with_scale(carry.scale)
        return float(_look(law, env, carry.state.mean, jax.random.fold_in(key, g), episodes))

    for g in range(0, rival.generations, CHUNK):
        carry, returns = some(made, carry, jax.random.fold_in(key, g))
        mean.extend(np.asarray(returns, float).tolist())
        seconds.extend([time.perf_counter() - started] * CHUNK)
        at.append(g + CHUNK)
        seen.append(look(g, LOOKS))
        if max(mean[-CHUNK:]) >= target:
            break
    value = look(rival.generations, PROOF)
    arrays = {
        "mean": mean,
        "at": at,
        "deterministic": seen,
        "seconds": seconds,
        "signal": np.full(len(mean), np.nan),
    }
    return {
        k: np.asarray(v)
        for k, v in (arrays | {"popsize": rival.popsize, "value": value, "solved": False}).items()
    }


@functools.cache
def _programs(rival: Rival, env: Any, dim: int) -> tuple[Any, Any, Any]:
    """Open_ES, its parameters, and CHUNK generations compiled: (policy, carry, key) -> (carry, mean
    return of each population).
    """
    from evosax.algorithms import Open_ES

    schedule = optax.constant_schedule(rival.std)
    algorithm = Open_ES(
        population_size=rival.popsize,
        solution=jnp.zeros(dim),
        optimizer=optax.adam(rival.rate),
        std_schedule=schedule,
    )
    params = algorithm.default_params

    def one(made: Policy, carry: Carry, key: Any) -> tuple[Carry, Any]:
        for_ask, for_play, for_tell = jax.random.split(key, 3)
        law = Trajectories(made.with_scale(carry.scale), env, paired=True)
        theta, state = algorithm.ask(for_ask, carry.state, params)
        x = law.sample_all(for_play, theta)
        f = total(x)
        state, _ = algorithm.tell(for_tell, theta, -f, state, params)  # evosax minimises
        return Carry(state, law.policy.observe(x.obs, x.mask).scale), jnp.mean(f)

    @eqx.filter_jit
    def some(made: Policy, carry: Carry, key: Any) -> tuple[Carry, Any]:
        return lax.scan(
            lambda carry, key: one(made, carry, key), carry, jax.random.split(key, CHUNK)
        )

    return algorithm, params, some


@eqx.filter_jit
def _look(made: Policy, env: Any, theta: Any, key: Any, episodes: int) -> Any:
    """The mean return of one theta with its best actions."""
    law = Trajectories(made, env, deterministic=True)
    return jnp.mean(
        total(law.sample_all(key, jnp.broadcast_to(theta[None], (episodes, theta.size))))
    )
