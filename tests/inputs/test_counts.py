"""Counts and waiting times against SciPy: exposure, trials, events, and the law of a total."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from phenes import inputs, search

EXPOSURE = 2.5
GAMMA = search.Gamma(2.3, 1.7)
BETA = search.Beta(0.9, 1.6)
EVENTS = np.array([0.0, 1.0, 7.0])


def by_quadrature(log_likelihood):
    """log of the mean of exp(log_likelihood(rate)) over the Gamma law of the rate."""
    prior = stats.gamma(2.3, scale=1 / 1.7)
    total, _ = integrate.quad(
        lambda rate: prior.pdf(rate) * np.exp(log_likelihood(rate)), 0, 60, epsabs=0, limit=200
    )
    return np.log(total)


def test_events_are_drawn_for_as_long_as_the_exposure():
    law = inputs.Poisson(EXPOSURE)
    x = jax.vmap(law.sample)(jax.random.split(jax.random.key(0), 4000), jnp.zeros(4000))
    assert abs(np.mean(x) - EXPOSURE) < 5 * np.sqrt(EXPOSURE / 4000)
    np.testing.assert_allclose(
        [law.log_prob(jnp.array(x), jnp.array(0.4)) for x in EVENTS],
        stats.poisson(EXPOSURE * np.exp(0.4)).logpmf(EVENTS),
        rtol=1e-12,
    )


def test_the_marginal_of_events_is_negative_binomial():
    marginal = inputs.Poisson(EXPOSURE).marginal(GAMMA)
    np.testing.assert_allclose(
        [marginal.log_prob(jnp.array(x)) for x in EVENTS],
        stats.nbinom(2.3, 1.7 / (1.7 + EXPOSURE)).logpmf(EVENTS),
        rtol=1e-10,
    )


def test_the_posterior_of_a_rate_knows_the_exposure():
    after = inputs.Poisson(EXPOSURE).posterior(GAMMA, jnp.array(7.0))
    np.testing.assert_allclose([after.k, after.b], [2.3 + 7.0, 1.7 + EXPOSURE], rtol=1e-12)


def test_the_posterior_of_a_chance_and_of_waiting_times():
    after = inputs.Bernoulli(5).posterior(BETA, jnp.array(2.0))
    np.testing.assert_allclose([after.a, after.b], [2.9, 4.6], rtol=1e-12)
    after = inputs.Exponential(3).posterior(GAMMA, jnp.array(4.0))
    np.testing.assert_allclose([after.k, after.b], [5.3, 5.7], rtol=1e-12)


@pytest.mark.parametrize(
    ("law", "pooled"),
    [
        (inputs.Poisson(EXPOSURE), inputs.Poisson(3 * EXPOSURE)),
        (inputs.Bernoulli(2), inputs.Bernoulli(6)),
        (inputs.Exponential(2), inputs.Exponential(6)),
        (inputs.Multinomial(2), inputs.Multinomial(6)),
    ],
)
def test_the_total_of_three_draws_is_pooled(law, pooled):
    assert law.pooled(3) == pooled


def test_noise_of_the_mean_of_three_draws_is_pooled():
    np.testing.assert_allclose(inputs.GaussianNoise(0.6).pooled(3).cov.var, 0.12)


def test_repeated_events_against_quadrature():
    """The marginal of three draws at one rate, which the statistic must not forget."""
    x = np.array([1.0, 4.0, 2.0])
    found = inputs.Repeated(inputs.Poisson(EXPOSURE), 3).marginal(GAMMA).log_prob(jnp.asarray(x))
    exact = by_quadrature(lambda rate: stats.poisson(EXPOSURE * rate).logpmf(x).sum())
    np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_repeated_waiting_times_against_quadrature():
    x = np.array([0.3, 1.9, 0.8])
    found = inputs.Repeated(inputs.Exponential(2), 3).marginal(GAMMA).log_prob(jnp.asarray(x))
    exact = by_quadrature(lambda rate: stats.gamma(2, scale=1 / rate).logpdf(x).sum())
    np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_repeated_chances_against_the_closed_form():
    """Three draws of two trials, in this order, under the Beta law."""
    x = np.array([0.0, 2.0, 1.0])
    found = inputs.Repeated(inputs.Bernoulli(2), 3).marginal(BETA).log_prob(jnp.asarray(x))
    prior = stats.beta(0.9, 1.6)
    total, _ = integrate.quad(lambda c: prior.pdf(c) * np.prod(stats.binom(2, c).pmf(x)), 0, 1)
    np.testing.assert_allclose(found, np.log(total), rtol=1e-7)
