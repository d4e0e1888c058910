"""Estimators against autodiff of the exact expected value, to 1e-9, on problems that can be
enumerated.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.scipy.special import digamma

import phenes
from phenes import contexts, estimators, search
from phenes.batch import Batch
from phenes.contexts import Answer, AnswerLogits
from phenes.diagnostics import individual_scores
from tests.laws.statistics import once

from . import enumerable as small

POLICIES = {
    "table": small.table_policy(),
    "kept": small.table_policy(1, 5.0),
    "network": small.network_policy(),
}
TOLERANCE = {"rtol": 1e-9, "atol": 1e-11}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "table" else pytest.mark.tier("laws"))
        for name in POLICIES
    ],
)
def test_estimates_of_a_dirichlet_policy(name):
    """Both means are the gradient, and the score of the phenotype is that of the genotype given x.

    The score of the genotype is affine in theta, so its mean given x is the score at E[theta | x] =
    digamma(alpha + e_x) - digamma(A + 1).
    """
    p = contexts.Draw()

    @once
    def everything(q):
        x, probability, c = small.all_answers(q)

        def expected_theta(x):
            alpha = p.posterior(q, x).law.alpha
            return AnswerLogits(x.context, digamma(alpha) - digamma(jnp.sum(alpha)))

        batch = Batch(theta=jax.vmap(expected_theta)(x), x=x)
        both = (estimators.genotype, estimators.phenotype)
        w = x.answer.size * probability * small.WORTH[c, x.answer]
        return (
            [individual_scores(e, p, q, batch) for e in both],
            [e(p, q, batch, w) for e in both],
            eqx.filter_grad(small.expected)(q, small.WORTH),
        )

    rows, got, exact = everything(POLICIES[name])
    np.testing.assert_allclose(*rows, **TOLERANCE)
    for each in got:
        np.testing.assert_allclose(small.flat(each), small.flat(exact), **TOLERANCE)


def test_the_score_of_a_table_is_that_of_erratum_10():
    """delta_c [delta_x / alpha - 1 / A] in alpha. The printed one (delta_x outside the bracket)
    does not have mean 0.
    """
    q = small.table_policy()
    x, probability, c = once(small.all_answers)(q)
    alpha = jnp.exp(q.log_alpha.rows)
    scores = (
        small.scores(estimators.phenotype, contexts.Draw(), q, small.batch_of(x)).reshape(
            -1, small.C, small.Y
        )
        / alpha[None]
    )
    at_c, at_x = (
        jax.nn.one_hot(c, small.C)[:, :, None],
        jax.nn.one_hot(x.answer, small.Y)[:, None, :],
    )
    total = jnp.sum(alpha, axis=1)[None, :, None]
    np.testing.assert_allclose(scores, at_c * (at_x / alpha[None] - 1 / total), **TOLERANCE)
    np.testing.assert_allclose(jnp.tensordot(probability, scores, axes=1), 0.0, atol=1e-12)
    printed = at_c * at_x * (1 / alpha[None] - 1 / total)
    assert np.abs(jnp.tensordot(probability, printed, axes=1)).max() > 0.05


def test_mixture_of_experts():
    """Gradients of gate and experts, over all contexts, experts and answers."""

    @once
    def everything(q):
        theta, probability, c = small.all_said(q)
        batch = Batch(theta=theta, x=Answer(theta.context, theta.answer))
        w = theta.answer.size * probability * small.WORTH[c, theta.answer]
        both = (estimators.genotype, estimators.phenotype)
        got = [e(contexts.HiddenExpert(), q, batch, w) for e in both]
        return got, eqx.filter_grad(small.expected)(q, small.WORTH)

    for seed in (0, 1):
        got, exact = everything(small.mixture(seed))
        for each in got:
            np.testing.assert_allclose(small.flat(each), small.flat(exact), **TOLERANCE)


def test_the_gate_sums_over_experts_as_in_erratum_11():
    """post - gate for the logits; the drawn expert with the weight of its posterior, and no sum,
    has another mean.
    """

    @once
    def means(q):
        theta, probability, c = small.all_said(q)
        x = Answer(theta.context, theta.answer)
        wf = probability * small.WORTH[c, theta.answer]
        gate, post = jnp.exp(jax.vmap(q.log_gate)(theta.context)), contexts.responsibilities(q, x)
        drawn = jax.nn.one_hot(theta.expert, small.K) - gate
        own = jnp.take_along_axis(post, theta.expert[:, None], axis=1)
        bias = estimators.phenotype(
            contexts.HiddenExpert(), q, small.batch_of(x, theta), wf.size * wf
        ).gate.bias
        return wf @ (post - gate), wf @ drawn, wf @ (own * drawn), bias

    summed, genotype, literal, bias = means(small.mixture())
    np.testing.assert_allclose(summed, genotype, **TOLERANCE)
    np.testing.assert_allclose(bias, genotype, **TOLERANCE)
    assert np.abs(literal - genotype).max() > 1e-3


@pytest.mark.parametrize(
    ("q", "p"),
    [(small.network_policy(), contexts.Draw()), (small.mixture(), contexts.HiddenExpert())],
)
def test_posterior_times_marginal_is_the_joint(q, p):
    @once
    def both(q, key):
        theta = jax.vmap(q.sample)(jax.random.split(key, 16))
        x = jax.vmap(p.sample)(jax.random.split(key, 16), theta)
        by_x = jax.vmap(lambda t, x: p.posterior(q, x).log_prob(t) + p.marginal(q).log_prob(x))(
            theta, x
        )
        return by_x, jax.vmap(lambda t, x: q.log_prob(t) + p.log_prob(x, t))(theta, x)

    np.testing.assert_allclose(*both(q, jax.random.key(0)), **TOLERANCE)


NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(80)


@functools.cache
def weights_problem():
    """A network of one weight, all contexts and answers at all nodes of a quadrature over that
    weight.
    """
    q = search.IsotropicGaussian(mean=jnp.array([0.4]), std=0.25)
    logits = lambda theta, c: theta[0] * jnp.stack([c[0], c[1], c[0] * c[1]])  # noqa: E731
    p = contexts.NetworkPolicy(logits, contexts.Cases(small.ROWS))
    node, c, y = jnp.indices((NODES.size, small.C, small.Y)).reshape(3, -1)
    xi = jnp.asarray(NODES)[node][:, None]

    def value(q):
        theta = jax.vmap(q.push)(jnp.asarray(NODES)[:, None])
        answers = jnp.exp(
            jax.vmap(lambda t: jax.vmap(lambda c: p.log_answers(t, c))(small.ROWS))(theta)
        )
        return (
            jnp.sum(
                jnp.asarray(NODE_WEIGHTS / NODE_WEIGHTS.sum())
                @ jnp.sum(answers * small.WORTH[None], axis=(1, 2))
            )
            / small.C
        )

    batch = Batch(
        theta=jax.vmap(q.push)(xi), x=Answer(small.ROWS[c], y), xi=xi, key=jax.random.key(0)
    )
    chance = once(lambda x, theta: jnp.exp(jax.vmap(p.log_prob)(x, theta)))(batch.x, batch.theta)
    probability = jnp.asarray(NODE_WEIGHTS / NODE_WEIGHTS.sum())[node] * chance / small.C
    return p, q, batch, probability, small.WORTH[c, y], small.flat(once(eqx.filter_grad(value))(q))


@pytest.mark.tier("laws")
@pytest.mark.parametrize(
    "estimator",
    [
        estimators.genotype,
        estimators.reparameterised,
        estimators.information_mix(info=np.array([3.0])),
    ],
    ids=["genotype", "reparameterised", "information mix"],
)
def test_search_over_the_weights_of_a_network(estimator):
    """Mean and spread of the search law; the integral over the weight by quadrature."""
    p, q, batch, probability, f, exact = weights_problem()
    np.testing.assert_allclose(
        small.mean_estimate(estimator, p, q, batch, probability, f), exact, rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize(
    ("q", "p"),
    [(small.network_policy(), contexts.Draw()), (small.mixture(), contexts.HiddenExpert())],
    ids=["Dirichlet", "mixture"],
)
def test_belief_is_the_likelihood_of_the_feedback(q, p):
    """In the mean: the gradient of E_x[f log P + (1 - f) log(1 - P)], x from the policy as it
    is.
    """
    x, probability, c = once(small.all_answers)(q)
    f = small.RIGHT[c, x.answer]

    def likelihood(q):
        log_p = jax.vmap(p.marginal(q).log_prob)(x)
        return jnp.sum(probability * (f * log_p + (1 - f) * jnp.log1p(-jnp.exp(log_p))))

    w = once(lambda q: contexts.belief(p, q, small.batch_of(x)._replace(f=f)))(q)
    got = small.mean_estimate(estimators.phenotype, p, q, small.batch_of(x), probability, w)
    np.testing.assert_allclose(got, small.flat(once(eqx.filter_grad(likelihood))(q)), **TOLERANCE)


def test_belief_is_the_mean_of_the_full_information_score():
    """Fisher's identity: sum_y P(y | c, x, f) d log P(y | c) = w d log P(x | c), answer by
    answer.
    """
    q, p = small.network_policy(), contexts.Draw()
    x, _, c = once(small.all_answers)(q)
    f = small.RIGHT[c, x.answer]
    P = once(lambda q: jnp.exp(jax.vmap(q.log_answers)(x.context)))(q)
    at_x = jax.nn.one_hot(x.answer, small.Y)
    others = (1 - at_x) * P
    label = jnp.where(f[:, None] > 0, at_x, others / jnp.sum(others, axis=1, keepdims=True))
    rows = small.scores(estimators.phenotype, p, q, small.batch_of(x))
    full = jnp.einsum("iy,iyk->ik", label, rows.reshape(small.C, small.Y, -1)[c])
    w = once(lambda q: contexts.belief(p, q, small.batch_of(x)._replace(f=f)))(q)
    np.testing.assert_allclose(w[:, None] * rows, full, **TOLERANCE)


@pytest.mark.tier("laws")
def test_the_same_flow():
    """A context source, a policy, the library's own problem, strategy and loop; compiled once for
    all seeds, and it learns.
    """
    q = contexts.DirichletPolicy(
        contexts.Table(jnp.zeros((small.C, small.Y))),
        contexts.Cases(jnp.arange(small.C), jnp.array([2, 0, 1])),
    )
    problem = phenes.OIU(contexts.Draw(), contexts.is_correct)
    strategy = contexts.learner(
        problem.p, estimators.phenotype, contexts.belief, optax.sgd(0.5), popsize=4
    )
    run = once(
        jax.vmap(lambda key: phenes.run(key, problem, strategy, q, steps=200)[0].q.log_alpha.rows)
    )
    rows = run(jax.random.split(jax.random.key(0), 3))
    assert np.all(jnp.argmax(rows, axis=2) == jnp.array([[2, 0, 1]]))
