"""Estimators that learn: the gradient is taken with what was known before the generation."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import estimators, inputs, metric, search, weightings
from phenes._population import weigh
from phenes.protocols import LearningEstimator

NOISE = inputs.GaussianNoise(0.3)
Q0 = search.DiagonalGaussian(np.zeros(3), 1.0)
PROBLEM = phenes.OIU(p=NOISE, f=lambda x: -jnp.sum((x - 1.0) ** 2))
LEARNERS = {
    "mix": estimators.information_mix(),
    "linear": estimators.biased_linear(),
}


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


@pytest.mark.parametrize("name", LEARNERS)
def test_tell_steps_with_what_was_known_before_this_generation(name, key):
    """An estimator that has seen the generation it judges is biased."""
    p, q0, problem = NOISE, Q0, PROBLEM
    made = phenes.es(
        p, LEARNERS[name], weightings.standardise, optax.sgd(0.01), 12, metric=metric.plain
    )

    def generation(state):
        batch = problem.realise(key, state.generation, made.ask(key, state))
        return batch._replace(f=problem.evaluate(batch.x))

    @jax.jit
    def second_generation(key):
        before = made.tell(made.init(q0), generation(made.init(q0)))[0]
        batch = generation(before)
        after, _ = made.tell(before, batch)
        w = weigh(weightings.standardise, batch.f)
        known, learnt = before.estimator, before.estimator.observe(p, before.q, batch)
        steps = [
            before.q.move(jax.tree.map(lambda g: 0.01 * g, e(p, before.q, batch, w)))[0]
            for e in (known, learnt)
        ]
        return after.q, steps, after.estimator, learnt

    found, (with_known, with_learnt), estimator, learnt = second_generation(key)
    for a, b in zip(leaves(found), leaves(with_known), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    assert any(
        np.max(np.abs(a - b)) > 1e-6
        for a, b in zip(leaves(found), leaves(with_learnt), strict=True)
    ), "the two orders cannot be told apart"
    for a, b in zip(leaves(estimator), leaves(learnt), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", LEARNERS)
def test_what_learns_has_the_protocol(name):
    assert isinstance(LEARNERS[name], LearningEstimator)


def test_plain_functions_do_not_learn():
    for estimator in (estimators.genotype, estimators.phenotype, estimators.exchangeable(2)):
        assert not isinstance(estimator, LearningEstimator)


def test_an_estimator_that_only_observes_is_refused():
    """It would be asked for gradients and never told to learn."""

    class Observing:
        def __call__(self, p, q, batch, w):
            return estimators.phenotype(p, q, batch, w)

        def observe(self, p, q, batch):
            return self

    with pytest.raises(ValueError, match=r"step\(p, q, batch, w\).*got Observing with observe"):
        phenes.es(NOISE, Observing(), weightings.standardise, optax.sgd(0.1), 10)
