"""Classic control in JAX against Gymnasium: single steps, whole episodes, first states."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from phenes.rl.rollouts import classic
from tests.laws.statistics import once

NAMES = ["CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0"]
OPTIONS = [
    *((name, {}) for name in NAMES),
    ("CartPole-v1", {"sutton_barto_reward": True}),
    ("Pendulum-v1", {"g": 9.81}),
    ("MountainCar-v0", {"goal_velocity": 0.02}),
]
# states to step from, beyond where episodes go: walls, limits of speed and several turns are in
WIDE = {
    "CartPole-v1": (3, 5, 0.4, 5),
    "Pendulum-v1": (7, 8),
    "Acrobot-v1": (3.14, 3.14, 12.5, 28),
    "MountainCar-v0": (0.9, 0.07),
}
CENTRE = {"MountainCar-v0": (-0.3, 0), "MountainCarContinuous-v0": (-0.3, 0)}


def made(name, options):
    env = gymnasium.make(name, **options).unwrapped
    return env, classic.like(env)


def actions(env, n, rng):
    """Some beyond the bounds. In double precision: Gymnasium computes with single numbers in single
    precision.
    """
    space = env.action_space
    return (
        rng.integers(space.n, size=n)
        if hasattr(space, "n")
        else 1.3 * rng.uniform(space.low, space.high, (n, *space.shape))
    )


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_single_steps_are_those_of_gymnasium(name, options):
    (env, ours), rng, n = made(name, options), np.random.default_rng(0), 1500
    wide = np.array(WIDE.get(name, WIDE["MountainCar-v0"]))
    states = np.array(CENTRE.get(name, 0 * wide)) + rng.uniform(-wide, wide, (n, len(wide)))
    given = actions(env, n, rng)
    after, rewards, ended = once(jax.vmap(ours.step))(jnp.asarray(states), jnp.asarray(given))
    seen = once(jax.vmap(ours.observe))(after)
    env.reset(seed=0)
    theirs = []
    for state, action in zip(states, given, strict=True):
        env.state, env.steps_beyond_terminated = state.copy(), None
        obs, reward, terminated, _, _ = env.step(action)
        theirs.append((np.array(env.state), obs, reward, terminated))
    for mine, other in zip((after, seen, rewards, ended), zip(*theirs, strict=True), strict=True):
        np.testing.assert_allclose(
            np.asarray(mine, float),
            np.array(other, float),
            atol=1e-6,
            rtol=1e-6 if mine is seen else 0,
        )
    assert 0 < np.sum(ended) < n or name == "Pendulum-v1"


@pytest.mark.parametrize(
    "name",
    [
        *("CartPole-v1", "Pendulum-v1", "MountainCar-v0"),
        *(
            pytest.param(name, marks=pytest.mark.tier("rl"))
            for name in ("Acrobot-v1", "MountainCarContinuous-v0")
        ),
    ],
)
def test_episodes_are_those_of_gymnasium(name):
    """The same actions from the same first state, each step from Gymnasium's state and from our
    own.

    Our own episode may part from theirs where rounding grows: the acrobot is chaotic (compared for
    60 steps), and the continuous car is kept in single precision by Gymnasium (compared to 1e-5).
    """
    env, ours = made(name, {})
    rng, steps = np.random.default_rng(1), gymnasium.spec(name).max_episode_steps
    alone, close = (
        60 if name == "Acrobot-v1" else steps,
        (1e-5 if name == "MountainCarContinuous-v0" else 1e-6),
    )
    step = once(
        lambda state, action: (lambda out: (*out, ours.observe(out[0])))(ours.step(state, action))
    )
    for seed in range(1 if steps > 500 else 2):
        env.reset(seed=seed)
        state = jnp.asarray(env.state, float)
        for t, action in enumerate(actions(env, steps, rng)):
            theirs, given = jnp.asarray(env.state, float), jnp.asarray(action)
            obs, reward, terminated, _, _ = env.step(action)
            state, *mine = step(state, given)
            for (worth, ended, seen), tolerance in (
                (step(theirs, given)[1:], 1e-6),
                (mine, close if t < alone else 100.0),
            ):
                np.testing.assert_allclose(seen, obs, atol=tolerance, rtol=tolerance)
                assert abs(float(worth) - reward) <= tolerance
                assert bool(ended) == terminated or tolerance > 1
            if terminated:
                break


@pytest.mark.parametrize("name", NAMES)
def test_first_states_have_the_law_of_gymnasium(name, key):
    """Kolmogorov-Smirnov for each coordinate, 500 resets against 4000 draws; and coordinates are
    independent.
    """
    env, ours = made(name, {})
    theirs = []
    for seed in range(500):
        env.reset(seed=seed)
        theirs.append(np.array(env.state, float))
    mine = np.asarray(
        once(jax.vmap(lambda k: ours.first(k, jnp.float64)))(jax.random.split(key, 4000))
    )
    for a, b in zip(np.array(theirs).T, mine.T, strict=True):
        assert np.ptp(a) == np.ptp(b) == 0 or scipy.stats.ks_2samp(a, b).pvalue > 1e-3
        assert abs(b).max() <= abs(a).max() * 1.05
    moving = mine[:, np.ptp(mine, axis=0) > 0]
    assert np.abs(
        np.corrcoef(moving, rowvar=False) - np.eye(moving.shape[1])
    ).max() < 4.5 / np.sqrt(4000)


def test_semi_implicit_cart_and_the_acrobot_of_the_paper():
    """Two variants that Gymnasium has as attributes."""
    rng = np.random.default_rng(2)
    for name, attribute, value in (
        ("CartPole-v1", "kinematics_integrator", "semi-implicit"),
        ("Acrobot-v1", "book_or_nips", "nips"),
    ):
        env = gymnasium.make(name).unwrapped
        setattr(env, attribute, value)
        ours, state = classic.like(env), 0.1 * rng.normal(size=4)
        env.reset(seed=0)
        env.state = state.copy()
        env.step(1)
        np.testing.assert_allclose(
            once(ours.step)(jnp.asarray(state), jnp.asarray(1))[0], env.state, atol=1e-12
        )


def test_a_noisy_acrobot_or_another_class_is_not_taken_for_ours():
    env = gymnasium.make("Acrobot-v1").unwrapped
    env.torque_noise_max = 0.1
    assert classic.like(env) is None
    other = type("CartPoleEnv", (type(gymnasium.make("CartPole-v1").unwrapped),), {})()
    assert classic.like(other) is None


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_stays_single(name, key):
    env, ours = made(name, {})
    state = ours.first(key, jnp.float32)
    action = jnp.asarray(1) if hasattr(env.action_space, "n") else jnp.ones(1, jnp.float32)
    after, reward, ended = jax.eval_shape(ours.step, state, action)
    assert (after.dtype, reward.dtype, ended.dtype) == (jnp.float32, jnp.float32, bool)
    assert ours.observe(state).dtype == jnp.float32
