"""Covariances without an inverse, on either side: a point population (the paper's section 4.2), and
noise that leaves a coordinate, or a direction, exact. Everything that S + C decides is as ever.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import Batch, estimators, inputs, metric, search, weightings
from phenes._score import score
from phenes.covariance import Degenerate, Dense, Diagonal, semidefinite_root
from phenes.diagnostics import individual_scores
from tests.laws import pairs
from tests.laws.pairs import Pair, additive
from tests.laws.statistics import flat, once, population
from tests.laws.test_gradients import check

MEAN = np.array([0.5, -1.0])
POINT = search.Gaussian(MEAN, np.zeros((2, 2)))
LINE = search.Gaussian(MEAN, np.array([[1.0, 0.5], [0.5, 0.25]]))  # theta on a line
SHARED = np.array([[0.09, -0.18], [-0.18, 0.36]])  # x - theta on a line
NOISE = inputs.GaussianNoise(pairs.NOISE)
EXACT = {
    "matrix": inputs.GaussianNoise(np.diag([0.09, 0.0])),
    "vector": inputs.GaussianNoise([0.3, 0.0]),
}
ONE_EXACT = additive(np.diag([0.09, 0.0]))

# (q, p) with S + C regular although S or C, or both, are not
SINGULAR = [
    Pair("point", POINT, NOISE, additive(pairs.NOISE)),
    Pair("line", LINE, NOISE, additive(pairs.NOISE)),
    Pair("exact-full", pairs.FULL, EXACT["matrix"], ONE_EXACT),
    Pair("exact-diagonal", pairs.DIAG, EXACT["vector"], ONE_EXACT),
    Pair("exact-isotropic", pairs.ISO, EXACT["matrix"], ONE_EXACT),
    Pair("shared-full", pairs.FULL, inputs.GaussianNoise(SHARED), additive(SHARED)),
    Pair("both", LINE, inputs.GaussianNoise(SHARED), additive(SHARED)),
]

REST = pytest.mark.tier("laws")
IN_LOOP = pytest.mark.tier("rl")  # it has the loop among its code


def in_short(*names):
    """All of them in `make laws`, these in `make test`."""
    return [pytest.param(pair, marks=() if pair.name in names else REST) for pair in SINGULAR]


def cov_of(pair):
    return np.asarray(pair.q.covariance.matrix(2)), np.asarray(pair.p.cov.matrix(2))


@pytest.mark.parametrize("pair", in_short("point", "exact-diagonal"), ids=repr)
def test_the_score_is_that_of_the_sum(pair):
    """y = M^-1 r, dS = (y y' - M^-1) / 2, by NumPy; and autodiff of the marginal agrees: no NaN
    comes back from the square root of a singular matrix.
    """
    w = jnp.linspace(-1.0, 1.5, 8)

    @once
    def scores(q, key):
        batch = population(q, pair.p, key, 8)
        by_definition = score(lambda q: jax.vmap(pair.p.marginal(q).log_prob)(batch.x), q, w)
        return batch, estimators.phenotype(pair.p, q, batch, w), by_definition

    batch, got, by_definition = scores(pair.q, jax.random.key(3))
    assert np.all(np.isfinite(batch.x))
    np.testing.assert_allclose(flat(got), flat(by_definition), rtol=1e-9, atol=1e-11)
    S, C = cov_of(pair)
    y = np.linalg.solve(S + C, (np.asarray(batch.x) - np.asarray(pair.q.mean)).T).T
    np.testing.assert_allclose(got.mean, np.asarray(w) @ y / 8, rtol=1e-9)


@pytest.mark.parametrize("pair", in_short("both", "exact-isotropic"), ids=repr)
def test_draws_have_the_covariance_of_the_law(pair):
    """20000 draws: standard errors of variances are 1 %, five of them are allowed."""
    batch = once(lambda key: population(pair.q, pair.p, key, 20_000))(jax.random.key(0))
    theta, x = np.asarray(batch.theta), np.asarray(batch.x)
    for values, cov in ((theta, cov_of(pair)[0]), (x - theta, cov_of(pair)[1])):
        scale = np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
        assert np.all(np.abs(np.cov(values.T) - cov) <= 0.05 * scale + 1e-15)


@REST
@pytest.mark.parametrize(
    "p",
    [pytest.param(p, id=name, marks=() if name == "vector" else REST) for name, p in EXACT.items()],
)
@pytest.mark.parametrize(
    "q",
    [
        pytest.param(q, id=name, marks=() if name == "full" else REST)
        for name, q in (("full", pairs.FULL), ("diag", pairs.DIAG), ("iso", pairs.ISO))
    ],
)
def test_a_coordinate_without_noise_is_exact(q, p):
    """x is theta there to the last bit, and the posterior knows it."""
    theta, x, drawn = once(
        lambda key: (
            (batch := population(q, p, key, 50)).theta,
            batch.x,
            jax.vmap(lambda key, x: p.posterior(q, x).sample(key))(
                jax.random.split(key, 50), batch.x
            ),
        )
    )(jax.random.key(0))
    np.testing.assert_array_equal(x[:, 1], theta[:, 1])
    assert np.all(x[:, 0] != theta[:, 0])
    np.testing.assert_allclose(drawn[:, 1], x[:, 1], rtol=1e-12)
    assert np.std(drawn[:, 0] - x[:, 0]) > 0.1
    unmeasured = p.posterior(q, jnp.array([0.3, jnp.nan]))
    np.testing.assert_allclose(
        np.diag(unmeasured.cov.matrix(2))[1],
        np.asarray(q.covariance.matrix(2))[1, 1]
        - np.asarray(q.covariance.matrix(2))[0, 1] ** 2
        / (np.asarray(q.covariance.matrix(2))[0, 0] + 0.09),
        rtol=1e-9,
    )


def test_the_density_is_that_of_the_noisy_directions():
    """Where x is as exact as it has to be; -inf elsewhere. A coordinate that was not measured is
    not held against it.
    """
    normal = jax.scipy.stats.norm
    theta, x = jnp.array([1.0, 2.0]), jnp.array([1.2, 2.0])
    for p in EXACT.values():
        np.testing.assert_allclose(p.log_prob(x, theta), normal.logpdf(0.2, 0.0, 0.3), rtol=1e-12)
        assert p.log_prob(x.at[1].add(1e-9), theta) == -jnp.inf
        np.testing.assert_allclose(
            p.log_prob(x.at[1].set(jnp.nan), theta), normal.logpdf(0.2, 0.0, 0.3), rtol=1e-12
        )
        np.testing.assert_allclose(p.log_prob(x.at[0].set(jnp.nan), theta), 0.0)
    shared = inputs.GaussianNoise(SHARED)  # along (1, -2), of variance .45
    step = jnp.array([1.0, -2.0]) / np.sqrt(5)
    np.testing.assert_allclose(
        shared.log_prob(theta + 0.4 * step, theta),
        normal.logpdf(0.4, 0.0, np.sqrt(0.45)),
        rtol=1e-9,
    )
    assert shared.log_prob(theta + 1e-6, theta) == -jnp.inf
    np.testing.assert_allclose(
        shared.log_prob(jnp.array([1.2, jnp.nan]), theta), normal.logpdf(0.2, 0.0, 0.3), rtol=1e-9
    )


def test_shapes_of_singular_matrices():
    kinds = {
        Diagonal: np.diag([1.0, 0.0]),
        Degenerate: SHARED,
        Dense: np.diag([1.0, 1e-9]),
    }
    for kind, matrix in kinds.items():
        cov = inputs.GaussianNoise(matrix).cov
        assert type(cov) is kind
        np.testing.assert_allclose(cov.scaled(0.5).matrix(2), 0.5 * matrix)
        np.testing.assert_allclose(cov.times(jnp.ones((1, 2)))[0], matrix.sum(0))


def test_roots_of_a_batch_of_matrices():
    """Those that have a Cholesky factor keep it to the bit beside those that have none."""
    matrices = jnp.stack([jnp.asarray(pairs.COV), jnp.zeros((2, 2)), jnp.asarray(SHARED)])
    roots = jax.vmap(semidefinite_root)(matrices)
    np.testing.assert_array_equal(roots[0], np.linalg.cholesky(pairs.COV))
    np.testing.assert_array_equal(roots[1], np.zeros((2, 2)))
    np.testing.assert_allclose(roots[2] @ roots[2].T, SHARED, atol=1e-15)
    slope = jax.jacrev(lambda a: semidefinite_root(0.5 * (a + a.T)))(matrices[0])
    by_jax = jax.jacrev(lambda a: jnp.linalg.cholesky(0.5 * (a + a.T)))(matrices[0])
    np.testing.assert_array_equal(slope, by_jax)


NEEDS_A_DENSITY = {
    "genotype": estimators.genotype,
    "reparameterised": estimators.reparameterised,
    "two_point": estimators.two_point,
    "exchangeable": estimators.exchangeable(2),
    "information_mix": estimators.information_mix(info=jnp.ones(2)),
}


def strategy(p, estimator, **options):
    parts = weightings.standardise, optax.sgd(0.1)
    return phenes.es(p, estimator, *parts, popsize=40, **options)


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(e, id=name, marks=() if name == "genotype" else IN_LOOP)
        for name, e in NEEDS_A_DENSITY.items()
    ],
)
def test_a_point_population_has_no_genotype_score(estimator):
    with pytest.raises(ValueError, match=r"q0 must have a density .* singular covariance"):
        strategy(NOISE, estimator).init(POINT)


@IN_LOOP
def test_a_point_population_needs_a_metric():
    p = inputs.GaussianMixtureNoise([0.5, 0.5], [0.1, 0.3])
    with pytest.raises(ValueError, match=r"q0 must have a density for metric\.natural"):
        strategy(p, estimators.phenotype).init(POINT)
    strategy(p, estimators.phenotype, metric=metric.plain).init(POINT)


@IN_LOOP
@pytest.mark.parametrize(
    "estimator",
    [estimators.phenotype, estimators.two_point_phenotype],
    ids=["phenotype", "two_point"],
)
def test_a_point_population_climbs(estimator):
    """Compiled, with the default metric: it stays a point, nothing fails, and the mean arrives."""
    p = inputs.GaussianNoise(0.3)
    problem = phenes.OIU(p, lambda x: -jnp.sum((x - 1.0) ** 2))
    run = jax.jit(lambda key: phenes.run(key, problem, strategy(p, estimator), POINT, steps=150))
    state, info = run(jax.random.key(0))
    assert not np.any(info.failed)
    assert not np.any(info.skipped)
    assert not np.any(info.projected)
    np.testing.assert_array_equal(state.q.cov, np.zeros((2, 2)))
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.2)


def test_the_direction_of_a_point_is_that_of_x():
    """(x - m): the paper's estimate of section 4.2 times C, the inverse information of x."""
    x, w = jnp.array([[0.9, -1.2], [0.1, 0.3]]), jnp.array([1.0, -0.5])
    g = estimators.phenotype(NOISE, POINT, Batch(theta=x, x=x), w)
    np.testing.assert_allclose(
        g.mean, np.linalg.solve(pairs.NOISE, w @ (np.asarray(x) - MEAN) / 2), rtol=1e-12
    )
    direction = metric.natural(NOISE, POINT, g)
    np.testing.assert_allclose(direction.mean, w @ (np.asarray(x) - MEAN) / 2, rtol=1e-12)
    np.testing.assert_array_equal(direction.cov, np.zeros((2, 2)))
    regular = search.Gaussian(MEAN, pairs.COV)
    np.testing.assert_allclose(
        metric.natural(NOISE, regular, g).mean, pairs.COV @ np.asarray(g.mean), rtol=1e-12
    )
    np.testing.assert_allclose(POINT.with_std(0.5).cov, 0.25 * np.eye(2))


# those of which it is exact; the others are by Monte Carlo
@pytest.mark.parametrize("pair", in_short("point", "line", "both"), ids=repr)
def test_estimators_are_unbiased(pair, key):
    """Against the exact gradient of constant, linear and quadratic f, where each is defined. Of a
    population without spread the exact gradient is that of the mean alone.
    """
    if pair.name in ("point", "line", "both"):
        # d E f / d mean; that of the covariance has no push to be differentiated through
        return check_the_mean(pair, key)
    named = {
        "phenotype": estimators.phenotype,
        "two_point_phenotype": estimators.two_point_phenotype,
        "exchangeable": estimators.exchangeable(2),
        "rao_blackwellise": estimators.rao_blackwellise(estimators.genotype, 1),
    }
    if pair.name == "exact-diagonal":
        named["exchangeable_coordinates"] = estimators.exchangeable_coordinates(2)
    check(named, pair, key)


def check_the_mean(pair, key):
    """E[W s] for linear f(x) = a.x is a in the mean, and for quadratic f B in the covariance: exact
    by moments of r, N(0, M): E[(r'Br) (y y' - M^-1)] / 2 = B, E[(a.r) y] = a.
    """
    S, C = cov_of(pair)
    root = np.linalg.cholesky(S + C)
    node, weight = np.polynomial.hermite_e.hermegauss(6)
    z = np.stack(np.meshgrid(node, node), -1).reshape(-1, 2)
    mass = np.outer(weight, weight).ravel() / (2 * np.pi)
    r = z @ root.T
    a, B = np.array([0.7, -1.1]), np.array([[0.5, 0.2], [0.2, -0.3]])
    f = r @ a + np.einsum("ni,ij,nj->n", r, B, r)
    x = jnp.asarray(r + np.asarray(pair.q.mean))
    g = estimators.phenotype(pair.p, pair.q, Batch(theta=x, x=x), jnp.asarray(mass * f * len(f)))
    np.testing.assert_allclose(g.mean, a, rtol=1e-9)
    np.testing.assert_allclose(g.cov, B, rtol=1e-9, atol=1e-9)


def test_slopes_of_exact_inputs_are_refused(key):
    for p in (*EXACT.values(), inputs.GaussianNoise(SHARED)):
        for estimator in (
            estimators.reparameterised,
            estimators.information_mix(info=jnp.ones(2)),
        ):
            with pytest.raises(ValueError, match="GaussianNoise has directions without noise"):
                estimator(p, pairs.DIAG, population(pairs.DIAG, p, key, 4), jnp.ones(4))


@pytest.mark.parametrize(
    "law",
    [
        lambda: inputs.MultivariateTNoise(SHARED, 3.0),
        lambda: inputs.MultivariateTNoise([0.1, 0.0], 3.0),
        lambda: inputs.GaussianMixtureNoise([0.5, 0.5], [SHARED, SHARED]),
        lambda: inputs.GaussianMixtureNoise([0.5, 0.5], [0.0, 1.0]),
    ],
)
def test_mixtures_need_noise_in_every_direction(law):
    with pytest.raises(ValueError, match=r"scales? must be positive( definite)?, got"):
        law()


@REST
def test_exact_coordinates_are_conditioned_on_by_the_genotype_score():
    """With x_1 exact, the score of x is the genotype's in that coordinate, individual by
    individual.
    """
    p, q = EXACT["vector"], pairs.DIAG
    batch = once(lambda key: population(q, p, key, 6))(jax.random.key(2))
    by_x, by_theta, hidden = (
        once(lambda batch, e=e: individual_scores(e, p, q, batch))(batch)
        for e in (
            estimators.phenotype,
            estimators.genotype,
            estimators.exchangeable_coordinates(3),
        )
    )
    np.testing.assert_allclose(by_x[:, [1, 3]], by_theta[:, [1, 3]], rtol=1e-12)
    np.testing.assert_allclose(hidden[:, [1, 3]], by_theta[:, [1, 3]], rtol=1e-12)
    assert np.all(by_x[:, 0] != by_theta[:, 0])
