"""The laws that tie q, p, marginal and posterior together, over every pair that has them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import Batch, estimators, search
from phenes.batch import realise
from phenes.diagnostics import individual_scores
from phenes.score import score
from tests.laws import pairs
from tests.laws.statistics import assert_within, flat, over_chunks, population

WITH_POSTERIOR = [pair for pair in pairs.MARGINAL_PAIRS if hasattr(pair.p, "posterior")]


def some(pair, n=16):
    return jax.jit(lambda key: population(pair.q, pair.p, key, n))(jax.random.key(7))


@pytest.mark.parametrize("pair", pairs.MARGINAL_PAIRS, ids=repr)
def test_marginal_is_the_integral_of_the_joint(pair, key):
    """P(x) = E_q[p_theta(x)], for 4 values of x, over a million theta."""
    x = some(pair, 4).x
    if isinstance(pair.q, search.Gate):
        pytest.skip("the context is given: see test_experts_are_summed_over")

    def chunk(key):
        theta = jax.vmap(pair.q.push)(pair.q.draw(key, 4000))
        return jax.vmap(lambda one: jnp.mean(jnp.exp(jax.vmap(lambda t: pair.p.log_prob(one, t))(theta))))(x)

    assert_within(over_chunks(chunk, key), jnp.exp(jax.vmap(pair.p.marginal(pair.q).log_prob)(x)))


def test_experts_are_summed_over():
    pair = next(pair for pair in pairs.COUNT_PAIRS if pair.name == "gate-experts")
    for c, y in zip(*pairs.CHOICES, strict=True):
        by_hand = jnp.exp(pair.q.log_weights(c)) @ np.exp(pairs.GATE_TABLE[c, :, y])
        got = jnp.exp(pair.p.marginal(pair.q).log_prob(search.Choice(jnp.array(c), jnp.array(y))))
        np.testing.assert_allclose(got, by_hand, rtol=1e-12)


@pytest.mark.parametrize("pair", WITH_POSTERIOR, ids=repr)
def test_posterior_times_marginal_is_the_joint(pair):
    """log P(theta | x) + log P(x) = log q(theta) + log p_theta(x), pointwise."""
    batch = some(pair, 64)

    @jax.jit
    @jax.vmap
    def both(t, x):
        left = pair.p.posterior(pair.q, x).log_prob(t) + pair.p.marginal(pair.q).log_prob(x)
        return left, pair.q.log_prob(t) + pair.p.log_prob(x, t)

    left, right = both(batch.theta, batch.x)
    # the scale mixtures are integrals by quadrature
    rtol = 1e-7 if "multivariate-t" in pair.name else 1e-9
    np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("pair", WITH_POSTERIOR, ids=repr)
def test_phenotype_is_the_conditional_mean_of_genotype(pair, key):
    """RB[genotype] = phenotype at 16 values of x, over 62,500 posterior draws each (a million in all)."""
    x = some(pair).x
    expected = jax.jit(lambda batch: individual_scores(estimators.phenotype, pair.p, pair.q, batch))(some(pair))

    def chunk(key):
        def at(key, x):
            theta = jax.vmap(pair.p.posterior(pair.q, x).sample)(jax.random.split(key, 250))
            return flat(estimators.genotype(pair.p, pair.q, Batch(theta=theta), jnp.ones(250)))

        return jax.vmap(at)(jax.random.split(key, 16), x)

    assert_within(over_chunks(chunk, key), expected)


@pytest.mark.parametrize("pair", [pair for pair in pairs.MARGINAL_PAIRS if pair not in pairs.REAL_PAIRS], ids=repr)
def test_mean_score_is_zero(pair, key):
    """E[d log P / d psi] = 0 over a million x; for the other pairs the constant f of test_gradients.py says the same."""

    def chunk(key):
        return flat(estimators.phenotype(pair.p, pair.q, population(pair.q, pair.p, key, 4000), jnp.ones(4000)))

    estimate = over_chunks(chunk, key)
    assert_within(estimate, np.zeros_like(estimate.mean))


def unlike(x):
    """A value of x without symmetries, of any shape."""
    leaves = [jnp.asarray(leaf, float).reshape(-1) for leaf in jax.tree.leaves(x)]
    flat_x = jnp.concatenate(leaves)
    return jnp.sum(jnp.sin(flat_x + jnp.arange(flat_x.size, dtype=float))) + 0.3 * jnp.sum(jnp.tanh(flat_x))


@pytest.mark.parametrize("pair", pairs.MARGINAL_PAIRS, ids=repr)
def test_phenotype_has_the_smaller_covariance(pair, key):
    """Cov[genotype] - Cov[phenotype] >= 0 in the Loewner order: the worst direction, found on one half million, tested on another."""

    def moments(key):
        batch = population(pair.q, pair.p, key, 2000)
        w = jax.vmap(unlike)(batch.x)[:, None]
        g, h = (w * individual_scores(e, pair.p, pair.q, batch) for e in (estimators.genotype, estimators.phenotype))
        return (g.T @ g - h.T @ h) / 2000

    first, second = jax.random.split(key)
    difference = np.asarray(over_chunks(moments, first).mean)
    worst = jnp.asarray(np.linalg.eigh(0.5 * (difference + difference.T))[1][:, 0])
    along = over_chunks(lambda key: worst @ moments(key) @ worst, second)
    assert along.mean >= -5 * along.se - 1e-12, f"{along.mean} +- {along.se}"


@pytest.mark.parametrize("pair", pairs.MARGINAL_PAIRS, ids=repr)
def test_closed_form_equals_autodiff(pair):
    """phenotype and genotype against the one-line definition, on a small population with weights of both signs."""
    batch, w = some(pair), jnp.linspace(-1.0, 1.5, 16)

    @jax.jit
    def all_four(batch):
        return [
            flat(estimators.phenotype(pair.p, pair.q, batch, w)),
            flat(score(lambda q: jax.vmap(pair.p.marginal(q).log_prob)(batch.x), pair.q, w)),
            flat(estimators.genotype(pair.p, pair.q, batch, w)),
            flat(score(lambda q: jax.vmap(q.log_prob)(batch.theta), pair.q, w)),
        ]

    phenotype, phenotype_by_definition, genotype, genotype_by_definition = all_four(batch)
    np.testing.assert_allclose(phenotype, phenotype_by_definition, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(genotype, genotype_by_definition, rtol=1e-9, atol=1e-11)


REPARAMETERISED = [pair for pair in pairs.PAIRS if not any(word in pair.name for word in ("conjugate", "gate"))]


@pytest.mark.parametrize("pair", REPARAMETERISED, ids=repr)
def test_reparameterised_equals_its_definition(pair):
    """log p_theta(x_i) differentiated through theta = push_psi(xi_i)."""
    batch, w = some(pair), jnp.linspace(-1.0, 1.5, 16)

    @jax.jit
    def both(batch):
        by_definition = score(lambda q: jax.vmap(pair.p.log_prob)(batch.x, jax.vmap(q.push)(batch.xi)), pair.q, w)
        return flat(estimators.reparameterised(pair.p, pair.q, batch, w)), flat(by_definition)

    np.testing.assert_allclose(*both(batch), rtol=1e-9, atol=1e-11)


MEASURED = [pair for pair in pairs.REAL_PAIRS if "linear" not in pair.name]


@pytest.mark.parametrize("pair", MEASURED, ids=repr)
def test_coordinates_not_measured_are_conditioned_out(pair):
    """With x_1 unmeasured the marginal density of x_0 is left; the score is its gradient; with nothing measured it is 0."""
    batch, w = some(pair), jnp.linspace(-1.0, 1.5, 16)
    partial = batch._replace(x=batch.x.at[:8, 1].set(jnp.nan).at[12, :].set(jnp.nan))

    @jax.jit
    def scores(batch):
        each = individual_scores(estimators.phenotype, pair.p, pair.q, batch)
        return each, flat(estimators.phenotype(pair.p, pair.q, batch, w))

    @jax.jit
    @jax.grad
    def of_first(q, x):
        """d log P(x_0), x_1 integrated out on a fine grid."""
        grid = jnp.linspace(-40.0, 40.0, 4001)
        line = jnp.stack([jnp.full_like(grid, x[0]), grid], axis=1)
        return jax.nn.logsumexp(jax.vmap(pair.p.marginal(q).log_prob)(line)) + jnp.log(grid[1] - grid[0])

    got, together = scores(partial)
    np.testing.assert_allclose(together, w @ got / 16, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(got[12], 0.0, atol=1e-12)
    np.testing.assert_allclose(got[14], scores(batch)[0][14], rtol=1e-9, atol=1e-11)
    if any(word in pair.name for word in ("saturating", "rounding")):
        # a grid misses the probability of single points; coordinates are independent, so x_1 plays no part in what is left
        other = partial._replace(theta=partial.theta.at[:, 1].add(1.0))
        np.testing.assert_array_equal(scores(other)[0][:8], got[:8])
        return
    for i in (0, 5):
        np.testing.assert_allclose(got[i], flat(of_first(pair.q, batch.x[i])), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("pair", [pair for pair in pairs.REAL_PAIRS if hasattr(pair.p, "posterior")], ids=repr)
def test_posterior_of_what_was_not_measured_is_the_prior(pair, key):
    """Nothing measured: P(theta | x) = q."""
    k = some(pair).x.shape[1]

    @jax.jit
    @jax.vmap
    def both(theta):
        return pair.p.posterior(pair.q, jnp.full(k, jnp.nan)).log_prob(theta), pair.q.log_prob(theta)

    np.testing.assert_allclose(*both(some(pair).theta), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("pair", pairs.PAIRS, ids=repr)
def test_an_individual_does_not_depend_on_the_size_of_the_population(pair):
    """Row i of theta and of x is the same in a population of 4 and of 16: the key to equal runs on 1 or 8 workers."""
    few, many = (some(pair, n) for n in (4, 16))
    for field in ("theta", "x"):
        for a, b in zip(jax.tree.leaves(getattr(few, field)), jax.tree.leaves(getattr(many, field)), strict=True):
            np.testing.assert_array_equal(a, b[:4])


@pytest.mark.parametrize("pair", [p for p in pairs.REAL_PAIRS + pairs.NO_MARGINAL_PAIRS], ids=repr)
def test_samples_have_the_moments_of_the_law(pair, key):
    theta = jnp.array([0.3, -0.4])
    mean, cov = pair.moments(theta)

    def chunk(key):
        x = realise(pair.p, key, jnp.broadcast_to(theta, (4000, 2)))
        r = x - mean[None]
        return jnp.concatenate([jnp.mean(r, axis=0), (r.T @ r / 4000).reshape(-1)])

    assert_within(over_chunks(chunk, key), np.concatenate([np.zeros(mean.size), np.asarray(cov).ravel()]))
