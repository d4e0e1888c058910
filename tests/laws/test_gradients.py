"""Every estimator that claims it is unbiased: against the exact gradient of E f for constant, linear and quadratic f."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import Batch, estimators, search
from tests.laws import pairs
from tests.laws.statistics import assert_within, flat, over_chunks, population

LINEAR = np.array([0.7, -1.1, 0.4])
QUADRATIC = np.array([[0.5, 0.2, 0.1], [0.2, -0.3, 0.0], [0.1, 0.0, 0.2]])


def values(x):
    """The three test functions at one x, [3]."""
    a, b = jnp.asarray(LINEAR[: x.size]), jnp.asarray(QUADRATIC[: x.size, : x.size])
    return jnp.stack([jnp.ones(()), a @ x, x @ b @ x])


def exact(pair):
    """(E f [3], gradient [3, psi]) by Gauss-Hermite quadrature over xi of the exact conditional moments of x."""
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    xi = jnp.asarray(np.stack(np.meshgrid(node, node), -1).reshape(-1, 2))
    mass = jnp.asarray(np.outer(weight, weight).ravel() / (2 * np.pi))

    def F(q):
        mean, cov = jax.vmap(lambda z: pair.moments(q.push(z)))(xi)
        k = mean.shape[1]
        b = jnp.asarray(QUADRATIC[:k, :k])
        quadratic = jnp.einsum("nk,kl,nl->n", mean, b, mean) + jnp.einsum("kl,nkl->n", b, jnp.broadcast_to(cov, (mean.shape[0], k, k)))
        return jnp.stack([jnp.sum(mass), mass @ (mean @ jnp.asarray(LINEAR[:k])), mass @ quadratic])

    return jax.jit(lambda q: (F(q), jax.vmap(flat)(jax.jacrev(F)(q))))(pair.q)


def check(estimator, pair, key, mirrored=False):
    centre, gradient = exact(pair)

    def chunk(key):
        batch = population(pair.q, pair.p, key, 4000, mirrored)
        # a constant baseline keeps the estimate unbiased and takes most of the noise away; the constant f keeps its own
        w = jax.vmap(values)(batch.x) - jnp.asarray(np.array([0.5, 1.0, 1.0]))[None] * centre[None]
        return jax.vmap(lambda w: flat(estimator(pair.p, pair.q, batch, w)), in_axes=1)(w)

    assert_within(over_chunks(chunk, key), gradient)


@pytest.mark.parametrize("pair", pairs.REAL_PAIRS, ids=repr)
def test_phenotype(pair, key):
    check(estimators.phenotype, pair, key)


GENOTYPE_PAIRS = [
    pair
    for pair in pairs.REAL_PAIRS + pairs.NO_MARGINAL_PAIRS
    if pair.name.split("-", 1)[1] in ("full", "heteroscedastic", "saturating", "custom")
]
SMOOTH = [pair for pair in pairs.REAL_PAIRS + pairs.NO_MARGINAL_PAIRS if "uniform" not in pair.name and "rounding" not in pair.name]


@pytest.mark.parametrize("pair", GENOTYPE_PAIRS, ids=repr)
def test_genotype(pair, key):
    check(estimators.genotype, pair, key)


@pytest.mark.parametrize("pair", SMOOTH, ids=repr)
def test_reparameterised(pair, key):
    check(estimators.reparameterised, pair, key)


def learnt(mix, pair):
    """`mix` after one past generation, so that A is neither 0 nor 1 and independent of what it is tested on."""

    def observe(key):
        past = population(pair.q, pair.p, key, 2000)
        return mix.start(pair.p, pair.q, past).observe(pair.p, pair.q, past)

    return eqx.filter_jit(observe)(jax.random.key(99))


@pytest.mark.parametrize("pair", SMOOTH, ids=repr)
@pytest.mark.parametrize("order", [1, 2])
def test_information_mix(pair, order, key):
    check(learnt(estimators.information_mix(estimators.diagonal, order), pair), pair, key)


FEW = [
    pair
    for pair in SMOOTH
    if pair.name in ("full-full", "diagonal-laplace", "full-heteroscedastic", "isotropic-heteroscedastic", "isotropic-full")
]


@pytest.mark.parametrize("pair", FEW, ids=repr)
@pytest.mark.parametrize("shape", [estimators.scalar, estimators.full], ids=["scalar", "full"])
def test_information_mix_of_other_shapes(pair, shape, key):
    check(learnt(estimators.information_mix(shape), pair), pair, key)


@pytest.mark.parametrize("pair", [pair for pair in FEW if "laplace" not in pair.name], ids=repr)
def test_information_mix_with_curvature(pair, key):
    """Laplace noise has no second derivative at its kink: that identity needs a smooth law."""
    check(learnt(estimators.information_mix(estimators.full, curvature=True), pair), pair, key)


@pytest.mark.parametrize("pair", pairs.GAUSSIAN_PAIRS[:6:2] + pairs.COORDINATE_PAIRS + pairs.NO_MARGINAL_PAIRS, ids=repr)
def test_exchangeable(pair, key):
    check(estimators.exchangeable(5), pair, key)


@pytest.mark.parametrize(
    "pair", [pair for pair in pairs.REAL_PAIRS if pair.name in ("full-full", "diagonal-laplace", "diagonal-uniform")], ids=repr
)
def test_exchangeable_with_own_proposal(pair, key):
    past = population(pair.q, pair.p, jax.random.key(98), 1000)
    check(estimators.exchangeable(5, estimators.fit_proposal(past.theta, past.x)), pair, key)


@pytest.mark.parametrize(
    "pair", [*pairs.COORDINATE_PAIRS, pairs.GAUSSIAN_PAIRS[7], pairs.GAUSSIAN_PAIRS[11], pairs.NO_MARGINAL_PAIRS[1]], ids=repr
)
def test_exchangeable_coordinates(pair, key):
    check(estimators.exchangeable_coordinates(5), pair, key)


@pytest.mark.parametrize("pair", pairs.GAUSSIAN_PAIRS[:12:3] + pairs.MIXTURE_PAIRS[:1] + pairs.COORDINATE_PAIRS[2:5], ids=repr)
@pytest.mark.parametrize("base", [estimators.genotype, estimators.two_point], ids=lambda f: f.__name__)
def test_rao_blackwellise(pair, base, key):
    check(estimators.rao_blackwellise(base, 3), pair, key)


@pytest.mark.parametrize("pair", pairs.GAUSSIAN_PAIRS[2:12:4] + pairs.COORDINATE_PAIRS[:1], ids=repr)
@pytest.mark.parametrize("estimator", [estimators.two_point, estimators.two_point_phenotype], ids=lambda f: f.__name__)
def test_independent_pairs(pair, estimator, key):
    check(estimator, pair, key)


@pytest.mark.parametrize("pair", pairs.GAUSSIAN_PAIRS, ids=repr)
@pytest.mark.parametrize("estimator", [estimators.mirrored, estimators.mirrored_phenotype], ids=lambda f: f.__name__)
def test_mirrored_pairs(pair, estimator, key):
    check(estimator, pair, key, mirrored=True)


def test_biased_linear_is_exact_for_gaussians_and_biased_elsewhere(key):
    """With the true noise covariance it is the phenotype estimator; for noise that depends on theta the bias shows."""
    gaussian = pairs.GAUSSIAN_PAIRS[4]
    known = estimators.BiasedLinear(
        0.9, jnp.asarray([0.3, -0.7]), jnp.asarray(pairs.NOISE + np.outer([0.3, -0.7], [0.3, -0.7])), jnp.asarray(1.0)
    )
    batch = population(gaussian.q, gaussian.p, key, 50)
    w = jnp.linspace(-1, 1, 50)
    np.testing.assert_allclose(
        flat(known(gaussian.p, gaussian.q, batch, w)), flat(estimators.phenotype(gaussian.p, gaussian.q, batch, w)), atol=1e-12
    )
    other = pairs.NO_MARGINAL_PAIRS[1]
    with pytest.raises(AssertionError, match="standard errors off"):
        check(learnt(estimators.biased_linear(), other), other, key)


def test_uniform_noise_makes_the_reparameterised_score_useless(key):
    """FORMULAS.md 4: log p is flat in theta, so the score is 0 and misses the gradient."""
    pair = next(pair for pair in pairs.COORDINATE_PAIRS if pair.name == "diagonal-uniform")
    with pytest.raises(AssertionError, match="standard errors off"):
        check(estimators.reparameterised, pair, key)


def discrete_gradient(pair, f):
    """Gradient of sum_x P(x) f(x) by autodiff of the exact sum; P itself is checked against the integral of q p elsewhere."""
    x, orders = jax.tree.map(jnp.asarray, pair.outcomes)

    def F(q):
        return jnp.sum(orders * jnp.exp(jax.vmap(pair.p.marginal(q).log_prob)(x)) * jax.vmap(f)(x))

    return flat(eqx.filter_grad(F)(pair.q))


def discrete_value(x):
    if isinstance(x, search.Choice):
        return jnp.cos(1.3 * x.index.astype(float) + 2.0 * x.context.astype(float))
    return jnp.sum(jnp.cos(1.3 * x + jnp.arange(x.size, dtype=float).reshape(x.shape)))


@pytest.mark.parametrize("pair", pairs.COUNT_PAIRS, ids=repr)
def test_phenotype_by_enumeration(pair, key):
    """sum_x P(x) f(x) s(x) is the gradient, to rounding."""
    x, orders = jax.tree.map(jnp.asarray, pair.outcomes)
    weight = orders * jnp.exp(jax.vmap(pair.p.marginal(pair.q).log_prob)(x))
    assert abs(float(jnp.sum(weight)) - 1) < 1e-9
    n = weight.size
    w = n * weight * jax.vmap(discrete_value)(x)
    g = estimators.phenotype(pair.p, pair.q, Batch(theta=None, x=x), w)
    np.testing.assert_allclose(flat(g), discrete_gradient(pair, discrete_value), rtol=1e-9, atol=1e-9)


REPARAMETERISABLE = [pair for pair in pairs.COUNT_PAIRS if "conjugate" not in pair.name and "gate" not in pair.name]


@pytest.mark.parametrize("pair", pairs.COUNT_PAIRS, ids=repr)
@pytest.mark.parametrize(
    "estimator",
    [estimators.genotype, estimators.exchangeable(4), estimators.rao_blackwellise(estimators.genotype, 2)],
    ids=["genotype", "exchangeable", "rao-blackwell"],
)
def test_count_laws(pair, estimator, key):
    check_discrete(estimator, pair, key)


@pytest.mark.parametrize("pair", REPARAMETERISABLE, ids=repr)
@pytest.mark.parametrize(
    "shape", [None, estimators.scalar, estimators.diagonal, estimators.full], ids=["reparameterised", "scalar", "diagonal", "full"]
)
def test_count_laws_with_a_smooth_density(pair, shape, key):
    estimator = estimators.reparameterised if shape is None else learnt(estimators.information_mix(shape), pair)
    check_discrete(estimator, pair, key)


def check_discrete(estimator, pair, key):
    def chunk(key):
        batch = population(pair.q, pair.p, key, 4000)
        w = jax.vmap(discrete_value)(batch.x)
        return flat(estimator(pair.p, pair.q, batch, w))

    assert_within(over_chunks(chunk, key), discrete_gradient(pair, discrete_value))
