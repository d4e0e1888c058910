"""Generations of networks: compiled or around an environment, with broken rewards, presets."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl import policies, rollouts, training
from phenes.rl.problems import network
from phenes.rl.problems.network import LOOKS, Answer, GenerationStep, NetworkProblem
from phenes.rl.training.checkpoint import Checkpoint
from phenes.rl.training.loop import run
from phenes.rl.trajectories import (
    Credited,
    CurvedMix,
    Genotype,
    Linearised,
    Reparameterised,
    Trajectories,
    credited,
    guarded_mix,
)
from tests.rl.training.small import ESTIMATOR, SHORT, as_optax_needs_it, short  # noqa: F401


class NotCompiled:
    """Arrays of NumPy in single precision, and a reward that is NaN if asked for."""

    def __init__(self, env, broken=False):
        self.env, self.spaces, self.compiled, self.broken = env, env.spaces, False, broken

    def play(self, *args, **options):
        x = self.env.play(*args, **options)
        reward = np.array(x.reward)
        if self.broken:
            reward[0, 0] = np.nan
        return x._replace(reward=reward, obs=np.asarray(x.obs), mask=np.asarray(x.mask))

    def close(self):
        self.env.close()


@pytest.mark.tier("rl")
def test_environments_that_are_not_compiled(monkeypatch):
    """The same numbers with the loop in Python, for an estimator that learns as well."""
    load, estimator = rollouts.load, credited(guarded_mix(4), 0.97)
    one = short(estimator=estimator, generations=3)
    monkeypatch.setattr(
        rollouts, "load", lambda env_id, **options: NotCompiled(load(env_id, **options))
    )
    other = short(estimator=estimator, generations=3)
    np.testing.assert_allclose(one.curve.mean, other.curve.mean, rtol=1e-6)
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-6)


@pytest.mark.tier("rl")
def test_rewards_that_are_not_numbers_are_survived(monkeypatch):
    load = rollouts.load
    monkeypatch.setattr(
        rollouts,
        "load",
        lambda env_id, **options: NotCompiled(load(env_id, **options), broken=True),
    )
    out = short(generations=5)
    assert np.all(out.curve.failed == 1)
    assert np.all(np.isfinite(out.theta))
    assert np.all(np.isfinite(out.curve.mean))
    assert not out.curve.skipped.any()


def test_an_earlier_policy_is_judged_and_returned_with_its_own_scale(monkeypatch):
    """Looks of 5, 2, 1: the first policy is the answer, with the scale of observations of then."""
    env = rollouts.load("CartPole-v1", **SHORT)
    settings = training.Settings(ESTIMATOR, popsize=6, generations=15, hidden=(8,))
    step = GenerationStep(settings, env, jax.random.key(0))
    problem = NetworkProblem(step, *policies.policy(jax.random.key(1), env.spaces, (8,)))
    looked, judged = [], []

    def look(answer, generation, episodes):
        if episodes == LOOKS:
            looked.append(answer)
            return {5: 5.0, 10: 2.0, 15: 1.0}[generation]
        judged.append(answer)
        return 5.0 if answer.theta is looked[0].theta else 1.0

    monkeypatch.setattr(problem, "look", look)
    out = run(problem, 15, None, Checkpoint(None), lambda *_: None)
    np.testing.assert_array_equal(out.readout.theta, looked[0].theta)
    for scale in (out.readout.policy.scale, judged[1].scale):
        assert float(scale.count) == float(looked[0].scale.count)
        np.testing.assert_array_equal(scale.mean, looked[0].scale.mean)
        np.testing.assert_array_equal(scale.var, looked[0].scale.var)
    assert float(looked[0].scale.count) < float(looked[2].scale.count)
    assert np.any(looked[0].scale.mean != looked[2].scale.mean)


def test_a_look_is_with_the_scale_of_the_answer(monkeypatch):
    env = rollouts.load("CartPole-v1", **SHORT)
    step = GenerationStep(training.Settings(ESTIMATOR), env, jax.random.key(0))
    problem = NetworkProblem(step, *policies.policy(jax.random.key(1), env.spaces, (8,)))
    played = []
    monkeypatch.setattr(network, "_few", lambda env, key, policy, theta: played.append(policy) or 1)
    other = policies.Normaliser(jnp.ones(()), jnp.full(4, 3.0), jnp.ones(4))
    problem.look(Answer(problem.theta, other), 5, 2 * LOOKS)
    assert [policy.scale.mean.tolist() for policy in played] == [[3.0] * 4] * 2


@pytest.mark.tier("rl")
def test_the_batch_that_the_strategy_is_told_holds_trajectories(monkeypatch):
    """`Batch.x` is the realised input, and nothing else."""
    env = rollouts.load("CartPole-v1", **SHORT)
    told = []

    class Spy(Reparameterised):
        def advance(self, p, q, batch, w):
            told.append(batch)
            return super().advance(p, q, batch, w)

    step = GenerationStep(training.Settings(Spy(), popsize=4), env, jax.random.key(0))
    carry = step.begin(*policies.policy(jax.random.key(1), env.spaces, (4,)))
    after, report = step.once(carry)
    (batch,) = told
    assert isinstance(batch.x, rollouts.Trajectory)
    np.testing.assert_array_equal(batch.f, rollouts.total(batch.x))
    assert float(report.second) == float(after.state.estimator.signal.second) > 0


def test_presets_follow_the_paper():
    spaces = rollouts.spaces("Pendulum-v1")
    settings = training.paper(spaces)
    assert (settings.popsize, settings.rate, settings.hidden, settings.action_noise) == (
        100,
        1e-3,
        (64, 64),
        None,
    )
    assert float(settings.spread()(1500)) == pytest.approx(0.03)
    assert training.paper_es(spaces).deterministic
    assert training.paper_es(spaces).mirrored
    step = GenerationStep(settings, rollouts.load("Pendulum-v1"), jax.random.key(0))
    policy, theta = policies.policy(jax.random.key(0), spaces, (8,), 0.05)
    carry = step.begin(policy, theta)
    later = carry._replace(state=carry.state._replace(q=carry.state.q.with_std(0.02)))
    np.testing.assert_allclose(step.law(later).policy.head.std, [0.02])


def test_the_default_follows_from_actions_and_length():
    chosen = {
        name: training.default(rollouts.spaces(name))
        for name in ("CartPole-v1", "Pendulum-v1", "MountainCarContinuous-v0")
    }
    discrete, brief, long = (settings.estimator for settings in chosen.values())
    assert isinstance(discrete, CurvedMix)
    assert isinstance(brief, Credited)
    assert isinstance(brief.estimator, Reparameterised)
    assert isinstance(long, Genotype)
    assert chosen["MountainCarContinuous-v0"] == training.linear()
    drawn = training.network(rollouts.spaces("MountainCarContinuous-v0")).estimator
    assert isinstance(drawn, Credited)
    assert isinstance(drawn.estimator, Linearised)
    assert training.network(rollouts.spaces("Pendulum-v1")) == chosen["Pendulum-v1"]


@pytest.mark.tier("rl")
def test_what_is_about_drawn_actions_is_about_a_network_that_draws_them():
    out = training.train(
        "MountainCarContinuous-v0",
        generations=1,
        popsize=2,
        hidden=(2,),
        action_noise=0.2,
        target=None,
        options={"max_episode_steps": 301},
    )
    assert not out.about["settings"]["deterministic"]
    assert out.about["settings"]["action_noise"] == 0.2


def test_mirrored_pairs_start_from_the_same_state():
    env = rollouts.load("CartPole-v1", **SHORT)
    policy, theta = policies.policy(jax.random.key(0), env.spaces, (8,))
    x = Trajectories(policy, env, paired=True).sample_all(jax.random.key(1), jnp.stack([theta] * 6))
    np.testing.assert_array_equal(x.obs[:3, 0], x.obs[3:, 0])
    assert len(np.unique(np.asarray(x.obs[:3, 0, 0]))) == 3


def test_all_of_a_population_may_start_from_the_same_state():
    """In every generation from another one; the actions of individuals stay their own."""
    env = rollouts.load("CartPole-v1", **SHORT)
    policy, theta = policies.policy(jax.random.key(0), env.spaces, (8,))
    law, same = Trajectories(policy, env, paired=True, alike=True), jnp.stack([theta] * 6)
    x, y = (law.sample_all(jax.random.key(k), same) for k in (1, 2))
    np.testing.assert_array_equal(x.obs[:, 0], jnp.broadcast_to(x.obs[0, 0], x.obs[:, 0].shape))
    assert np.all(np.asarray(x.obs[0, 0] != y.obs[0, 0]))
    assert len(np.unique(np.asarray(x.obs[:, 5, 1]))) > 1
    some = law.sample_some(jax.random.key(1), same[:2], jnp.asarray([1, 4]), 6)
    np.testing.assert_array_equal(some.obs, x.obs[jnp.asarray([1, 4])])
