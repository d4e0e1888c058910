"""MuJoCo: physics in threads and vectorised rewards are Gymnasium's own, number by number."""

import gymnasium
import numpy as np
import pytest

from phenes.rl.rollouts import length, load, physics
from phenes.rl.rollouts.spaces import make
from tests.rl.rollouts.standin import population

pytest.importorskip("mujoco")

SEEN = {"exclude_current_positions_from_observation": False}
ENVIRONMENTS = [
    ("Swimmer-v5", {}),
    ("Swimmer-v5", {**SEEN, "ctrl_cost_weight": 0.1, "frame_skip": 2}),
    ("HalfCheetah-v5", {}),
    ("Hopper-v5", {}),
    ("Hopper-v5", {**SEEN, "terminate_when_unhealthy": False}),
    ("Walker2d-v5", {}),
    ("Ant-v5", {}),
    ("Ant-v5", {"include_cfrc_ext_in_observation": False, "terminate_when_unhealthy": False}),
    ("Humanoid-v5", {}),
    (
        "Humanoid-v5",
        {"include_cinert_in_observation": False, "include_cvel_in_observation": False, **SEEN},
    ),
    ("HumanoidStandup-v5", {}),
    ("InvertedPendulum-v5", {}),
    ("InvertedDoublePendulum-v5", {}),
    ("Reacher-v5", {}),
    ("Pusher-v5", {}),
]


@pytest.mark.parametrize(("name", "options"), ENVIRONMENTS)
def test_steps_are_those_of_gymnasium(name, options):
    """30 steps of 3 individuals on 2 threads, also beyond the end of an episode, with actions
    beyond the bounds: to 1e-9.
    """
    env, theirs = make(name, options), gymnasium.make(name, **options).unwrapped
    stage, rng = physics.Threads(env, physics.like(env.unwrapped), 2), np.random.default_rng(0)
    actions = (
        1.2
        * rng.uniform(env.action_space.low, env.action_space.high, (30, 3, *env.action_space.shape))
    ).astype(np.float32)
    first = stage.reset([5, 6, 7])
    ours = [stage.step(np.arange(3), action) for action in actions]
    for i in range(3):
        np.testing.assert_array_equal(first[i], theirs.reset(seed=5 + i)[0])
        for action, (obs, reward, terminated, truncated) in zip(actions[:, i], ours, strict=True):
            seen, worth, ended, _, _ = theirs.step(action)
            np.testing.assert_allclose(obs[i], seen, rtol=1e-9, atol=1e-9)
            assert reward[i] == pytest.approx(worth, rel=1e-9, abs=1e-9)
            assert (terminated[i], truncated[i]) == (ended, False)
    stage.close()


def test_episodes_are_those_of_the_loop():
    """Whole episodes of hoppers that fall at different times."""
    fast, loop = (
        load("Hopper-v5", max_episode_steps=40),
        load("Hopper-v5", "gymnasium", max_episode_steps=40),
    )
    args = population(fast.spaces, 8)
    x, y = fast.play(*args), loop.play(*args)
    assert type(fast.stage).__name__ == "Threads"
    assert len(set(length(x))) > 3
    for a, b in zip(x, y, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_array_equal(x.ended, length(x) < 40)


def test_threads_change_nothing():
    several, one = (load("Ant-v5", workers=k, max_episode_steps=4) for k in (3, 1))
    for a, b in zip(
        several.play(*population(several.spaces, 4)),
        one.play(*population(one.spaces, 4)),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    several.close()


@pytest.mark.filterwarnings("ignore:.*is out of date")
def test_only_the_environments_that_are_known_are_taken():
    hopper = make("Hopper-v5", {}).unwrapped
    assert physics.like(type("HopperEnv", (type(hopper),), {})()) is None
    assert physics.like(make("Hopper-v4", {}).unwrapped) is None
    assert type(load("Hopper-v4").stage).__name__ == "Loop"
    with pytest.raises(ValueError, match=r"workers must be None, a number .* got 0"):
        load("Swimmer-v5", workers=0)
