"""Learning in two phases: trajectories stay on the workers. The same numbers as in one process,
also if a worker is killed in between.
"""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.execution.affinity import OwnProcesses
from phenes.rl import policies, rollouts
from phenes.rl.problems import distributed
from phenes.rl.problems.network import GenerationStep
from phenes.rl.problems.settings import Settings
from phenes.rl.trajectories import (
    Genotype,
    ScoreAtMean,
    by_signal,
    credited,
    curved_mix,
    guarded_mix,
    linearised,
    mix,
)

STEPS = 30  # so many that some poles have fallen and some have not: else all weights are 0


@pytest.fixture(scope="module", autouse=True)
def as_optax_needs_it():
    """Inside optax.adam a count meets a rate."""
    with jax.numpy_dtype_promotion("standard"):
        yield


def generation(step, generations, carry):
    batch = eqx.filter_jit(lambda carry: step.ask(carry))(carry)
    x = jax.tree.map(jnp.asarray, generations.sample(carry, batch))
    return eqx.filter_jit(lambda *told: generations.tell(*told))(carry, batch, x)


def prepared(settings, workers, name="CartPole-v1"):
    """One process and two phases, before the first generation."""
    env = rollouts.load(name, "gymnasium", workers=workers, max_episode_steps=STEPS)
    here = rollouts.load(name, "gymnasium", max_episode_steps=STEPS)
    policy, theta = policies.policy(
        jax.random.key(1), env.spaces, (4,), normalise=settings.normalise
    )
    one = GenerationStep(settings, here, jax.random.key(2))
    _, two = distributed.divided(one._replace(env=env), workers)
    return one, two, one.begin(policy, theta)


def close(a, b):
    """Sums in another order, of numbers that are much larger than what is left of them."""
    for left, right in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        if hasattr(left, "dtype"):
            np.testing.assert_allclose(
                left, right, rtol=1e-9, atol=1e-9 * (1 + np.abs(np.asarray(left)).max(initial=0.0))
            )


@pytest.mark.parametrize(
    ("settings", "name", "generations"),
    [
        (Settings(mix(2), popsize=4), "CartPole-v1", 1),
        pytest.param(
            Settings(curved_mix(2), popsize=5, normalise=False),
            "CartPole-v1",
            1,
            marks=pytest.mark.tier("rl"),
        ),
        pytest.param(
            Settings(
                credited(linearised(2, every_step=False), by_step=False), popsize=6, mirrored=True
            ),
            "Pendulum-v1",
            2,
            marks=pytest.mark.tier("rl"),
        ),
    ],
    ids=["mix", "curved", "credited"],
)
def test_two_phases_are_one_process(settings, name, generations):
    """Estimators that draw, that learn, that standardise over the population; pairs; the scale of
    observations.
    """
    with ThreadPoolExecutor(2) as pool:
        one, two, carry = prepared(settings, pool, name)
        assert isinstance(two, distributed.Distributed)
        a = b = carry
        for _ in range(generations):
            (a, ours), (b, theirs) = generation(one, one, a), generation(one, two, b)
            close(ours, theirs)
            close(a, b)
            assert np.any(a.state.q.mean != carry.state.q.mean), (
                "returns that are all equal would say nothing"
            )
    assert two.played_again == 0
    assert not distributed._kept, "what was weighed is not kept"


class Deadly(OwnProcesses):
    """After the first phase, the first worker is killed."""

    def gather(self, fn, tasks):
        answers = super().gather(fn, tasks)
        if fn is distributed.play_part:
            (pid,) = self.gather(os.getpid, [()])
            os.kill(pid, signal.SIGKILL)
        return answers


@pytest.mark.machine
@pytest.mark.tier("rl")
def test_a_worker_that_is_killed_between_the_phases_is_played_again_from_its_seed():
    settings = Settings(ScoreAtMean(), popsize=5, normalise=False)
    deadly = Deadly(2)
    try:
        one, two, carry = prepared(settings, deadly)
        a, b = generation(one, one, carry), generation(one, two, carry)
    finally:
        deadly.close()
    close(a, b)
    assert np.any(a[0].state.q.mean != carry.state.q.mean)
    assert two.played_again == 1


def test_estimators_that_learn_from_whole_populations_play_in_one_phase():
    for estimator in (guarded_mix(4), by_signal(mix(4), Genotype()), credited(guarded_mix(4))):
        assert not distributed.splits(estimator)
    with ThreadPoolExecutor(1) as pool:
        assert isinstance(prepared(Settings(guarded_mix(4)), pool)[1], GenerationStep)


def test_a_policy_survives_the_way_to_another_process():
    import cloudpickle

    policy, theta = policies.policy(jax.random.key(0), rollouts.spaces("CartPole-v1"), (4,))
    there = cloudpickle.loads(cloudpickle.dumps(policy))
    np.testing.assert_array_equal(
        there.output(theta, jnp.ones(4)), policy.output(theta, jnp.ones(4))
    )
    same, other = (
        policies.policy(jax.random.key(0), rollouts.spaces("CartPole-v1"), (width,))[0]
        for width in (4, 5)
    )
    assert same.unravel == policy.unravel
    assert hash(same.unravel) == hash(policy.unravel)
    assert other.unravel != policy.unravel
