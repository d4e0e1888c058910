"""Weights that look at the context."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import contexts, estimators, weightings
from phenes.batch import Batch
from phenes.contexts import Answer
from tests.laws.statistics import once, population

from . import enumerable as small

MEANS = jnp.array([0.0, 5.0, -3.0])  # of f, by context


def seen_batch(n=6):
    c = jnp.arange(n) % 3
    return Batch(
        theta=None,
        x=Answer(c.astype(float), jnp.zeros(n, int)),
        f=MEANS[c] + jnp.linspace(-1.0, 1.0, n),
    )


def test_per_context_weighs_each_context_by_itself():
    f = jnp.array([1.0, 3.0, 100.0, 102.0])
    np.testing.assert_allclose(contexts.per_context(weightings.standardise, 2)(f), [-1, 1, -1, 1])
    np.testing.assert_allclose(contexts.per_context(weightings.value, 2)(f), [-2, 2, -2, 2])


def test_repeats_come_in_a_row():
    q = contexts.DirichletPolicy(
        contexts.Table(jnp.zeros((50, 2))), contexts.Cases(jnp.arange(50)), repeats=3
    )
    theta = once(lambda key: jax.vmap(q.push)(q.draw(key, 12)))(jax.random.key(0))
    c = np.asarray(theta.context).reshape(4, 3)
    assert np.all(c == c[:, :1])
    assert len(set(c[:, 0])) > 1
    assert not np.allclose(theta.log_probs[0], theta.log_probs[1])


@pytest.mark.tier("laws")
def test_per_context_learns_what_a_global_mean_cannot_see():
    """Contexts differ by far more than answers do."""
    worth = jnp.array([[0.0, 1.0], [101.0, 100.0]])
    problem = phenes.OIU(contexts.Draw(), lambda x: worth[x.context.astype(int), x.answer])
    q = contexts.DirichletPolicy(
        contexts.Table(jnp.zeros((2, 2))), contexts.Cases(jnp.arange(2)), repeats=4
    )
    weigh = contexts.per_context(weightings.value, 4)
    strategy = phenes.es(
        problem.p, estimators.phenotype, weigh, optax.sgd(1.0), 16, metric=phenes.metric.plain
    )
    state, _ = once(lambda key: phenes.run(key, problem, strategy, q, steps=60))(jax.random.key(0))
    np.testing.assert_array_equal(jnp.argmax(state.q.log_alpha.rows, axis=1), [1, 0])


@pytest.mark.parametrize(
    "model", [contexts.Table(jnp.zeros(3)), contexts.Constant(0.0)], ids=["table", "constant"]
)
def test_a_baseline_learns_the_mean_of_each_context(model):
    weights, batch = contexts.Baseline(model, optax.sgd(1.0)), seen_batch()
    np.testing.assert_allclose(weights(None, None, batch), batch.f)
    learn = eqx.filter_jit(lambda weights: weights.observe(None, None, batch))
    for _ in range(100):
        weights = learn(weights)
    f = np.asarray(batch.f)
    means = (
        f.reshape(2, 3).mean(axis=0)[np.arange(6) % 3]
        if isinstance(model, contexts.Table)
        else f.mean()
    )
    np.testing.assert_allclose(weights(None, None, batch), f - means, atol=1e-6)


def test_a_failed_evaluation_counts_nothing():
    batch = seen_batch()._replace(f=jnp.array([1.0, jnp.nan, -jnp.inf, 1.0, 2.0, 3.0]))
    weights = contexts.Baseline(contexts.Constant(1.0), optax.sgd(0.1))
    np.testing.assert_allclose(weights(None, None, batch), [0, 0, 0, 0, 1, 2])
    assert np.isfinite(weights.observe(None, None, batch).model.value)
    np.testing.assert_allclose(contexts.raw(batch.f), [1, 0, 0, 1, 2, 3])


def test_belief_stays_finite_when_the_policy_is_sure():
    q = contexts.DirichletPolicy(
        contexts.Table(jnp.array([[40.0, -40.0]])), contexts.Cases(jnp.zeros(1))
    )
    x = Answer(jnp.zeros(2), jnp.array([0, 1]))
    weigh = once(lambda f: contexts.belief(contexts.Draw(), q, small.batch_of(x)._replace(f=f)))
    for f in (0.0, 1.0):
        w = weigh(jnp.full(2, f))
        assert np.all(np.isfinite(w))
        assert np.all(np.abs(w) <= 1000)


@pytest.mark.tier("laws")
def test_weighed_lets_both_of_its_parts_learn():
    q, p = small.network_policy(), contexts.Draw()
    both = contexts.Weighed(
        estimators.information_mix(), contexts.Baseline(contexts.Constant(0.0), optax.sgd(0.5))
    )
    plain = contexts.Weighed(estimators.phenotype, contexts.belief)

    @once
    def learn(key):
        batch = population(q, p, key, 8)._replace(f=jnp.ones(8))
        started = both.start(p, q, batch)
        w = contexts.belief(p, q, batch)
        return (
            started,
            started.step(p, q, batch, batch.f)[1],
            plain(p, q, batch, 7 * w),
            estimators.phenotype(p, q, batch, w),
        )

    started, after, weighed, expected = learn(jax.random.key(0))
    assert started.estimator.mass == 0
    assert after.estimator.mass > 0
    np.testing.assert_allclose(after.weights.model.value, 0.5)
    assert plain.start(p, q, None) is plain
    np.testing.assert_allclose(small.flat(weighed), small.flat(expected), rtol=1e-9)


def test_a_baseline_has_not_seen_the_generation_that_it_judges():
    """g = estimator(p, q, batch, f - v(c)) with the v of past generations; then v learns."""
    q, p = small.table_policy(), contexts.Draw()
    value = jnp.array([0.5, -1.0, 2.0])
    weighed = contexts.Weighed(
        estimators.phenotype, contexts.Baseline(contexts.Table(value), optax.sgd(1.0))
    )

    @once
    def generation(key):
        batch = population(q, p, key, 12)
        batch = batch._replace(f=3.0 + jnp.arange(12.0))
        g, after = weighed.step(p, q, batch, batch.f)
        before = value[batch.x.context.astype(int)]
        return g, estimators.phenotype(p, q, batch, batch.f - before), after.weights.model.rows

    g, expected, learnt = generation(jax.random.key(3))
    assert np.all(np.abs(learnt - value) > 0.1)  # the generation would have changed all weights
    np.testing.assert_allclose(small.flat(g), small.flat(expected), rtol=1e-12, atol=1e-14)


@pytest.mark.tier("laws")
def test_belief_with_more_doubt():
    """The same where the policy is less sure than that, and never beyond 1 / doubt."""
    q, p = small.table_policy(), contexts.Draw()
    x, _, c = once(small.all_answers)(q)
    batch = small.batch_of(x)._replace(f=small.RIGHT[c, x.answer])
    P = once(lambda q: jnp.exp(jax.vmap(p.marginal(q).log_prob)(x)))(q)
    least, w = once(lambda q: (contexts.belief(p, q, batch), contexts.Belief(0.6)(p, q, batch)))(q)
    np.testing.assert_allclose(w[P < 0.4], least[P < 0.4])
    np.testing.assert_allclose(w[P > 0.4], ((batch.f - P) / 0.6)[P > 0.4])
    assert np.any(P > 0.4)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: contexts.Belief(0.0), "doubt must be positive"),
        (lambda: contexts.Belief([0.1, 0.2]), "doubt must have shape"),
        (lambda: contexts.per_context(weightings.value, 1), "repeats must be at least 2"),
        (lambda: contexts.per_context("value", 2), "weighting must be a function"),
        (
            lambda: contexts.per_context(weightings.value, 2)(jnp.zeros(3)),
            "multiple of the 2 repeats",
        ),
        (lambda: contexts.Baseline("mean", optax.sgd(0.1)), "model must be a function"),
        (lambda: contexts.Baseline(contexts.Constant(0.0), "sgd"), "optimiser must be an optax"),
        (lambda: contexts.Weighed("phenotype", contexts.belief), "estimator must be a function"),
        (lambda: contexts.Weighed(estimators.phenotype, "belief"), "weights must be a function"),
        (
            lambda: contexts.belief(object(), object(), seen_batch()),
            "a marginal or a search law with a mean",
        ),
    ],
)
def test_wrong_weights(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
