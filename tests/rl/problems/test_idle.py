"""What doing nothing is worth: the bonus for being alive, and a search that widens without it."""

import dataclasses

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl import rollouts, training
from phenes.rl.problems.idle import WIDEST, Idle, best_step, survival, widened
from phenes.rl.problems.network import GenerationStep
from phenes.rl.problems.starts import begin
from phenes.rl.rollouts.trajectory import Trajectory
from tests.rl.training.small import as_optax_needs_it  # noqa: F401


def paid(reward, mask=None, ended=None):
    reward = jnp.asarray(reward)
    mask = jnp.ones(reward.shape, bool) if mask is None else jnp.asarray(mask)
    ended = jnp.zeros(len(reward), bool) if ended is None else jnp.asarray(ended, bool)
    return Trajectory(None, None, reward, mask, ended, None)


@pytest.mark.parametrize(
    ("rewards", "bonus"),
    [
        ([1.0, 1.5, 0.5, 1.0, 2.0], 1.0),  # what hops
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.0),  # a pole that is to be balanced: it is all there is
        ([9.0, 9.3, 9.2, 9.1, 9.4], 0.0),  # nearly all
        ([-1.0, -1.0, -0.2, -1.0, -2.0], 0.0),  # what a step costs is no bonus
    ],
)
def test_the_bonus_is_the_median_where_it_is_not_all_there_is(rewards, bonus):
    np.testing.assert_allclose(survival(paid([rewards])), bonus)


def test_steps_that_were_not_taken_are_not_paid():
    reward = [[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]]
    assert survival(paid(reward, [[True] * 3 + [False] * 3])) == 2.0


@pytest.mark.parametrize(("ended", "bonus"), [(True, 0.0), (False, 9.0)])
def test_the_step_in_which_an_episode_ends_is_not_alive(ended, bonus):
    """A pole that falls after four steps: each is paid 9, and falling costs, which is no sign that
    the 9 were one of several things.
    """
    reward = [[9.0, 9.0, 9.0, -1.0, 0.0], [9.0, 9.0, 9.0, 9.0, -1.0]]
    mask = [[True] * 4 + [False], [True] * 5]
    assert survival(paid(reward, mask, [ended] * 2)) == bonus


def test_one_long_episode_does_not_decide_what_being_alive_is_paid():
    """Two that hop and fall, and one that stands: most steps are equal, most episodes are not."""
    reward = np.ones((3, 50))
    reward[:2, :4] = [0.5, 1.0, 1.5, 1.2]
    mask = np.ones((3, 50), bool)
    mask[:2, 4:] = False
    assert survival(paid(reward, mask, [True, True, False])) == 1.0


def test_episodes_that_differ_from_each_other_are_paid_for_several_things():
    """Each falls evenly, one forwards and one backwards."""
    reward = [[1.5] * 3, [1.0] * 3, [0.5] * 3]
    assert survival(paid(reward, ended=[True] * 3)) == 1.0


def test_an_episode_of_one_step_says_nothing_of_being_alive():
    assert survival(paid([[3.0], [4.0]], ended=[True, True])) == 0.0


def one_generation(env, settings, seed=0, **options):
    """The carry after it, and the returns of the episodes."""
    play = rollouts.load(env, workers=1, **options)
    try:
        step = GenerationStep(settings, play, jax.random.key(seed))
        carry = step.begin(*begin(jax.random.key(0), play.spaces, settings, None))
        batch = step.ask(carry)
        x = step.sample(carry, batch)
        return step.tell(carry, batch, x)[0], rollouts.total(x)
    finally:
        play.close()


@pytest.mark.tier("rl")
@pytest.mark.parametrize(
    ("env", "bonus"),
    [("InvertedDoublePendulum-v5", 0.0), ("InvertedPendulum-v5", 0.0), ("Hopper-v5", 1.0)],
)
def test_the_bonus_of_environments(env, bonus):
    """To balance is the task; to hop is one, and Hopper pays 1 for being alive."""
    found = [one_generation(env, training.linear(), seed)[0].idle.bonus for seed in range(4)]
    np.testing.assert_allclose(found, bonus, atol=0.2)


@pytest.mark.tier("rl")
def test_where_steps_forward_are_paid_there_is_something_to_learn_from():
    """HalfCheetah with wild weights: everybody returns less than an idle one, and moves."""
    settings = dataclasses.replace(training.linear(), sigma=(1.0, 1.0))
    # the first seed for which the premise holds
    for seed in range(20):
        carry, f = one_generation("HalfCheetah-v5", settings, seed, max_episode_steps=100)
        if np.sum(np.asarray(f) >= f[0]) == 2:  # the idle pair
            break
    else:
        pytest.fail("in no first generation everybody returns less than an idle one")
    assert carry.idle.width == 1
    assert np.any(np.asarray(carry.state.q.mean) != 0)


def known(value=0.0, width=1.0):
    numbers = {"value": value, "total": -3.0, "width": width}
    return Idle.start(0.0)._replace(**{name: jnp.asarray(v) for name, v in numbers.items()})


@pytest.mark.parametrize(
    ("best", "ended", "width", "found", "after"),
    [
        ([-1.0, -2.0, 0.0, -np.inf], [0, 0, 0, 0], 4.0, False, 8.0),  # nothing is paid better
        ([-1.0, -2.0, 0.5, -1.0], [0, 0, 0, 0], 4.0, True, 4.0),  # one step is
        ([-1.0, 2.0, 0.5, -1.0], [0, 0, 0, 0], 4.0, True, 2.0),  # some of half of the episodes
        ([-1.0, 2.0, 0.5, -1.0], [0, 0, 0, 0], 1.0, True, 1.0),
        ([-1.0, -2.0, -1.0, -1.0], [1, 0, 0, 0], 4.0, True, 4.0),  # falling is an event, too
        ([-1.0, -2.0, -1.0, -1.0], [0, 0, 0, 0], WIDEST, False, 1.0),  # anew
    ],
)
def test_the_width(best, ended, width, found, after):
    f = jnp.asarray([-4.0, -9.0, -3.0, -5.0])  # an idle one returns -3
    idle, saw = widened(known(width=width), jnp.asarray(best), f, jnp.asarray(ended, bool))
    assert (bool(saw), float(idle.width)) == (found, after)


@pytest.mark.parametrize(
    ("f", "found", "after"),
    [
        ([-4.0, -9.0, -3.0, np.nan], False, 8.0),
        ([-4.0, -2.0, -5.0, np.nan], True, 4.0),  # one episode is better than an idle one
        ([-4.0, -2.0, 0.0, -5.0], True, 2.0),
    ],
)
def test_what_is_paid_at_the_end_counts_as_well(f, found, after):
    """No step is paid more than an idle one, whose last is not either."""
    ended = jnp.zeros(4, bool)
    idle, saw = widened(known(width=4.0), jnp.zeros(4), jnp.asarray(f), ended)
    assert (bool(saw), float(idle.width)) == (found, after)


def test_what_the_best_step_of_an_episode_was_paid():
    reward = [[-1.0, -3.0, 5.0], [np.nan, -2.0, -4.0], [np.nan, np.nan, np.nan]]
    mask = [[True, True, False], [True, True, True], [True, True, True]]
    np.testing.assert_array_equal(best_step(paid(reward, mask)), [-1.0, -2.0, -np.inf])


@pytest.mark.tier("rl")
def test_without_an_event_the_mean_stays_and_the_spread_doubles():
    """MountainCarContinuous for 30 steps: nobody arrives, and every push costs."""
    env = rollouts.load("MountainCarContinuous-v0", max_episode_steps=30)
    settings = training.default(env.spaces._replace(limit=999))
    policy, theta = begin(jax.random.key(0), env.spaces, settings, None)
    np.testing.assert_array_equal(theta, 0)
    step = GenerationStep(settings, env, jax.random.key(0))
    carry = step.begin(policy, theta)
    first = step.ask(carry)
    np.testing.assert_array_equal(first.theta[jnp.array([0, 4])], 0)
    assert np.all(np.any(np.asarray(first.theta)[[1, 2, 3, 5, 6, 7]] != 0, axis=1))
    for generation in range(3):
        carry, report = step.once(carry)
        np.testing.assert_array_equal(carry.state.q.mean, 0)
        np.testing.assert_allclose(carry.state.q.std, 0.05 * 2 ** (generation + 1), rtol=1e-6)
        assert report.mean < 0
    assert carry.idle.value == 0


@pytest.mark.tier("rl")
def test_a_late_reward_is_found():
    """MountainCarContinuous: the hill is climbed within 200 episodes (seeds 0 to 9: 96 to 192)."""
    out = training.train("MountainCarContinuous-v0", seed=0, generations=24, target=None)
    assert out.about["value"] > 80


class Late(gymnasium.Env):
    """A mass on a line at 1, which is to be at 0; what that costs is paid in the last step."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.t, self.cost = np.array([1.0, 0.0], np.float32), 0, 0.0
        return self.state, {}

    def step(self, action):
        place, speed = self.state
        speed = 0.95 * speed + 0.02 * float(action[0])
        self.state, self.t = np.array([place + speed, speed], np.float32), self.t + 1
        self.cost += float(self.state[0] ** 2)
        over = self.t == 60
        return self.state, -self.cost if over else 0.0, False, over, {}


def test_what_costs_less_than_being_idle_is_learnt_from_if_it_is_paid_late():
    """Idle costs 60, and no step is ever paid more than an idle one: seeds 0 and 1 cost 51, 54."""
    settings = dataclasses.replace(training.linear(), generations=12)
    out = training.learn(Late, settings, options={"max_episode_steps": 60})
    assert np.any(out.theta != 0)
    assert out.about["value"] > -57


def test_settings_that_do_not_go_together():
    settings = training.linear()
    with pytest.raises(ValueError, match="widen needs mirrored pairs and natural steps"):
        dataclasses.replace(settings, natural=False)
