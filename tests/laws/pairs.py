"""Every (q, p) pair that the laws are tested on. A new pair joins by one line in PAIRS."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln

from phenes import inputs, search
from tests.laws.statistics import CHUNKS, WHOLE


class Pair(NamedTuple):
    """moments(theta) -> (E[x | theta], Cov[x | theta]) for real-valued x; None where `outcomes`
    lists all values of x instead.
    """

    name: str
    q: Any
    p: Any
    moments: Callable | None = None
    outcomes: Any = None

    def __repr__(self):
        return self.name


MEAN = np.array([0.5, -1.0])
COV = np.array([[2.0, 0.6], [0.6, 1.0]])
NOISE = np.array([[0.5, 0.1], [0.1, 0.3]])
GAIN = np.array([[1.0, 0.5], [-0.3, 2.0], [0.2, 0.1]])
STD = np.array([0.7, 1.2])

FULL = search.Gaussian(MEAN, COV)
DIAG = search.DiagonalGaussian(MEAN, STD)
ISO = search.IsotropicGaussian(MEAN, 0.8)


def additive(cov, bias=None):
    """x = theta + noise with a known covariance and bias."""
    cov = jnp.asarray(cov)
    bias = jnp.zeros(2) if bias is None else jnp.asarray(bias)
    return lambda theta: (theta + bias, cov)


def linear(theta):
    return jnp.asarray(GAIN) @ theta + jnp.array([0.1, -0.2, 0.3]), 0.4**2 * jnp.eye(3)


def hetero_std(theta):
    return 0.3 + 0.2 * jnp.abs(jnp.tanh(theta))


def censored(low, high, sd):
    """Moments of clip(N(theta, sd^2), low, high), coordinate by coordinate."""

    def moments(theta):
        a, b = (low - theta) / sd, (high - theta) / sd
        pdf, cdf = jax.scipy.stats.norm.pdf, jax.scipy.stats.norm.cdf
        inside = cdf(b) - cdf(a)
        first = theta * inside + sd * (pdf(a) - pdf(b))
        second = (
            (theta**2 + sd**2) * inside + sd * (theta + low) * pdf(a) - sd * (theta + high) * pdf(b)
        )
        m1 = first + low * cdf(a) + high * (1 - cdf(b))
        m2 = second + low**2 * cdf(a) + high**2 * (1 - cdf(b))
        return m1, jnp.diag(m2 - m1**2)

    return moments


def rounded(step, sd):
    grid = jnp.arange(-30.0, 31.0) * step

    def moments(theta):
        cdf = jax.scipy.stats.norm.cdf
        mass = cdf((grid[None] + step / 2 - theta[:, None]) / sd) - cdf(
            (grid[None] - step / 2 - theta[:, None]) / sd
        )
        m1, m2 = mass @ grid, mass @ grid**2
        return m1, jnp.diag(m2 - m1**2)

    return moments


def mixture_moments(weights, biases, covs):
    weights, biases, covs = (np.asarray(a) for a in (weights, biases, covs))
    mean = weights @ biases
    cov = np.einsum("k,kij->ij", weights, covs + biases[:, :, None] * biases[:, None]) - np.outer(
        mean, mean
    )
    return additive(cov, mean)


WEIGHTS, BIASES = [0.8, 0.2], np.array([[0.0, 0.1], [0.5, -0.4]])
COVS = np.array([0.1 * np.eye(2), NOISE])
SHARED = inputs.shared_errors([0.3, 0.4], [[0.5], [-0.2]])
T_VAR = 5 / 3

GAUSSIAN_PAIRS = [
    Pair("full-scalar", FULL, inputs.GaussianNoise(0.5), additive(0.25 * np.eye(2))),
    Pair("full-vector", FULL, inputs.GaussianNoise([0.5, 0.9]), additive(np.diag([0.25, 0.81]))),
    Pair("full-full", FULL, inputs.GaussianNoise(NOISE), additive(NOISE)),
    Pair("full-lowrank", FULL, inputs.GaussianNoise(SHARED), additive(SHARED.matrix(2))),
    Pair(
        "full-bias",
        FULL,
        inputs.GaussianNoise(NOISE, bias=[0.3, -0.7]),
        additive(NOISE, [0.3, -0.7]),
    ),
    Pair("full-linear", FULL, inputs.GaussianNoise(0.4, bias=[0.1, -0.2, 0.3], gain=GAIN), linear),
    Pair("diagonal-scalar", DIAG, inputs.GaussianNoise(0.5), additive(0.25 * np.eye(2))),
    Pair(
        "diagonal-vector", DIAG, inputs.GaussianNoise([0.5, 0.9]), additive(np.diag([0.25, 0.81]))
    ),
    Pair("diagonal-full", DIAG, inputs.GaussianNoise(NOISE), additive(NOISE)),
    Pair("diagonal-lowrank", DIAG, inputs.GaussianNoise(SHARED), additive(SHARED.matrix(2))),
    Pair(
        "diagonal-linear", DIAG, inputs.GaussianNoise(0.4, bias=[0.1, -0.2, 0.3], gain=GAIN), linear
    ),
    Pair("isotropic-scalar", ISO, inputs.GaussianNoise(0.5), additive(0.25 * np.eye(2))),
    Pair(
        "isotropic-vector", ISO, inputs.GaussianNoise([0.5, 0.9]), additive(np.diag([0.25, 0.81]))
    ),
    Pair("isotropic-full", ISO, inputs.GaussianNoise(NOISE), additive(NOISE)),
    Pair("isotropic-lowrank", ISO, inputs.GaussianNoise(SHARED), additive(SHARED.matrix(2))),
    Pair(
        "isotropic-linear", ISO, inputs.GaussianNoise(0.4, bias=[0.1, -0.2, 0.3], gain=GAIN), linear
    ),
]

MIXTURE_PAIRS = [
    Pair(
        "full-mixture",
        FULL,
        inputs.GaussianMixtureNoise(WEIGHTS, COVS, BIASES),
        mixture_moments(WEIGHTS, BIASES, COVS),
    ),
    Pair(
        "diagonal-mixture",
        DIAG,
        inputs.GaussianMixtureNoise(WEIGHTS, COVS, BIASES),
        mixture_moments(WEIGHTS, BIASES, COVS),
    ),
    Pair(
        "isotropic-mixture",
        ISO,
        inputs.GaussianMixtureNoise(WEIGHTS, [0.2, 0.9]),
        additive((0.8 * 0.04 + 0.2 * 0.81) * np.eye(2)),
    ),
    Pair(
        "full-multivariate-t", FULL, inputs.MultivariateTNoise(NOISE, 5.0), additive(T_VAR * NOISE)
    ),
    Pair(
        "diagonal-multivariate-t",
        DIAG,
        inputs.MultivariateTNoise(0.5, 5.0),
        additive(T_VAR * 0.25 * np.eye(2)),
    ),
    Pair(
        "isotropic-multivariate-t",
        ISO,
        inputs.MultivariateTNoise([0.5, 0.3], 5.0),
        additive(T_VAR * np.diag([0.25, 0.09])),
    ),
]

COORDINATE_PAIRS = [
    Pair(f"{kind}-{name}", q, law, moments)
    for kind, q in (("diagonal", DIAG), ("isotropic", ISO))
    for name, law, moments in (
        ("student-t", inputs.StudentTNoise(0.4, 5.0), additive(T_VAR * 0.16 * np.eye(2))),
        ("laplace", inputs.LaplaceNoise([0.3, 0.6]), additive(np.diag([0.18, 0.72]))),
        ("uniform", inputs.UniformNoise([0.9, 0.4]), additive(np.diag([0.27, 0.16 / 3]))),
        ("saturating", inputs.SaturatingNoise(0.5, -1.0, 1.0), censored(-1.0, 1.0, 0.5)),
        ("rounding", inputs.RoundingNoise(0.5, 0.3), rounded(0.5, 0.3)),
    )
]

NO_MARGINAL_PAIRS = [
    Pair(
        f"{kind}-heteroscedastic",
        q,
        inputs.HeteroscedasticNoise(hetero_std),
        lambda t: (t, jnp.diag(hetero_std(t) ** 2)),
    )
    for kind, q in (("full", FULL), ("diagonal", DIAG), ("isotropic", ISO))
] + [
    Pair(
        "full-custom",
        FULL,
        inputs.Law(
            lambda key, theta: theta + 0.5 * jax.random.logistic(key, theta.shape, theta.dtype),
            lambda x, theta: jnp.sum(jax.scipy.stats.logistic.logpdf(x, theta, 0.5)),
        ),
        additive(0.25 * np.pi**2 / 3 * np.eye(2)),
    )
]


def all_counts(rows, k, draws):
    """All tables of counts with `draws` in each row, and how many orders each stands for."""
    one = np.array([c for c in np.ndindex(*(draws + 1,) * k) if sum(c) == draws], dtype=float)
    tables = np.array(
        [np.stack([one[i] for i in index]) for index in np.ndindex(*(len(one),) * rows)]
    )
    orders = np.exp((gammaln(draws + 1.0) - gammaln(tables + 1).sum(-1)).sum(-1))
    return tables, orders


# [context, expert, output]
GATE_TABLE = np.log(
    np.array([[[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]], [[0.3, 0.3, 0.4], [0.05, 0.05, 0.9]]])
)


class GateTable(eqx.Module):
    """Logits [context, expert]."""

    logits: jax.Array

    def __call__(self, context):
        return self.logits[context]


def coin(key):
    return jax.random.randint(key, (), 0, 2)


def categorical_A(theta):
    """Three categories, the last of natural parameter 0; its conjugate is a Dirichlet law of (nu
    phi, nu (1 - sum phi)).
    """
    return jax.nn.logsumexp(jnp.append(theta, 0.0))


def shapes(phi, nu):
    return nu * jnp.append(phi, 1 - jnp.sum(phi))


def categorical_B(phi, nu):
    return jnp.sum(gammaln(shapes(phi, nu))) - gammaln(nu)


def categorical_sampler(key, phi, nu):
    log_gamma = jax.random.loggamma(key, shapes(phi, nu))
    return log_gamma[:2] - log_gamma[2]


GATE = search.Gate(GateTable(jnp.array([[0.3, -0.4], [0.0, 1.0]])), coin)
CHOICES = search.Choice(np.repeat([0, 1], 3), np.tile([0, 1, 2], 2))

COUNT_PAIRS = [
    Pair(
        "dirichlet-multinomial",
        search.Dirichlet([[0.5, 1.2, 0.3], [2.0, 0.4, 1.0]]),
        inputs.Multinomial(2),
        outcomes=all_counts(2, 3, 2),
    ),
    Pair(
        "dirichlet-single",
        search.Dirichlet([0.25, 0.5, 1.25]),
        inputs.Multinomial(1),
        outcomes=(np.eye(3), np.ones(3)),
    ),
    Pair(
        "beta-bernoulli",
        search.Beta(0.9, 1.6),
        inputs.Bernoulli(5),
        outcomes=(np.arange(6.0), np.ones(6)),
    ),
    Pair(
        "gamma-poisson",
        search.Gamma(1.36, 0.8),
        inputs.Poisson(1.0),
        outcomes=(np.arange(400.0), np.ones(400)),
    ),
    Pair(
        "gamma-poisson-exposure",
        search.Gamma(2.3, 1.7),
        inputs.Poisson(2.5),
        outcomes=(np.arange(400.0), np.ones(400)),
    ),
    Pair(
        "conjugate-bernoulli",
        search.Conjugate(0.3, 2.5, jax.nn.softplus),
        inputs.NaturalFamily(
            jax.nn.softplus,
            lambda x: x,
            lambda k, t: jax.random.bernoulli(k, jax.nn.sigmoid(t)).astype(t.dtype),
        ),
        outcomes=(np.arange(2.0), np.ones(2)),
    ),
    Pair(
        "conjugate-poisson",
        search.Conjugate(1.7, 0.8, jnp.exp),
        inputs.NaturalFamily(
            jnp.exp,
            lambda x: x,
            lambda k, t: jax.random.poisson(k, jnp.exp(t)).astype(t.dtype),
            lambda x: -gammaln(x + 1),
        ),
        outcomes=(np.arange(400.0), np.ones(400)),
    ),
    Pair(
        "conjugate-categorical",
        search.Conjugate([0.3, 0.2], 2.5, categorical_A, categorical_B, categorical_sampler),
        inputs.NaturalFamily(
            categorical_A,
            lambda x: x,
            lambda k, t: jnp.eye(3)[jax.random.categorical(k, jnp.append(t, 0.0))][:2].astype(
                t.dtype
            ),
        ),
        outcomes=(np.eye(3)[:, :2], np.ones(3)),
    ),
    Pair(
        "gate-experts",
        GATE,
        inputs.Experts(lambda c: jnp.asarray(GATE_TABLE)[c]),
        outcomes=(CHOICES, np.full(6, 0.5)),
    ),
]

GAMMA_EXPONENTIAL = Pair("gamma-exponential", search.Gamma(3.4, 0.8), inputs.Exponential(2))

REPEATED_PAIRS = [
    Pair("repeated-full", FULL, inputs.Repeated(inputs.GaussianNoise(NOISE), 3)),
    Pair("repeated-diagonal", DIAG, inputs.Repeated(inputs.GaussianNoise(0.5), 4)),
    Pair("repeated-bernoulli", search.Beta(0.9, 1.6), inputs.Repeated(inputs.Bernoulli(1), 3)),
    Pair("repeated-poisson", search.Gamma(1.36, 0.8), inputs.Repeated(inputs.Poisson(1.0), 3)),
    Pair("repeated-exponential", search.Gamma(3.4, 0.8), inputs.Repeated(inputs.Exponential(1), 3)),
    Pair(
        "repeated-multinomial",
        search.Dirichlet([0.25, 0.5, 1.25]),
        inputs.Repeated(inputs.Multinomial(2), 2),
    ),
]

REAL_PAIRS = GAUSSIAN_PAIRS + MIXTURE_PAIRS + COORDINATE_PAIRS
MARGINAL_PAIRS = REAL_PAIRS + COUNT_PAIRS + [GAMMA_EXPONENTIAL] + REPEATED_PAIRS
PAIRS = MARGINAL_PAIRS + NO_MARGINAL_PAIRS

# left to `make laws` for the most part: the same input law under another q, or the same formula
# with other numbers
AGAIN = {
    # full-linear has a bias too
    *("full-bias", "diagonal-lowrank", "repeated-exponential"),
    *(
        "full-scalar",
        "full-vector",
        "diagonal-scalar",
        "diagonal-full",
        "diagonal-linear",
        "isotropic-vector",
        "isotropic-full",
    ),
    *(
        "isotropic-lowrank",
        "isotropic-linear",
        "diagonal-mixture",
        "isotropic-mixture",
        "diagonal-multivariate-t",
    ),
    *(
        "isotropic-multivariate-t",
        "isotropic-student-t",
        "diagonal-laplace",
        "isotropic-uniform",
        "diagonal-saturating",
    ),
    *(
        "diagonal-rounding",
        "gamma-poisson-exposure",
        "repeated-diagonal",
        "repeated-bernoulli",
        "repeated-poisson",
    ),
    *(
        "repeated-multinomial",
        "diagonal-heteroscedastic",
        "isotropic-heteroscedastic",
        "conjugate-bernoulli",
        "dirichlet-single",
    ),
}
assert {pair.name for pair in PAIRS} >= AGAIN


def chunks(pair):
    """A million individuals in `make laws`; a fifth of it where the formula had them once."""
    return max(CHUNKS // 5, 50) if pair.name in AGAIN else CHUNKS


# pairs of vectors, of coordinates and of choices. The scores of the others are compared
# with numbers from elsewhere (test_oracles.py), with sums over all outcomes
# (test_phenotype_by_enumeration), quadrature (test_student_t.py) or SciPy (inputs/test_counts.py)
OF_EACH_KIND = {"full-full", "diagonal-vector", "gate-experts"}
assert {pair.name for pair in PAIRS} >= OF_EACH_KIND


def chosen(pairs):
    """All of them in `make laws`; in `make test` each search law and each input law once."""
    return [pair for pair in pairs if WHOLE or pair.name not in AGAIN]


def of_each_kind(pairs):
    """All of them in `make laws`; in `make test` those of OF_EACH_KIND: compilers take seconds."""
    return [pair for pair in pairs if WHOLE or pair.name in OF_EACH_KIND]


# Monte Carlo takes most of the time. `make test` has it for one pair, of vectors; CI
# runs `make laws`, which has all pairs, whenever the mathematics has changed. What is exact
# (enumeration, oracles, identities) is not left to it alone.
MONTE_CARLO = {"full-full"}
assert {pair.name for pair in PAIRS} >= MONTE_CARLO


def in_the_mean(pairs):
    """All of them in `make laws`, those of MONTE_CARLO in `make test`."""
    return [pair for pair in pairs if WHOLE or pair.name in MONTE_CARLO]
