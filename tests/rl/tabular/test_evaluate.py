"""Exact values: against enumeration, against each other, and against what is known of the
environments.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl.tabular import Table, best_action, load, optimum, play, stationary_value, value
from phenes.rl.tabular.evaluate import values_of
from tests.rl.tabular import mdp

POLICY = np.array([[0.3, 0.7], [0.9, 0.1], [0.5, 0.5]])
ENDLESS = [
    [[(1.0, 0, -1.0, False)], [(1.0, 1, 0.0, False)], [(1.0, 1, 5.0, True)]],
    [[(1.0, 1, 0.0, False)]] * 3,
]


def test_value_is_the_sum_over_all_episodes():
    exact = float(mdp.expected_return(jnp.log(jnp.asarray(POLICY))))
    assert float(value(mdp.TABLE, POLICY)) == pytest.approx(exact, abs=1e-12)


def test_greedy_value_is_that_of_its_probabilities():
    for actions in itertools.product(range(2), repeat=3):
        probabilities = np.eye(2)[list(actions)]
        assert float(value(mdp.TABLE, np.array(actions))) == pytest.approx(
            float(value(mdp.TABLE, probabilities)), abs=1e-12
        )


def test_stationary_value_is_the_limit_of_long_horizons():
    for policy in (POLICY, np.array([1, 1, 0])):
        assert stationary_value(mdp.TABLE, policy) == pytest.approx(
            float(value(mdp.TABLE, policy, 3000)), abs=1e-9
        )


@pytest.mark.parametrize(
    ("action", "worth"),
    [(0, -np.inf), (1, 0.0), (2, 5.0)],
    ids=["pays for ever", "waits for ever, for nothing", "ends"],
)
def test_policies_that_never_end(action, worth):
    table = Table(ENDLESS, 0)
    assert stationary_value(table, np.array([action, 0])) == worth


def test_optimum_is_the_best_of_all_policies_where_time_does_not_matter():
    table = load("FrozenLake-v1", desc=["SF", "HG"]).table
    every = np.array(list(itertools.product(range(4), repeat=4)))
    free = values_of(table, every, None)
    assert optimum(table.limited(None))[0] == pytest.approx(np.nanmax(free), abs=1e-9)
    np.testing.assert_allclose(values_of(table, every, 500), free, atol=1e-9)
    assert optimum(table, 6)[0] >= values_of(table, every, 6).max()


@pytest.mark.parametrize(
    ("name", "limit", "best"),
    [
        ("FrozenLake-v1", 100, 0.7442),
        ("FrozenLake-v1", None, 0.8235),
        ("CliffWalking-v1", 100, -13.0),
        ("Taxi-v4", 200, 7.93),
    ],
)
def test_known_optima(name, limit, best):
    assert optimum(load(name).table.limited(limit))[0] == pytest.approx(best, abs=6e-5)


@pytest.mark.tier("rl")
def test_values_without_a_limit_are_exact_whatever_jax_computes_in():
    with jax.enable_x64(False):
        table = load("FrozenLake-v1").table.limited(None)
        assert optimum(table)[0] == pytest.approx(14 / 17, abs=1e-9)
        assert stationary_value(table, optimum(table)[1]) == pytest.approx(14 / 17, abs=1e-9)
        assert float(value(table, optimum(table)[1], 100)) < 0.75
        assert play(table, jax.random.key(0), jnp.ones((16, 4)), 3).total.dtype == jnp.float32


def test_value_under_jit_and_vmap():
    policies = jnp.asarray(np.random.default_rng(0).dirichlet(np.ones(2), size=(4, 3)))
    together = jax.jit(jax.vmap(lambda policy: value(mdp.TABLE, policy)))(policies)
    np.testing.assert_allclose(
        together, [float(value(mdp.TABLE, policy)) for policy in policies], atol=1e-12
    )


def test_first_of_equal_actions_is_the_best():
    assert best_action(jnp.asarray([[0.5, 0.5], [0.1, 0.9]])).tolist() == [0, 1]


def test_misuse():
    with pytest.raises(ValueError, match=r"policy must have shape \(3,\).*got \(2,\)"):
        value(mdp.TABLE, np.array([0, 1]))
    with pytest.raises(ValueError, match="has no step limit"):
        value(mdp.TABLE.limited(None), POLICY)
