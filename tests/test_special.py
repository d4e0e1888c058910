"""Differences and tails against arbitrary precision or a form that does not cancel, in double and
single precision.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special as sp
from scipy import stats

from phenes.inputs import RoundingNoise, SaturatingNoise, UniformNoise
from phenes.search import DiagonalGaussian, Dirichlet
from phenes.special import (
    digamma_difference,
    gammaln_difference,
    log_interval,
    trigamma_excess,
    truncated_normal,
)
from phenes.triangular import inverse_lower
from tests.laws.statistics import once

SHAPES = np.array([1e-3, 0.1, 1.0, 7.5, 1e2, 1e3, 1e5, 1e7, 1e9])
COUNTS = np.arange(1.0, 40.0, 3.0)


def harmonic(a, j):
    """psi(a + j) - psi(a) = sum_{l < j} 1 / (a + l), exact for integers j."""
    return np.array([[np.sum(1 / (x + np.arange(int(n)))) for n in j] for x in a])


def log_rising(a, j):
    return np.array([[np.sum(np.log(x + np.arange(int(n)))) for n in j] for x in a])


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-12), (jnp.float32, 1e-6)])
def test_digamma_difference(dtype, tolerance):
    a, j = jnp.asarray(SHAPES, dtype)[:, None], jnp.asarray(COUNTS, dtype)[None]
    a, j = jnp.broadcast_arrays(a, j)
    got = once(digamma_difference)(a, j)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, harmonic(SHAPES, COUNTS), rtol=tolerance)


def test_the_naive_difference_fails_in_single_precision():
    """Why the function exists: 5 % off at 1e5, nothing left at 1e7."""
    a = jnp.float32(1e5)
    naive = jax.scipy.special.digamma(a + 1) - jax.scipy.special.digamma(a)
    assert abs(float(naive) * 1e5 - 1) > 0.01


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-12), (jnp.float32, 2e-6)])
def test_gammaln_difference(dtype, tolerance):
    a, j = jnp.broadcast_arrays(
        jnp.asarray(SHAPES, dtype)[:, None], jnp.asarray(COUNTS, dtype)[None]
    )
    expected = log_rising(SHAPES, COUNTS)
    np.testing.assert_allclose(
        once(gammaln_difference)(a, j), expected, rtol=tolerance, atol=tolerance * 5
    )


def test_gammaln_difference_has_exact_derivatives():
    a, j = jnp.array(1.7), jnp.array(3.2)
    both = jax.grad(gammaln_difference, argnums=(0, 1))
    (by_a, by_j), second = once(
        lambda a, j: (both(a, j), jax.grad(jax.grad(gammaln_difference))(a, j))
    )(a, j)
    np.testing.assert_allclose(by_a, sp.digamma(4.9) - sp.digamma(1.7), rtol=1e-12)
    np.testing.assert_allclose(by_j, sp.digamma(4.9), rtol=1e-12)
    np.testing.assert_allclose(second, sp.polygamma(1, 4.9) - sp.polygamma(1, 1.7), rtol=1e-9)


@pytest.mark.parametrize("a", [0.01, 0.5, 3.0, 19.9, 20.1, 300.0])
def test_trigamma_excess(a):
    np.testing.assert_allclose(
        trigamma_excess(jnp.array(a)), 1 / sp.polygamma(1, a) - a + 0.5, rtol=1e-7, atol=1e-11
    )


@pytest.mark.parametrize("total", [10.0, 1e5, 1e7, 1e9])
def test_natural_gradient_of_the_dirichlet_in_single_precision(total):
    """The textbook denominator has the wrong sign at 1e9; checked against the solve in double
    precision and its limit.
    """
    alpha = total * np.array([0.2, 0.3, 0.5])
    g = np.array([0.3, -0.1, 0.05])
    q32 = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), Dirichlet(alpha))
    natural = once(lambda q: q.natural(jax.tree.map(lambda _: jnp.asarray(g, jnp.float32), q)))
    got = natural(q32).log_alpha
    d, t, k = 1 / sp.polygamma(1, alpha), sp.polygamma(1, total), g / alpha
    # 1/psi1(a) = a - 1/2 + 1/(12 a) + ...: the denominator in its large-alpha form where double
    # precision would cancel too
    tail = (1 / (12 * total) - np.sum(1 / (12 * alpha))) if total > 100 else None
    spread = (1 + tail) if tail is not None else (1 - t * np.sum(d)) / t
    expected = d * (k + np.sum(d * k) / spread) / alpha
    np.testing.assert_allclose(got, expected, rtol=2e-5)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.0, 2.0),
        (-0.1, 0.1),
        (5.0, 6.0),
        (-40.0, -39.0),
        (39.0, 40.0),
        (3.0, 3.0001),
        (-np.inf, 1.0),
        (2.0, np.inf),
    ],
)
def test_log_interval(low, high):
    sign = -1 if low + high > 0 else 1
    a, b = sorted((sign * low, sign * high))
    log_a, log_b = sp.log_ndtr(a), sp.log_ndtr(b)
    expected = log_b + np.log(-np.expm1(log_a - log_b))
    np.testing.assert_allclose(log_interval(jnp.array(low), jnp.array(high)), expected, rtol=1e-9)


LAWS = (
    UniformNoise(0.9),
    RoundingNoise(1.0, 0.5),
    RoundingNoise(1.0),
    SaturatingNoise(0.5, -1.0, 1.0),
)


def slope(law):
    """The score of one x, one program for all of them."""
    return once(lambda q, x: jax.grad(lambda q: law.marginal(q).log_prob(x))(q))


@pytest.mark.parametrize("x", [-300.0, -40.0, 0.0, 0.7, 40.0, 300.0])
@pytest.mark.parametrize(("law", "score"), [(law, slope(law)) for law in LAWS])
def test_scores_stay_finite_in_far_tails(law, score, x):
    """Gradients in m and log s: finite, and of the right sign."""
    q = DiagonalGaussian([0.0], [0.8])
    x = jnp.clip(jnp.array([x]), -1.0, 1.0) if isinstance(law, SaturatingNoise) else jnp.array([x])
    g = score(q, x)
    assert np.all(np.isfinite([g.mean[0], g.log_std[0]]))
    assert float(g.mean[0]) * float(x[0]) >= 0


def test_a_saturated_actuator_in_far_tails():
    """m far beyond the stop, and far before it: h(z) = phi/Phi behaves as 0 and as -z."""
    law = SaturatingNoise(0.6, -1.0, 1.0)
    slope = [
        float(jax.grad(lambda m: law.log_marginal(jnp.array(1.0), m, jnp.array(0.8)))(jnp.array(m)))
        for m in (60.0, -60.0)
    ]
    assert slope[0] == 0
    np.testing.assert_allclose(slope[1], 61.0, rtol=1e-3)


def test_rounding_without_noise_is_the_cell_of_theta():
    law = RoundingNoise(0.5)
    np.testing.assert_array_equal(law.log_prob(jnp.array([0.5, 1.0]), jnp.array([0.6, 0.9])), 0.0)
    assert law.log_prob(jnp.array([0.5, 1.0]), jnp.array([0.6, 0.4])) == -np.inf


drawn = once(truncated_normal)


@pytest.mark.parametrize(("low", "high"), [(-0.5, 0.7), (2.0, np.inf), (-np.inf, -3.0), (5.0, 5.5)])
def test_truncated_normal(low, high, key):
    bounds = jnp.full(100_000, low), jnp.full(100_000, high)
    draws = np.asarray(drawn(key, *bounds))
    assert low <= draws.min()
    assert draws.max() <= high
    assert stats.kstest(draws, stats.truncnorm(low, high).cdf).pvalue > 1e-4


@pytest.mark.parametrize("d", [1, 2, 5, 17, 40, 100, 161])
def test_inverse_of_a_triangle(d):
    a = np.random.default_rng(d).normal(size=(d, d + 5))
    L = np.linalg.cholesky(a @ a.T / d + 1e-3 * np.eye(d))
    inverse = np.asarray(jax.jit(inverse_lower)(jnp.asarray(L)))
    np.testing.assert_allclose(inverse @ L, np.eye(d), atol=1e-10)
    np.testing.assert_array_equal(inverse, np.tril(inverse))
