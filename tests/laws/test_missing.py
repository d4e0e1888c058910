"""NaN in x: half of the individuals, or single coordinates, were not measured. Every estimator that
claims to be unbiased still is, since values depend on what was not measured too.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import Batch, estimators, inputs, search
from phenes._arrays import concrete
from phenes._score import marginal_score
from phenes.diagnostics import individual_scores
from tests.laws import pairs
from tests.laws.pairs import Pair, additive
from tests.laws.statistics import (
    CHUNK,
    CHUNKS,
    Estimate,
    assert_within,
    flat,
    once,
    over_chunks,
    population,
)
from tests.laws.test_gradients import exact, learnt, values

PAIRS = {pair.name: pair for pair in pairs.PAIRS}
# correlated noise under correlated search; independent noise under correlated search, where single
# coordinates count; a law of coordinates; one without a marginal
# in `make test`: single coordinates, exactly, and the law without theta
REST = pytest.mark.tier("laws")
CHOSEN = ["full-full", "full-vector", "diagonal-student-t", "full-heteroscedastic"]


def hidden(key, x):
    """x without half of the individuals, and without a third of the other coordinates."""
    for_rows, for_coordinates = jax.random.split(key)
    rows = jax.random.bernoulli(for_rows, 0.5, (x.shape[0], *(1,) * (x.ndim - 1)))
    single = jax.random.bernoulli(for_coordinates, 1 / 3, x.shape)
    return jnp.where(rows | single, jnp.nan, x)


def applicable(pair):
    """Every estimator that looks at x, by name."""
    smooth = {
        "reparameterised": estimators.reparameterised,
        "mix": learnt(estimators.information_mix(), pair),
    }
    if not hasattr(pair.p, "marginal"):
        return smooth | {"exchangeable": estimators.exchangeable(2)}
    named = {
        "phenotype": estimators.phenotype,
        "two_point_phenotype": estimators.two_point_phenotype,
    }
    if pair.name == "full-full":
        named |= smooth | {
            "exchangeable": estimators.exchangeable(2),
            "rao_blackwellise": estimators.rao_blackwellise(estimators.genotype, 1),
        }
    if pair.name == "diagonal-student-t":
        named["exchangeable_coordinates"] = estimators.exchangeable_coordinates(2)
    return named


def check(named, pair, key, mirrored=False):
    centre, gradient = exact(pair)

    def chunk(key):
        own, for_missing = jax.random.split(key)
        batch = population(pair.q, pair.p, own, CHUNK, mirrored)
        w = jax.vmap(values)(batch.x) - jnp.asarray(np.array([0.5, 1.0, 1.0]))[None] * centre[None]
        seen = batch._replace(x=hidden(for_missing, batch.x))
        return jnp.stack(
            [
                jax.vmap(lambda w, e=e: flat(e(pair.p, pair.q, seen, w)), in_axes=1)(w)
                for e in named.values()
            ]
        )

    found = over_chunks(chunk, key, CHUNKS)
    for i, name in enumerate(named):
        try:
            assert_within(Estimate(found.mean[i], found.se[i]), gradient)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


@REST
@pytest.mark.parametrize("name", CHOSEN)
def test_estimators_stay_unbiased(name, key):
    check(applicable(PAIRS[name]), PAIRS[name], key)


@REST
def test_mirrored_pairs_stay_unbiased(key):
    check({"mirrored_phenotype": estimators.mirrored_phenotype}, PAIRS["full-full"], key, True)


@REST
def test_repeated_draws_stay_unbiased(key):
    """One draw of three was not measured, and its value counts all the same."""
    base = Pair("repeated", pairs.DIAG, inputs.GaussianNoise(0.5), additive(0.25 * np.eye(2)))
    p, q = inputs.Repeated(base.p, 3), base.q
    centre, gradient = exact(base)

    def chunk(key):
        batch = population(q, p, key, CHUNK)
        w = jnp.mean(jax.vmap(jax.vmap(values))(batch.x), axis=1) - centre[None]
        seen = batch._replace(x=batch.x.at[: CHUNK // 2, 1].set(jnp.nan))
        return jax.vmap(lambda w: flat(estimators.phenotype(p, q, seen, w)), in_axes=1)(w)

    assert_within(over_chunks(chunk, key), gradient)


@REST
@pytest.mark.parametrize("name", ["full-full", "full-vector", "diagonal-laplace", "gamma-poisson"])
def test_without_any_x_everything_is_the_genotype(name):
    """And with all of it nothing is: the same individuals, measured."""
    pair = PAIRS[name]
    batch = once(lambda key: population(pair.q, pair.p, key, 6))(jax.random.key(1))
    nothing = batch._replace(x=jnp.full_like(batch.x, jnp.nan))
    w = jnp.linspace(-1.0, 1.5, 6)
    every = {
        "phenotype": estimators.phenotype,
        "two_point_phenotype": estimators.two_point_phenotype,
        "exchangeable": estimators.exchangeable(2),
        "reparameterised": estimators.reparameterised,
    }
    if pair in pairs.REAL_PAIRS:
        every["mix"] = learnt(estimators.information_mix(), pair)
    differences = jnp.concatenate([w[:3] - w[3:]] * 2) * jnp.asarray(np.repeat([1.0, -1.0], 3))

    @once
    def gradients(batch, nothing):
        plain, of_pairs = (
            flat(estimators.genotype(pair.p, pair.q, batch, each)) for each in (w, differences)
        )
        return {
            title: (
                flat(estimator(pair.p, pair.q, nothing, w)),
                of_pairs if title == "two_point_phenotype" else plain,
                flat(estimator(pair.p, pair.q, batch, w)),
            )
            for title, estimator in every.items()
        }

    for title, (got, expected, measured) in gradients(batch, nothing).items():
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12, err_msg=title)
        assert np.abs(measured - expected).max() > 1e-3, title


def test_single_coordinates_of_independent_noise_count():
    """Conditioned on x_0 and theta_1: the score of x_0 with theta_1 as an exact x_1, which the
    Gaussian law with that covariance has too. With correlated noise it is the genotype score.
    """
    batch = once(lambda key: population(pairs.FULL, PAIRS["full-vector"].p, key, 4))(
        jax.random.key(1)
    )
    seen = batch._replace(x=batch.x.at[:, 1].set(jnp.nan))
    exactly = inputs.GaussianNoise([0.5, 0.0])
    filled = jnp.stack([batch.x[:, 0], batch.theta[:, 1]], axis=1)
    cases = (
        (estimators.phenotype, PAIRS["full-vector"].p, seen),
        (estimators.phenotype, exactly, batch._replace(x=filled)),
        (estimators.phenotype, PAIRS["full-full"].p, seen),
        (estimators.genotype, PAIRS["full-full"].p, seen),
    )
    got, expected, correlated, own = once(
        lambda q: [individual_scores(e, p, q, batch) for e, p, batch in cases]
    )(pairs.FULL)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(correlated, own, rtol=1e-9, atol=1e-12)


def test_the_law_itself_conditions_on_what_was_measured():
    """log P of the measured coordinates, and its score, know of no theta; neither does a batch
    without theta.
    """
    pair = PAIRS["full-vector"]
    x = jnp.array([[0.3, jnp.nan], [jnp.nan, jnp.nan], [1.0, -2.0]])
    w = jnp.array([1.0, -0.4, 0.7])
    expected = marginal_score(pair.p, pair.q, x, w)
    got = estimators.phenotype(pair.p, pair.q, Batch(theta=None, x=x), w)
    np.testing.assert_array_equal(flat(got), flat(expected))


@REST
def test_what_is_learnt_is_learnt_of_the_measured():
    """The information of s_p and the covariance of x - theta, as if the others were not there."""
    pair = PAIRS["full-full"]
    batch = once(lambda key: population(pair.q, pair.p, key, 8))(jax.random.key(2))
    seen = batch._replace(x=batch.x.at[5:, 0].set(jnp.nan))
    few = jax.tree.map(lambda leaf: leaf[:5], batch._replace(key=None))
    for estimator in (estimators.information_mix(), estimators.biased_linear()):
        start = estimator.start(pair.p, pair.q, batch)
        got, expected = (start.observe(pair.p, pair.q, b) for b in (seen, few))
        np.testing.assert_allclose(flat(got), flat(expected), rtol=1e-12)
        nobody = batch._replace(x=jnp.full_like(batch.x, jnp.nan))
        np.testing.assert_array_equal(flat(got.observe(pair.p, pair.q, nobody)), flat(got))


@REST
def test_biased_linear_goes_on_without_x():
    pair = PAIRS["full-full"]
    batch = once(lambda key: population(pair.q, pair.p, key, 8))(jax.random.key(2))
    nobody, w = batch._replace(x=jnp.full_like(batch.x, jnp.nan)), jnp.linspace(-1.0, 1.0, 8)
    start = estimators.biased_linear().start(pair.p, pair.q, batch).observe(pair.p, pair.q, batch)
    np.testing.assert_allclose(
        flat(start(pair.p, pair.q, nobody, w)),
        flat(estimators.genotype(pair.p, pair.q, batch, w)),
        rtol=1e-12,
    )


@REST
def test_integers_cannot_be_missing():
    q = search.Gate(pairs.GATE.logits, pairs.coin)
    p = PAIRS["gate-experts"].p
    batch = once(lambda key: population(q, p, key, 4))(jax.random.key(0))
    assert np.all(np.isfinite(flat(estimators.phenotype(p, q, batch, jnp.ones(4)))))


@REST
def test_runs_of_several_seeds_learn_each_for_itself():
    """What an estimator has learnt is mapped over with the population."""
    pair = PAIRS["full-full"]
    batch = once(lambda key: population(pair.q, pair.p, key, 8))(jax.random.key(2))
    seen, w = batch._replace(x=batch.x.at[5:, 0].set(jnp.nan)), jnp.linspace(-1.0, 1.0, 8)

    def gradient(info):
        mix = estimators.information_mix(info=info)
        return flat(mix(pair.p, pair.q, seen, w))

    infos = jnp.array([[1.0, 2.0], [3.0, 0.5]])
    together = jax.vmap(gradient)(infos)
    np.testing.assert_allclose(together, [gradient(info) for info in infos], rtol=1e-9)
    assert np.abs(together[0] - together[1]).max() > 1e-3


def test_numbers_of_the_law_stay_known_inside_jit():
    """A law of known numbers looks at them: Student t chooses the nodes of its quadrature."""
    seen = []

    class Looking(inputs.StudentTNoise):
        def log_marginal(self, x, m, s):
            seen.append(concrete(self.df))
            return super().log_marginal(x, m, s)

    p, x = Looking(0.4, 5.0), jnp.ones((4, 2))
    estimate = jax.jit(lambda q, x: estimators.phenotype(p, q, Batch(theta=x, x=x), jnp.ones(4)))
    estimate(pairs.DIAG, x)
    assert seen
    assert all(seen)
