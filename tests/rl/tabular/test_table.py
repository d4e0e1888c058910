"""Tables against Gymnasium's own, and compiled episodes against tables and against Gymnasium's
episodes.
"""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from phenes.rl import tabular
from phenes.rl.tabular import Table, load, play
from phenes.rl.tabular.learners import log_dirichlet
from tests.laws.statistics import once
from tests.rl.tabular import mdp

LAKE = ["SFFH", "FHFF", "FFFG"]
ENVIRONMENTS = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake-v1", {"desc": LAKE, "success_rate": 0.8, "reward_schedule": (10, -2, -1)}),
    ("FrozenLake8x8-v1", {}),
    ("CliffWalking-v1", {}),
    ("CliffWalkingSlippery-v1", {}),
    ("Taxi-v4", {}),
    ("Taxi-v4", {"is_rainy": True}),
]


@pytest.mark.parametrize(("name", "options"), ENVIRONMENTS)
def test_table_is_that_of_gymnasium(name, options):
    """Exact probabilities of every (next state, reward, end), and the same step limit and first
    states.
    """
    env, table = gymnasium.make(name, **options), load(name, **options).table
    follow, chance, reward, ends = (
        np.asarray(v) for v in (table.next, table.probability, table.reward, table.ends)
    )
    for s, row in env.unwrapped.P.items():
        for a, outcomes in row.items():
            expected, seen = {}, {}
            for p, n, r, e in outcomes:
                expected[int(n), float(r), bool(e)] = (
                    expected.get((int(n), float(r), bool(e)), 0) + p
                )
            for k in range(table.outcomes):
                key = (int(follow[s, a, k]), float(reward[s, a, k]), bool(ends[s, a, k]))
                seen[key] = seen.get(key, 0) + float(chance[s, a, k])
            assert seen == pytest.approx(expected, abs=1e-12)
    assert table.limit == env.spec.max_episode_steps
    np.testing.assert_allclose(table.start, env.unwrapped.initial_state_distrib)


def played(table, key, weights, n=None, record=False):
    return once(lambda key, weights: play(table, key, weights, n, record))(key, weights)


def test_maps_and_arrows():
    lake = load("FrozenLake-v1")
    assert lake.actions == ("←", "↓", "→", "↑")
    assert "".join(lake.scenes[0].signs.ravel()) == "HHHHG"
    cliff = load("CliffWalking-v1")
    assert cliff.actions == ("↑", "→", "↓", "←")
    assert list(cliff.scenes[0].signs[3]) == ["", *"#" * 10, "G"]
    assert len(load("Taxi-v4").scenes) == 8


def test_reachable_states_are_those_that_episodes_visit(key):
    table = load("FrozenLake-v1").table
    x = played(table, key, jnp.ones((16, 4)), 2000)
    np.testing.assert_array_equal(table.reachable(), np.asarray(x.counts.sum(axis=(0, 2)) > 0))


class TestEpisodes:
    def test_transitions_have_the_probabilities_of_the_table(self, key):
        """Chi-square over all (s, a, s'): given s and a, outcomes are independent draws."""
        table = load("FrozenLake-v1").table
        x = played(table, key, jnp.full((20_000, 16, 4), 0.25), record=True)
        state, action, taken = (
            np.asarray(v) for v in (x.steps.state, x.steps.action, x.steps.taken)
        )
        seen = np.zeros((16, 4, 16))
        both = taken[:, :-1] & taken[:, 1:]
        np.add.at(seen, (state[:, :-1][both], action[:, :-1][both], state[:, 1:][both]), 1)
        exact = np.zeros((16, 4, 16))
        going = np.where(np.asarray(table.ends), 0.0, np.asarray(table.probability))
        np.add.at(
            exact,
            (*np.ogrid[:16, :4], np.asarray(table.next).transpose(2, 0, 1)),
            going.transpose(2, 0, 1),
        )
        # given that the episode goes on; the end of it is compared below
        exact /= np.maximum(exact.sum(axis=-1, keepdims=True), 1e-300)
        expected = exact * seen.sum(axis=-1, keepdims=True)
        possible = expected > 5
        assert np.all(seen[exact == 0] == 0)
        rows = (possible.sum(axis=-1) > 1).sum()
        chi2 = np.sum((seen - expected)[possible] ** 2 / expected[possible])
        freedom = possible.sum() - possible.any(axis=-1).sum()
        assert rows > 30
        assert 1e-3 < scipy.stats.chi2.sf(chi2, freedom) < 1 - 1e-3

    @pytest.mark.tier("rl")
    def test_visits_are_those_of_the_exact_chain(self, key):
        """State (or end) at single times, independent between episodes, against powers of the exact
        matrix.
        """
        table = load("FrozenLake-v1").table
        policy = np.random.default_rng(0).dirichlet(np.ones(4), size=16)
        n = 50_000
        x = played(table, key, jnp.broadcast_to(jnp.asarray(policy), (n, 16, 4)), record=True)
        law = exact_states(table, policy, 12)
        for t in (0, 1, 3, 7, 12):
            where = np.where(np.asarray(x.steps.taken[:, t]), np.asarray(x.steps.state[:, t]), 16)
            assert chi_square(np.bincount(where, minlength=17), n * law[t]) > 1e-4

    @pytest.mark.tier("rl")
    def test_visits_are_those_of_gymnasium(self, key):
        """Two-sample chi-square on states (or end) at single times, and on visits of independent
        episodes.
        """
        policy = np.random.default_rng(1).dirichlet(np.ones(4), size=16)
        cumulative, random, n = policy.cumsum(axis=1), np.random.default_rng(2), 1500
        env = gymnasium.make("FrozenLake-v1")
        theirs, lengths = np.full((n, 100), 16), []
        for i in range(n):
            state, _ = env.reset(seed=i)
            for t in range(100):
                theirs[i, t] = state
                state, _, terminated, truncated, _ = env.step(
                    int(np.searchsorted(cumulative[state], random.random()))
                )
                if terminated or truncated:
                    lengths.append(t + 1)
                    break
        x = played(
            load("FrozenLake-v1").table,
            key,
            jnp.broadcast_to(jnp.asarray(policy), (20_000, 16, 4)),
            record=True,
        )
        ours = np.where(np.asarray(x.steps.taken), np.asarray(x.steps.state), 16)
        for t in (1, 2, 5, 10):
            counts = np.stack([np.bincount(v[:, t], minlength=17) for v in (theirs, ours)])
            counts = counts[:, counts.min(axis=0) >= 5]
            assert scipy.stats.chi2_contingency(counts).pvalue > 1e-3
        assert scipy.stats.ks_2samp(lengths, np.asarray(x.length)).pvalue > 1e-3

    @pytest.mark.tier("rl")
    def test_urns_have_the_marginal_law_of_drawn_policies(self, key):
        """Return and length of episodes: urns against policies drawn from the Dirichlet law, and
        the exact mean.
        """
        alpha = jnp.asarray([[0.4, 1.1], [2.0, 0.3], [0.7, 0.8]])
        n = 40_000
        urns = played(mdp.TABLE, key, alpha, n)
        drawn = played(
            mdp.TABLE,
            jax.random.fold_in(key, 1),
            once(lambda key: jnp.exp(log_dirichlet(key, alpha, n)))(key),
        )
        exact = float(once(mdp.dirichlet_objective)(jnp.log(alpha)))
        for x in (urns, drawn):
            se = float(jnp.std(x.total)) / np.sqrt(n)
            assert abs(float(jnp.mean(x.total)) - exact) < 5 * se
        counts = np.stack(
            [np.bincount(np.asarray(x.counts[:, 0, 0], int), minlength=5) for x in (urns, drawn)]
        )
        assert scipy.stats.chi2_contingency(counts[:, counts.min(axis=0) > 5]).pvalue > 1e-3

    def test_an_individual_does_not_depend_on_the_others(self, key):
        table = load("FrozenLake-v1").table
        many, few = (
            played(table, key, jnp.ones((16, 4)), 50),
            played(table, key, jnp.ones((16, 4)), 7),
        )
        np.testing.assert_array_equal(many.counts[:7], few.counts)

    @pytest.mark.tier("rl")
    def test_populations_under_vmap_are_those_alone(self, key):
        table = load("Taxi-v4").table.limited(30)
        keys = jax.random.split(key, 3)
        together = once(jax.vmap(lambda k: play(table, k, jnp.ones((500, 6)), 5, record=True)))(
            keys
        )
        alone = once(lambda k: play(table, k, jnp.ones((500, 6)), 5, record=True))(keys[1])
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a[1], b), together, alone)

    def test_counts_steps_and_totals_agree(self, key):
        x = played(
            load("CliffWalking-v1").table.limited(60), key, jnp.ones((48, 4)), 100, record=True
        )
        np.testing.assert_array_equal(x.counts.sum(axis=(1, 2)), x.length)
        np.testing.assert_array_equal(x.steps.taken.sum(axis=1), x.length)
        np.testing.assert_allclose(x.steps.reward.sum(axis=1), x.total)
        assert not bool(x.ended.all())
        np.testing.assert_array_equal(np.asarray(x.length)[~np.asarray(x.ended)], 60)

    def test_without_a_limit_episodes_end_by_themselves(self, key):
        free = played(load("FrozenLake-v1").table.limited(None), key, jnp.full((5000, 16, 4), 0.25))
        assert bool(free.ended.all())
        exact = tabular.stationary_value(load("FrozenLake-v1").table, np.full((16, 4), 0.25))
        assert abs(float(free.total.mean()) - exact) < 5 * np.sqrt(exact / 5000)


def exact_states(table, policy, times):
    """P(state at time t), with the end as a last state: [times + 1, S + 1]."""
    s = table.states
    move = np.zeros((s + 1, s + 1))
    for (i, a, k), p in np.ndenumerate(np.asarray(table.probability)):
        move[i, s if table.ends[i, a, k] else int(table.next[i, a, k])] += p * policy[i, a]
    move[s, s] = 1
    law = [np.append(np.asarray(table.start), 0.0)]
    for _ in range(times):
        law.append(law[-1] @ move)
    return np.array(law)


def chi_square(seen, expected):
    assert np.all(seen[expected == 0] == 0)
    possible = expected > 5
    if possible.sum() < 2:
        return 1.0
    rest = np.array([seen[~possible].sum()]), np.array([expected[~possible].sum()])
    seen, expected = np.append(seen[possible], rest[0]), np.append(expected[possible], rest[1])
    keep = expected > 5
    return scipy.stats.chi2.sf(
        np.sum((seen - expected)[keep] ** 2 / expected[keep]), keep.sum() - 1
    )


@pytest.mark.parametrize(
    ("transitions", "start", "said"),
    [
        ([[[(0.5, 0, 0.0, False)]]], 0, "add up to 1, got 0.5"),
        ([[[(1.0, 3, 0.0, False)]]], 0, "next state must be from 0 to 0, got 3"),
        ([[[(1.0, 0, np.nan, False)]]], 0, "reward finite"),
        ([[[(1.0, 0, 0.0, True)]], []], 0, "same actions"),
        ([[[(1.0, 0, 0.0, True)]]], 4, "start must be from 0 to 0, got 4"),
        ([[[(1.0, 0, 0.0, True)]]], [0.4], "start must be 1 probabilities that add up to 1"),
        (7, 0, "transitions must be"),
    ],
)
def test_wrong_tables(transitions, start, said):
    with pytest.raises(ValueError, match=said):
        Table(transitions, start)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("CartPole-v1", {}, "has no transition table"),
        ("Blackjack-v1", {}, "has no transition table"),
        ("NoSuchLake-v1", {}, "cannot be made"),
        ("FrozenLake-v1", {"colour": 1}, "cannot be made"),
        ("FrozenLake-v1", {"map_name": "9x9"}, "cannot be made"),
        ("Taxi-v4", {"fickle_passenger": True}, "fickle_passenger"),
    ],
)
def test_wrong_environments(name, options, said):
    with pytest.raises(ValueError, match=said):
        load(name, **options)


def test_steps_of_endless_episodes_are_not_recorded(key):
    with pytest.raises(ValueError, match=r"has no step limit.*limited"):
        played(mdp.TABLE.limited(None), key, jnp.ones((3, 2)), 2, record=True)


def test_weights_of_the_wrong_shape(key):
    for weights, n in (
        (jnp.ones((3, 2)), None),
        (jnp.ones((5, 3, 2)), 5),
        (jnp.ones((5, 2, 3)), None),
    ):
        with pytest.raises(ValueError, match="weights must be"):
            played(mdp.TABLE, key, weights, n)
