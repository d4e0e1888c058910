"""Heads, networks, the scale of observations, and rows of the Jacobian."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl.policies import (
    MLP,
    Choices,
    GaussianHead,
    Mixed,
    Normaliser,
    Softmax,
    from_network,
    policy,
    quiet,
)
from phenes.rl.rollouts.spaces import Spaces
from tests.laws.statistics import once

DISCRETE = Spaces("d", 4, 3, None, None, 10, None)
BOX = Spaces("b", 4, None, np.array([-2.0, -np.inf]), np.array([4.0, np.inf]), 10, None)


class Bent(eqx.Module):
    """A user's own: a bilinear form, with an integer array that is no parameter."""

    a: jax.Array
    order: jax.Array

    def __call__(self, obs):
        obs = obs[self.order]
        return jnp.tanh(self.a @ obs) * obs[0]


def fisher(head, out, actions, chance):
    """sum_a pi(a) e_a e_a', exactly."""
    e = jax.vmap(jax.grad(head.log_prob), in_axes=(None, 0))(out, actions)
    return jnp.einsum("a,ai,aj->ij", chance, e, e)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_softmax_factor_is_a_root_of_the_fisher_information(k, key):
    head, out = Softmax(k), jax.random.normal(key, (k,))
    L, information = once(
        lambda out: (head.factor(out), fisher(head, out, jnp.arange(k), jax.nn.softmax(out)))
    )(out)
    np.testing.assert_allclose(np.asarray(L) @ np.asarray(L).T, information, atol=1e-12)
    assert L.shape == (k, 1 if k == 2 else k)
    assert int(head.mode(out)) == int(jnp.argmax(out))


def test_choices_have_the_fisher_information_of_each(key):
    """Over all combinations of three choices, one of which has no alternative."""
    head, out = Choices((2, 1, 3)), jax.random.normal(key, (6,))
    actions = jnp.asarray([(a, 0, c) for a in range(2) for c in range(3)])

    @once
    def of(out):
        chance = jnp.exp(jax.vmap(head.log_prob, in_axes=(None, 0))(out, actions))
        L, keys = head.factor(out), jax.random.split(key, 20_000)
        drawn = jax.vmap(head.sample, in_axes=(0, None))(keys, out)
        return chance, L @ L.T, fisher(head, out, actions, chance), head.mode(out), drawn

    chance, squared, information, mode, drawn = (np.asarray(part) for part in of(out))
    assert chance.sum() == pytest.approx(1)
    np.testing.assert_allclose(squared, information, atol=1e-12)
    np.testing.assert_array_equal(mode, actions[np.argmax(chance)])
    share = np.mean(np.all(drawn[:, None] == np.asarray(actions), axis=2), axis=0)
    se = np.sqrt(chance * (1 - chance) / 20_000)
    assert np.all(np.abs(share - chance) < 4 * se)


def test_choices_and_real_numbers_at_once_are_independent(key):
    """log pi is the sum of both, and its information that of each in a block."""
    choices, reals = Choices((2, 3)), GaussianHead([0.5, 0.2], BOX.low, BOX.high)
    head, out = Mixed(choices, reals), jax.random.normal(key, (7,))
    assert head.outputs == 7
    action = jnp.asarray([1.0, 2.0, 3.0, 30.0])
    expected = choices.log_prob(out[:5], jnp.asarray([1, 2])) + reals.log_prob(out[5:], action[2:])
    np.testing.assert_allclose(head.log_prob(out, action), expected)
    np.testing.assert_array_equal(head.to_env(action), [1, 2, 4, 30])
    np.testing.assert_array_equal(head.mode(out)[:2], choices.mode(out[:5]))
    np.testing.assert_array_equal(head.mode(out)[2:], out[5:])
    information = np.asarray(head.factor(out) @ head.factor(out).T)
    np.testing.assert_allclose(
        information[:5, :5], choices.factor(out[:5]) @ choices.factor(out[:5]).T
    )
    np.testing.assert_allclose(information[5:, 5:], np.diag([4.0, 25.0]))
    assert not information[:5, 5:].any()
    drawn = np.asarray(jax.vmap(head.sample, (0, None))(jax.random.split(key, 4000), out))
    assert set(drawn[:, 0]) == {0, 1}
    assert set(drawn[:, 1]) == {0, 1, 2}
    np.testing.assert_allclose(drawn[:, 2:].std(0), [0.5, 0.2], rtol=0.06)  # 5 standard errors
    assert abs(np.corrcoef(drawn[:, 1], drawn[:, 2])[0, 1]) < 5 / 4000**0.5


def test_the_largest_numbers_there_are_stand_for_no_bounds():
    """As many environments write them."""
    most = np.finfo(np.float32).max
    head = GaussianHead(0.1, [-most, 0.0], [most, 2.0])
    np.testing.assert_array_equal(head.to_env(jnp.asarray([3.0, 0.5])), [3.0, 1.5])


@pytest.mark.parametrize("sizes", [(), (1, 1), (0, 3), (2.5,)])
def test_choices_need_something_to_choose(sizes):
    with pytest.raises(ValueError, match="sizes must"):
        Choices(sizes)


def test_softmax_draws_with_its_probabilities(key):
    """Within 4 standard errors, 100,000 draws."""
    head, out, n = Softmax(3), jnp.asarray([0.5, -1.0, 0.2]), 100_000
    drawn = (
        np.bincount(
            np.asarray(jax.vmap(head.sample, in_axes=(0, None))(jax.random.split(key, n), out)),
            minlength=3,
        )
        / n
    )
    pi = np.asarray(jax.nn.softmax(out))
    assert np.all(np.abs(drawn - pi) < 4 * np.sqrt(pi * (1 - pi) / n))


def test_normal_scales_and_clips_after_the_action_whose_score_is_taken():
    head = GaussianHead([0.5, 0.2], BOX.low, BOX.high)
    action = jnp.asarray([3.0, 30.0])
    np.testing.assert_allclose(head.to_env(action), [4.0, 30.0])
    np.testing.assert_allclose(
        head.to_env(jnp.asarray([[0.0, 0.0], [-0.5, 2.0]])), [[1.0, 0.0], [-0.5, 2.0]]
    )
    out = jnp.asarray([1.0, 29.0])
    # not that of the clipped 1.0
    np.testing.assert_allclose(jax.grad(head.log_prob)(out, action), [(3.0 - 1.0) / 0.25, 1 / 0.04])
    np.testing.assert_allclose(head.factor(out) @ head.factor(out).T, np.diag([4.0, 25.0]))
    np.testing.assert_allclose(head.with_std(0.1).std, [0.1, 0.1])
    np.testing.assert_allclose(head.mode(out), out)


def test_xavier():
    net = MLP(jax.random.key(0), 8, 2, (100, 60))
    for layer, (a, b) in zip(net.layers, [(8, 100), (100, 60), (60, 2)], strict=True):
        limit = np.sqrt(6 / (a + b))
        assert 0.9 * limit < float(jnp.abs(layer.weight).max()) <= limit
        assert not np.any(layer.bias)


@pytest.mark.parametrize("hidden", [(), (3,)])
def test_a_smaller_constant_input(hidden, key):
    """A bias b that is multiplied by 1/2 is one of b / 2, and its derivatives are half as large."""
    half, whole = (MLP(key, 4, 2, hidden, bias=size) for size in (0.5, 1.0))
    head = GaussianHead(0.1, -np.ones(2), np.ones(2))
    (small, theta), (large, _) = (from_network(net, head) for net in (half, whole))
    theta = theta + 1.0
    is_bias = np.concatenate(
        [np.arange(i * o + o) >= i * o for i, o in itertools.pairwise((4, *hidden, 2))]
    )
    obs, same = jnp.arange(4.0), jnp.where(is_bias, theta / 2, theta)

    @once
    def of(theta):
        rows = small.features(theta, obs[None], jnp.eye(2)[None])
        jacobian = jax.jacobian(small.output)(theta, obs)
        outputs = small.output(theta, obs), large.output(same, obs)
        return *outputs, rows.dot(rows), jacobian @ jacobian.T

    of_small, of_large, products, expected = of(theta)
    np.testing.assert_allclose(of_small, of_large, rtol=1e-6)
    np.testing.assert_allclose(products, expected, rtol=1e-6)


@pytest.mark.parametrize("size", [-0.5, np.nan, "one", None])
def test_a_constant_input_has_a_size(size):
    with pytest.raises(ValueError, match="bias must be"):
        MLP(jax.random.key(0), 4, 2, (), bias=size)


def test_scale_is_that_of_all_that_was_seen(key):
    obs = 3.0 + 2.0 * jax.random.normal(key, (4, 6, 5))
    mask = jnp.arange(6)[None] < jnp.asarray([6, 2, 4, 1])[:, None]
    obs = obs.at[2, 0, 0].set(jnp.nan)
    scale = Normaliser.start(5)
    np.testing.assert_array_equal(scale(obs[0, 0]), obs[0, 0])
    for part in (slice(0, 1), slice(1, 4)):
        scale = scale.update(obs[part], mask[part])
    seen = np.asarray(obs)[np.asarray(mask)]
    seen = seen[np.isfinite(seen).all(axis=1)]
    np.testing.assert_allclose(
        [scale.mean, scale.var], [seen.mean(axis=0), seen.var(axis=0)], rtol=1e-12
    )
    assert float(scale.count) == len(seen) == 12
    again = scale.update(obs, jnp.zeros_like(mask))
    assert eqx.tree_equal(again, scale)
    assert float(scale(1e9 * jnp.ones(5)).max()) == 10.0


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6])
def test_the_unit_of_an_observation_does_not_matter(unit, key):
    """What is scaled varies by 1; but for what is constant beside rounding, which stays small."""
    mask, obs = jnp.ones((4, 50), bool), 2.0 + jax.random.normal(key, (4, 50, 2))
    scale = Normaliser.start(2).update(unit * obs, mask)
    z = jax.vmap(jax.vmap(scale))(unit * obs)
    np.testing.assert_allclose([z.mean(), z.std()], [0, 1], atol=1e-6)
    still = unit * (3.3 + 1e-8 * obs)
    quiet = jax.vmap(jax.vmap(Normaliser.start(2).update(still, mask)))(still)
    assert float(jnp.abs(quiet).max()) < 0.1


@pytest.mark.parametrize(
    "net",
    [MLP(jax.random.key(1), 4, 3, (5, 6)), Bent(jnp.ones((3, 4)) / 3, jnp.asarray([1, 0, 3, 2]))],
)
def test_inner_products_of_rows(net, key):
    """Of the network's own kind and of any other, scaled or not, with observations at their
    scale.
    """
    scale = Normaliser.start(4).update(
        2.0 + jax.random.normal(key, (1, 9, 4)), jnp.ones((1, 9), bool)
    )
    made, theta = from_network(net, Softmax(3), scale)
    obs, L = jax.random.normal(key, (7, 4)), jax.random.normal(key, (7, 3, 2))
    each = jnp.arange(1.0, 2.0 + made.layers().max())

    @once
    def products(theta):
        rows = made.features(theta, obs, L)
        return jax.jacrev(made.outputs)(theta, obs), rows.dot(rows), rows.dot(rows, each)

    jacobian, plain, scaled = (np.asarray(part) for part in products(theta))
    J = np.einsum("rkc,rkd->rcd", L, jacobian).reshape(14, -1)
    np.testing.assert_allclose(plain, J @ J.T, atol=1e-12)
    np.testing.assert_allclose(scaled, (J * np.asarray(each)[made.layers()]) @ J.T, atol=1e-12)


@pytest.mark.parametrize("spaces", [DISCRETE, BOX], ids=["discrete", "box"])
def test_policy_for_spaces(spaces, key):
    made, theta = policy(key, spaces, (8,))
    assert theta.shape == (made.dim,) == made.layers().shape
    obs = jnp.arange(4.0)
    action = made.head.sample(key, made.output(theta, obs))
    assert np.isfinite(once(made.log_prob)(theta, obs, action))
    assert made.observe(jnp.ones((1, 1, 4)), jnp.ones((1, 1), bool)).scale.count == 1


def test_a_network_of_the_users_own_is_a_policy():
    made, theta = from_network(Bent(jnp.ones((2, 4)), jnp.arange(4)), Softmax(2))
    assert theta.size == 8
    np.testing.assert_allclose(made.output(jnp.zeros(8), jnp.ones(4)), [0.0, 0.0])
    assert made.observe(jnp.ones((1, 1, 4)), jnp.ones((1, 1), bool)) is made


def test_wrong_arguments():
    with pytest.raises(ValueError, match="must have parameters"):
        from_network(lambda obs: obs, Softmax(2))
    with pytest.raises(ValueError, match="net must be a function"):
        from_network("mlp", Softmax(2))
    with pytest.raises(ValueError, match="low < high"):
        GaussianHead(0.1, [0.0], [0.0])
    with pytest.raises(ValueError, match="std must have shape"):
        GaussianHead([0.1, 0.2], [-1.0], [1.0])
    with pytest.raises(ValueError, match="actions must be a whole number of at least 2"):
        Softmax(1)


@pytest.mark.tier("rl")
def test_a_quiet_start_says_little_and_nothing_else_changes(key):
    made, theta = policy(key, BOX, (6, 5), 0.3)
    obs = jax.random.normal(key, (7, 4))
    calm = quiet(made, theta, 0.1)
    np.testing.assert_allclose(made.outputs(calm, obs), 0.1 * made.outputs(theta, obs), rtol=1e-9)
    np.testing.assert_array_equal(quiet(made, theta, 1.0), theta)
    own, theta = from_network(
        Bent(jnp.ones((2, 3)), jnp.arange(3)), GaussianHead(0.1, -jnp.ones(2), jnp.ones(2))
    )
    np.testing.assert_array_equal(quiet(own, theta, 0.1), theta)
