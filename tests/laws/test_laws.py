"""The laws that tie q, p, marginal and posterior together, over every pair that has them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from phenes import Batch, estimators, search
from phenes._score import score
from phenes.diagnostics import individual_scores
from tests.laws import pairs
from tests.laws.statistics import (
    CHUNK,
    SIGMAS,
    assert_within,
    chunks_of,
    estimate,
    flat,
    once,
    population,
)


def some(pair, n=16):
    return once(lambda key: population(pair.q, pair.p, key, n))(jax.random.key(7))


def unlike(x):
    """A value of x without symmetries, of any shape."""
    leaves = [jnp.asarray(leaf, float).reshape(-1) for leaf in jax.tree.leaves(x)]
    flat_x = jnp.concatenate(leaves)
    return jnp.sum(jnp.sin(flat_x + jnp.arange(flat_x.size, dtype=float))) + 0.3 * jnp.sum(
        jnp.tanh(flat_x)
    )


def smooth(pair):
    """theta is a smooth function of psi for fixed randomness, and log p has a slope in theta."""
    return not any(word in pair.name for word in ("conjugate", "gate", "uniform"))


@pytest.mark.parametrize("pair", pairs.of_each_kind(pairs.PAIRS), ids=repr)
def test_identities(pair):
    """What holds to rounding, in one compilation: closed forms equal their one-line definitions;
    posterior x marginal = joint; the posterior of what was not measured is the prior; an individual
    does not depend on the size of the population (the key to equal runs on 1 or 8 workers).
    """
    p, w = pair.p, jnp.linspace(-1.0, 1.5, 16)

    def sides(q, batch):
        both = {}
        if hasattr(p, "marginal"):
            both["phenotype"] = (
                flat(estimators.phenotype(p, q, batch, w)),
                flat(score(lambda q: jax.vmap(p.marginal(q).log_prob)(batch.x), q, w)),
            )
        both["genotype"] = (
            flat(estimators.genotype(p, q, batch, w)),
            flat(score(lambda q: jax.vmap(q.log_prob)(batch.theta), q, w)),
        )
        if smooth(pair):
            both["reparameterised"] = (
                flat(estimators.reparameterised(p, q, batch, w)),
                flat(
                    score(lambda q: jax.vmap(p.log_prob)(batch.x, jax.vmap(q.push)(batch.xi)), q, w)
                ),
            )
        if hasattr(p, "posterior"):
            both["joint"] = (
                jax.vmap(lambda t, x: p.posterior(q, x).log_prob(t) + p.marginal(q).log_prob(x))(
                    batch.theta, batch.x
                ),
                jax.vmap(lambda t, x: q.log_prob(t) + p.log_prob(x, t))(batch.theta, batch.x),
            )
        if hasattr(p, "posterior") and pair in pairs.REAL_PAIRS:
            nothing = jnp.full(batch.x.shape[1:], jnp.nan)
            both["prior"] = (
                jax.vmap(p.posterior(q, nothing).log_prob)(batch.theta),
                jax.vmap(q.log_prob)(batch.theta),
            )
        few = population(q, p, jax.random.key(7), 4)
        for field in ("theta", "x"):
            pairs_of_leaves = zip(
                jax.tree.leaves(getattr(few, field)),
                jax.tree.leaves(getattr(batch, field)),
                strict=True,
            )
            both |= {f"{field} {i}": (a, b[:4]) for i, (a, b) in enumerate(pairs_of_leaves)}
        return both

    # the scale mixtures are integrals by quadrature
    tolerance = 1e-7 if "multivariate-t" in pair.name else 1e-9
    both = once(lambda q, key: sides(q, population(q, p, key, 16)))(pair.q, jax.random.key(7))
    for name, (left, right) in both.items():
        assert np.all(np.isfinite(left)), name  # two sides that are both NaN would be equal
        np.testing.assert_allclose(
            left, right, rtol=tolerance, atol=max(tolerance / 100, 1e-11), err_msg=name
        )


WITHOUT_GATE = [pair for pair in pairs.MARGINAL_PAIRS if not isinstance(pair.q, search.Gate)]


@pytest.mark.tier("laws")  # the identities above are exact
@pytest.mark.parametrize("pair", WITHOUT_GATE, ids=repr)
def test_laws_in_the_mean(pair, key):
    """What holds in expectation, over a million individuals, in one compilation:

    marginal: P(x) = E_q[p_theta(x)] at four x. zero: E[d log P / d psi] = 0. conditional:
    RB[genotype] = phenotype, pointwise at four x, over a million posterior draws. loewner:
    Cov[genotype] - Cov[phenotype] >= 0, in the direction that looks worst on one half of the
    individuals, tested on the other half.
    """
    p, q = pair.p, pair.q
    four = once(lambda key: population(q, p, key, 4))(jax.random.key(7))

    def chunk(key):
        own, draw = jax.random.split(key)
        batch = population(q, p, own, CHUNK)
        g, h = (
            individual_scores(e, p, q, batch) for e in (estimators.genotype, estimators.phenotype)
        )
        w = jax.vmap(unlike)(batch.x)[:, None]
        found = {
            "marginal": jax.vmap(
                lambda x: jnp.mean(jnp.exp(jax.vmap(lambda t: p.log_prob(x, t))(batch.theta)))
            )(four.x),
        }
        if "conjugate" not in pair.name:
            found["zero"] = jnp.mean(h, axis=0)
            found["loewner"] = ((w * g).T @ (w * g) - (w * h).T @ (w * h)) / CHUNK
        if hasattr(p, "posterior"):
            found["conditional"] = jax.vmap(at, (0, 0))(jax.random.split(draw, 4), four.x)
        return found

    def at(key, x):
        theta = jax.vmap(p.posterior(q, x).sample)(jax.random.split(key, CHUNK // 4))
        return flat(estimators.genotype(p, q, Batch(theta=theta), jnp.ones(CHUNK // 4)))

    values = chunks_of(chunk, key, pairs.chunks(pair))
    exact = once(
        lambda batch: (
            jax.vmap(p.marginal(q).log_prob)(batch.x),
            individual_scores(estimators.phenotype, p, q, batch),
        )
    )(four)
    assert_within(estimate(values["marginal"]), np.exp(exact[0]))
    if "conditional" in values:
        assert_within(estimate(values["conditional"]), exact[1])
    # a quadrature for each x: these are summed over all x instead, here and in test_printed.py
    if "conjugate" in pair.name:
        return check_by_enumeration(pair)
    assert_within(estimate(values["zero"]), np.zeros(values["zero"].shape[1]))
    first, second = np.split(values["loewner"], 2)
    worst = np.linalg.eigh(first.mean(0) + first.mean(0).T)[1][:, 0]
    along = estimate(np.einsum("i,nij,j->n", worst, second, worst))
    assert along.mean >= -SIGMAS * along.se - 1e-12, f"{along.mean} +- {along.se}"


def check_by_enumeration(pair):
    """E[score] = 0, and Cov[genotype] - Cov[phenotype] = E[Cov[genotype | x]] = I[q] - I[P] >= 0,
    to rounding.
    """
    x, orders = jax.tree.map(jnp.asarray, pair.outcomes)
    weight = orders * jnp.exp(once(jax.vmap(pair.p.marginal(pair.q).log_prob))(x))
    s = np.asarray(
        once(
            lambda x: individual_scores(estimators.phenotype, pair.p, pair.q, Batch(theta=x, x=x))
        )(x)
    )
    np.testing.assert_allclose(np.asarray(weight) @ s, 0.0, atol=1e-9)
    of_x = (s * np.asarray(weight)[:, None]).T @ s
    vector, unravel = ravel_pytree(pair.q)
    rows = [flat(pair.q.natural(unravel(row))) for row in np.eye(vector.size)]
    assert np.linalg.eigvalsh(np.linalg.inv(np.stack(rows)) - of_x)[0] > -1e-9


def test_experts_are_summed_over():
    """The gate's context is given, so its marginal is a sum by hand."""
    pair = next(pair for pair in pairs.COUNT_PAIRS if pair.name == "gate-experts")
    for c, y in zip(*pairs.CHOICES, strict=True):
        by_hand = jnp.exp(pair.q.log_weights(c)) @ np.exp(pairs.GATE_TABLE[c, :, y])
        got = jnp.exp(pair.p.marginal(pair.q).log_prob(search.Choice(jnp.array(c), jnp.array(y))))
        np.testing.assert_allclose(got, by_hand, rtol=1e-12)


MEASURED = [
    pytest.param(pair, marks=() if pair.name == "diagonal-vector" else pytest.mark.tier("laws"))
    for pair in pairs.REAL_PAIRS
    if "linear" not in pair.name
]


@pytest.mark.parametrize("pair", MEASURED, ids=repr)
def test_coordinates_not_measured_are_conditioned_out(pair):
    """With x_1 unmeasured the marginal density of x_0 is left; the score is its gradient; with
    nothing measured it is 0. So without theta; what theta is worth then is in test_missing.py.
    """
    batch, w = some(pair), jnp.linspace(-1.0, 1.5, 16)
    partial = batch._replace(x=batch.x.at[:8, 1].set(jnp.nan).at[12, :].set(jnp.nan))

    @once
    def scores(batch):
        batch = batch._replace(theta=None, key=None)
        each = individual_scores(estimators.phenotype, pair.p, pair.q, batch)
        return each, flat(estimators.phenotype(pair.p, pair.q, batch, w))

    @once
    @jax.grad
    def of_first(q, x):
        """d log P(x_0), x_1 integrated out on a fine grid."""
        grid = jnp.linspace(-40.0, 40.0, 4001)
        line = jnp.stack([jnp.full_like(grid, x[0]), grid], axis=1)
        return jax.nn.logsumexp(jax.vmap(pair.p.marginal(q).log_prob)(line)) + jnp.log(
            grid[1] - grid[0]
        )

    got, together = scores(partial)
    np.testing.assert_allclose(together, w @ got / 16, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(got[12], 0.0, atol=1e-12)
    np.testing.assert_allclose(got[14], scores(batch)[0][14], rtol=1e-9, atol=1e-11)
    if any(word in pair.name for word in ("saturating", "rounding")):
        # a grid misses the probability of single points; coordinates are independent, so the score
        # is that of the law of x_0 alone
        alone = type(pair.q)(pair.q.mean[:1], pair.q.std[0])
        first = Batch(theta=None, x=batch.x[:8, :1])
        expected = individual_scores(estimators.phenotype, pair.p, alone, first)
        np.testing.assert_allclose(got[:8, [0, 2]], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(got[:8, 1], np.zeros(8))
        return
    for i in (0, 5):
        np.testing.assert_allclose(got[i], flat(of_first(pair.q, batch.x[i])), rtol=2e-5, atol=2e-6)
