"""Sources of contexts, policies and mixtures: what they may see, and what they refuse."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import contexts, estimators, search
from phenes.contexts import Answer, Case
from tests.laws.statistics import once

from . import enumerable as small

LINEAR = eqx.nn.Linear(2, 3, key=jax.random.key(0))
SOURCE = contexts.Cases(small.ROWS)


class TestCases:
    def test_every_row_is_drawn_and_the_label_stays_with_it(self):
        drawn = jax.vmap(contexts.Cases(jnp.arange(5), 10 * jnp.arange(5)))(
            jax.random.split(jax.random.key(0), 4000)
        )
        np.testing.assert_array_equal(drawn.hidden, 10 * drawn.c)
        share = np.bincount(np.asarray(drawn.c, int), minlength=5) / 4000
        # standard error of a share: sqrt(.2 x .8 / 4000) = .0063
        np.testing.assert_allclose(share, 0.2, atol=5 * 0.0063)

    def test_policies_see_the_context_only(self):
        assert contexts.visible(Case(1.0, 2.0)) == 1.0
        assert contexts.visible(3.0) == 3.0
        q = contexts.DirichletPolicy(LINEAR, contexts.Cases(small.ROWS, jnp.arange(3)))
        np.testing.assert_array_equal(
            *(q.log_answers(Case(small.ROWS[0], jnp.array(label))) for label in (0.0, 2.0))
        )

    def test_right(self):
        case = Case(small.ROWS, jnp.array([0.0, 1.0, 2.0]))
        np.testing.assert_array_equal(
            jax.vmap(contexts.is_correct)(Answer(case, jnp.array([0, 2, 2]))), [1, 0, 1]
        )


def test_concentration_does_not_change_the_answers():
    few, many = (
        contexts.DirichletPolicy(contexts.Concentrated(LINEAR, total), SOURCE)
        for total in (0.5, 50.0)
    )
    np.testing.assert_allclose(
        few.log_answers(small.ROWS[0]), many.log_answers(small.ROWS[0]), rtol=1e-12
    )
    np.testing.assert_allclose(many.of(small.ROWS[0]).alpha.sum(), 50.0)
    sure = contexts.Concentrated(lambda c: jnp.array([500.0, 0.0, -500.0]), 1.0)(None)
    assert np.all(np.isfinite(jnp.log(jnp.exp(sure))))


def test_flatten_gives_the_network_back():
    network = eqx.nn.MLP(2, 3, 4, 1, key=jax.random.key(1))
    theta, logits = contexts.flatten(network)
    np.testing.assert_array_equal(logits(theta, small.ROWS[0]), network(small.ROWS[0]))
    assert not np.allclose(logits(theta + 1, small.ROWS[0]), network(small.ROWS[0]))


@pytest.mark.tier("laws")
def test_search_over_weights_learns():
    """Information mix on a Gaussian law of all weights, contexts drawn by the law of the answers.

    With a guess at the information: without one the first step is the genotype's, and 3 of 4 seeds
    end with a context they never get right.
    """
    source = contexts.Cases(jnp.array([[1.0, 0.2], [-1.0, 0.1], [0.1, 1.0]]), jnp.arange(3))
    theta, logits = contexts.flatten(eqx.nn.Linear(2, 3, key=jax.random.key(0)))
    problem = phenes.OIU(contexts.NetworkPolicy(logits, source), contexts.is_correct)
    estimator = contexts.Weighed(
        estimators.information_mix(order=1, info=np.full(9, 0.2)), contexts.belief
    )
    strategy = phenes.es(
        problem.p,
        estimator,
        contexts.raw,
        optax.sgd(0.5),
        8,
        metric=phenes.metric.plain,
        std=0.1,
    )
    q = search.IsotropicGaussian(theta, 0.1)
    _, info = once(lambda key: phenes.run(key, problem, strategy, q, steps=400))(jax.random.key(0))
    start, end = info.f_mean[:20], info.f_mean[-50:]
    # of a difference of shares, at most
    se = np.sqrt(0.25 / (8 * start.size) + 0.25 / (8 * end.size))
    assert jnp.mean(end) - jnp.mean(start) > 5 * se
    assert jnp.mean(end) > 0.85


@pytest.mark.tier("laws")
def test_the_information_mix_leaves_weights_alone_that_no_context_touches():
    """A pixel that is always dark: neither score depends on its weights, and what is divided by is
    0.
    """
    network = eqx.nn.Linear(2, 3, use_bias=False, key=jax.random.key(0))
    dark = contexts.Cases(jnp.array([[1.0, 0.0], [-1.0, 0.0]]), jnp.arange(2))
    q = contexts.DirichletPolicy(contexts.Concentrated(network, 5.0), dark)
    problem = phenes.OIU(contexts.Draw(), contexts.is_correct)
    strategy = contexts.learner(
        problem.p, estimators.information_mix(memory=0.99), contexts.Belief(0.3), optax.sgd(0.1), 4
    )
    state, _ = once(lambda key: phenes.run(key, problem, strategy, q, steps=100))(jax.random.key(0))
    weights = state.q.log_alpha.network.weight
    np.testing.assert_array_equal(weights[:, 1], network.weight[:, 1])
    assert np.all(np.isfinite(weights[:, 0]))
    np.testing.assert_array_equal([jnp.argmax(state.q.log_answers(c)) for c in dark.rows.c], [0, 1])


def test_experts_that_give_numbers():
    """x is a vector; the marginal is the mixture density, and integrates to 1."""
    experts = [
        contexts.Numbers(eqx.nn.Linear(2, 1, key=jax.random.key(k)), std=0.5) for k in range(2)
    ]
    q = contexts.Mixture(eqx.nn.Linear(2, 2, key=jax.random.key(9)), experts, SOURCE)
    assert jax.eval_shape(q.sample, jax.random.key(0)).answer.shape == (1,)
    grid = jnp.linspace(-12.0, 12.0, 4001)
    log_p = once(
        jax.vmap(
            lambda y: contexts.HiddenExpert().marginal(q).log_prob(Answer(small.ROWS[0], y[None]))
        )
    )(grid)
    np.testing.assert_allclose(jnp.sum(jnp.exp(log_p)) * (grid[1] - grid[0]), 1.0, rtol=1e-9)


def test_the_speaker_is_drawn_from_the_posterior():
    q, p = small.mixture(), contexts.HiddenExpert()
    x = Answer(small.ROWS[0], jnp.array(1))
    said = once(lambda keys: jax.vmap(p.posterior(q, x).sample)(keys))(
        jax.random.split(jax.random.key(0), 10_000)
    )
    assert np.all(said.answer == 1)
    share, exact = float(jnp.mean(said.expert)), float(jax.nn.softmax(q.log_joint(x))[1])
    assert abs(share - exact) < 5 * (exact * (1 - exact) / 10_000) ** 0.5


class TestEM:
    data = Answer(small.ROWS, jnp.array([2, 0, 1]))

    def test_the_m_step_starts_along_the_gradient_of_the_likelihood(self):
        """Fisher's identity, to 1e-9."""
        q = small.mixture()
        post = once(contexts.responsibilities)(q, self.data)
        np.testing.assert_allclose(post.sum(axis=1), 1.0)
        left = once(eqx.filter_grad(lambda q: contexts.expected_log_joint(q, self.data, post)))(q)
        right = once(eqx.filter_grad(lambda q: contexts.log_likelihood(q, self.data)))(q)
        np.testing.assert_allclose(small.flat(left), small.flat(right), rtol=1e-9, atol=1e-12)

    def test_the_likelihood_never_falls(self):
        """Small plain steps on the M-step: each raises its target, so each sweep raises the
        likelihood.
        """
        q, before = once(lambda q: contexts.em(q, self.data, optax.sgd(0.05), sweeps=30))(
            small.mixture()
        )
        assert np.all(np.diff(before) > 0)
        assert contexts.log_likelihood(q, self.data) > before[-1]


class Silent(eqx.Module):
    pass


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: contexts.Cases(jnp.zeros((0, 2))), "one row or more"),
        (lambda: contexts.Cases(jnp.array(1.0)), "one row or more"),
        (lambda: contexts.Cases((jnp.zeros(3), jnp.zeros(4))), "one row or more"),
        (lambda: contexts.Cases(jnp.zeros(3), jnp.zeros(4)), "hidden must have 3 rows"),
        (lambda: contexts.DirichletPolicy("network", SOURCE), "log_alpha must be a function"),
        (lambda: contexts.DirichletPolicy(LINEAR, small.ROWS), "contexts must be a function"),
        (
            lambda: contexts.DirichletPolicy(LINEAR, lambda key: jnp.array(1)),
            "floating-point numbers, got int",
        ),
        (
            lambda: contexts.DirichletPolicy(LINEAR, lambda key: ()),
            "floating-point numbers, got none",
        ),
        (
            lambda: contexts.DirichletPolicy(LINEAR, SOURCE, repeats=0),
            "repeats must be a whole number",
        ),
        (
            lambda: contexts.DirichletPolicy(LINEAR, SOURCE, repeats=2).draw(jax.random.key(0), 3),
            "multiple of the 2 repeats",
        ),
        (lambda: contexts.Draw().marginal(small.mixture()), "under DirichletPolicy, got Mixture"),
        (
            lambda: contexts.Draw().posterior(small.mixture(), None),
            "under DirichletPolicy, got Mixture",
        ),
        (lambda: contexts.NetworkPolicy("logits", SOURCE), "logits must be a function"),
        (lambda: contexts.flatten(eqx.nn.Identity()), "must have weights to search"),
        (lambda: contexts.Table(1.0), "rows must have shape"),
        (lambda: contexts.Concentrated(LINEAR, 0.0), "total must be positive"),
        (lambda: contexts.Concentrated("linear", 1.0), "network must be a function"),
        (lambda: contexts.Labels("linear"), "network must be a function"),
        (lambda: contexts.Numbers(LINEAR, std=0.0), "std must be positive"),
        (
            lambda: contexts.Mixture("gate", [contexts.Labels(LINEAR)], SOURCE),
            "gate must be a function",
        ),
        (
            lambda: contexts.Mixture(LINEAR, [Silent()] * 3, SOURCE),
            "experts must have sample and log_prob",
        ),
        (
            lambda: contexts.Mixture(LINEAR, [contexts.Labels(LINEAR)], SOURCE),
            "each of the 1 experts",
        ),
        (
            lambda: contexts.HiddenExpert().marginal(small.table_policy()),
            "under Mixture, got DirichletPolicy",
        ),
        (
            lambda: contexts.HiddenExpert().posterior(small.table_policy(), None),
            "under Mixture, got DirichletPolicy",
        ),
        (
            lambda: contexts.em(small.mixture(), TestEM.data, optax.sgd(0.1), sweeps=0),
            "sweeps must be a whole number",
        ),
        (
            lambda: contexts.em(small.mixture(), TestEM.data, optax.sgd(0.1), sweeps=1, steps=0),
            "steps must be a whole number",
        ),
    ],
)
def test_what_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
