"""The marginal of Student t noise, an integral over its scale, against one over theta by adaptive
quadrature, from very heavy tails to nearly Gaussian ones.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from phenes import inputs, search
from phenes.inputs.mixture import MOST_NODES, scale_nodes
from tests.laws.statistics import once

# x, standard deviation of theta, scale of the noise: near and far, narrow and wide
PLACES = [(0.3, 1.0, 0.1), (2.0, 1.0, 0.5), (1.5, 0.5, 2.0), (5.0, 1.0, 1.0), (4.0, 1.0, 0.05)]
DEGREES = [0.7, 1.0, 2.0, 5.0, 30.0, 1000.0, 10_000.0]


def by_quadrature(x, s, c, df):
    """log P(x) and its derivative in the mean of theta, E[theta | x] / s^2 at mean 0."""

    def joint(theta):
        return stats.t.pdf((x - theta) / c, df) / c * stats.norm.pdf(theta / s) / s

    near = [x + k * c for k in (-30, -8, -2, -0.5, 0, 0.5, 2, 8, 30)]
    ends = sorted({k * s for k in (-9, -4, -1, 0, 1, 4, 9)} | {e for e in near if abs(e) < 9 * s})

    def over(f):
        pieces = itertools.pairwise(ends)
        return sum(integrate.quad(f, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pieces)

    whole = over(joint)
    return np.log(whole), over(lambda theta: joint(theta) * theta / s**2) / whole


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # asked for the utmost
@pytest.mark.parametrize(
    "df",
    [pytest.param(df, marks=() if df == 0.7 else pytest.mark.tier("laws")) for df in DEGREES],
)
def test_marginal_and_score(df):
    exact = np.array([by_quadrature(*place, df) for place in PLACES])
    x, s, c = (jnp.asarray(np.array(each)) for each in zip(*PLACES, strict=True))
    law = inputs.StudentTNoise(c, df)

    @once
    def both(m):
        each = law.log_marginal
        return each(x, m, s), jax.grad(lambda m: jnp.sum(each(x, m, s)))(m)

    log_density, score = both(jnp.zeros(len(PLACES)))
    np.testing.assert_allclose(log_density, exact[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(score, exact[:, 1], rtol=1e-9)


@pytest.mark.tier("laws")
@pytest.mark.parametrize("df", [0.7, 1000.0])
def test_in_one_dimension_both_laws_are_one(df):
    x, q = jnp.array([2.0]), search.DiagonalGaussian(jnp.zeros(1), 1.0)
    one, other = (
        law.marginal(q).log_prob(x)
        for law in (inputs.StudentTNoise(0.5, df), inputs.MultivariateTNoise(0.5, df))
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_nodes_adapt_to_the_degrees_of_freedom():
    """Few where few are enough; inside jit, where df is not known, the most."""
    count = {df: scale_nodes(jnp.asarray(df))[0].size for df in (0.7, 3.0, 1000.0)}
    assert count[1000.0] < 60 < count[3.0] < 120 < count[0.7] < 400
    t, log_weight = jax.jit(scale_nodes)(jnp.asarray(3.0))
    assert t.size == MOST_NODES
    tau, weight = np.exp(t), np.exp(log_weight)
    np.testing.assert_allclose([weight.sum(), weight @ tau], 1.0, rtol=1e-12)
    np.testing.assert_allclose(weight @ tau**2, 1 + 2 / 3, rtol=1e-12)
