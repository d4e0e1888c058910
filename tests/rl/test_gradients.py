"""Every estimator on one problem, against the exact gradient by enumeration. Standard errors come from independent populations."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import estimators, search
from phenes.batch import Batch
from phenes.diagnostics import individual_scores
from phenes.estimators import diagonal, information_mix
from phenes.rl.tabular import Episodes, greedy, play, reward_to_go
from phenes.rl.tabular.draws import log_dirichlet, log_gamma
from phenes.search.gaussian import replace
from tests.laws.statistics import assert_within, chunks_of, estimate, flat, population
from tests.rl import mdp

CHUNKS, CHUNK = 80, 2000
FEW = 400  # individuals of a population for estimators that draw more of them
ALPHA = jnp.asarray([[0.4, 1.1], [2.0, 0.3], [0.7, 0.8]])
MEAN, SIGMA = jnp.asarray([0.3, -0.4, 0.0, 0.9, -0.2, 0.1]), 0.8
Q, LOGITS = search.Dirichlet(ALPHA), search.IsotropicGaussian(MEAN, SIGMA)
P = Episodes(mdp.TABLE, record=True)
LEARNT = jnp.asarray([0.4, 0.2, 1.1]), jnp.asarray([1.0, 1.0, 1.0])


def mix(shape):
    """With the information fixed beforehand, as it is after past generations."""
    n = 6
    known = (jnp.full(n, 0.3), jnp.full(n, 0.5)) if shape == "dirichlet" else jnp.full(n, 0.6)
    return information_mix(diagonal, 1, info=known)


def to_go(learnt=LEARNT):
    base = reward_to_go(standardise=False)
    return base.__class__(base.discount, base.memory, base.standardise, *learnt)


DIRICHLET = {
    "genotype": estimators.genotype,
    "phenotype": estimators.phenotype,
    "reward to go": to_go((jnp.zeros(3), jnp.zeros(3))),
    "reward to go, baseline": to_go(),
}
DEAR = {
    "reparameterised": estimators.reparameterised,
    "information mix": mix("dirichlet"),
    "exchangeable": estimators.exchangeable(3),
    "rao_blackwellise(genotype)": estimators.rao_blackwellise(estimators.genotype, 3),
}
GAUSSIAN = {
    "genotype": estimators.genotype,
    "reparameterised": estimators.reparameterised,
    "information mix": mix("gaussian"),
}


@functools.cache
def dirichlet_gradient():
    return np.asarray(jax.jit(jax.grad(mdp.dirichlet_objective))(Q.log_alpha))


@functools.cache
def softmax_gradient():
    return np.asarray(jax.jit(jax.grad(mdp.softmax_objective))(MEAN, SIGMA))


def estimates(estimators_, p, q, key, mirrored=False, part=flat, n=CHUNK):
    """Estimates of many populations with weights f: [chunks, psi] each."""

    def one(key):
        batch = population(q, p, key, n, mirrored)
        return {name: part(e(p, q, batch, batch.x.total)) for name, e in estimators_.items()}

    return chunks_of(one, key, CHUNKS)


@pytest.fixture(scope="module")
def dirichlet():
    dear = estimates(DEAR, Episodes(mdp.TABLE), Q, jax.random.key(6), n=FEW)
    return estimates(DIRICHLET, P, Q, jax.random.key(1)) | dear


@pytest.fixture(scope="module")
def gaussian():
    return estimates(GAUSSIAN, Episodes(mdp.TABLE), LOGITS, jax.random.key(2), part=lambda g: g.mean)


@pytest.mark.parametrize("name", [*DIRICHLET, *DEAR])
def test_dirichlet_estimators_are_unbiased(dirichlet, name):
    exact = dirichlet_gradient()
    assert_within(estimate(dirichlet[name]), np.ravel(exact))


@pytest.mark.parametrize("name", GAUSSIAN)
def test_gaussian_estimators_are_unbiased(gaussian, name):
    assert_within(estimate(gaussian[name]), softmax_gradient())


def test_antithetic_pairs_are_unbiased():
    out = estimates({"genotype": estimators.genotype}, Episodes(mdp.TABLE), LOGITS, jax.random.key(3), True, lambda g: g.mean)
    assert_within(estimate(out["genotype"]), softmax_gradient())


def test_greedy_policies_are_unbiased():
    out = estimates({"genotype": estimators.genotype}, Episodes(mdp.TABLE, greedy), LOGITS, jax.random.key(4), part=lambda g: g.mean)
    assert_within(estimate(out["genotype"]), jax.jit(jax.grad(mdp.greedy_objective))(MEAN, SIGMA))


def test_score_at_the_mean_is_biased():
    """Erratum 17: the test can tell. The paper's leading term is off by over 10 standard errors."""

    def at_the_mean(p, q, batch, w):
        there = jnp.broadcast_to(q.mean[None], batch.theta.shape)
        return replace(q, mean=w @ p.theta_score(batch.x, there) / w.size, log_std=jnp.zeros(()))

    out = estimates({"mean": at_the_mean}, Episodes(mdp.TABLE), LOGITS, jax.random.key(2), part=lambda g: g.mean, n=4 * CHUNK)
    off = estimate(out["mean"])
    exact = np.asarray(softmax_gradient())
    assert np.max(np.abs(off.mean - exact) / off.se) > 10


def powers(estimators_, p, q, key, psi=slice(None)):
    """E |w s|^2 of one individual, by chunk, over the parameters `psi`."""

    def one(key):
        batch = population(q, p, key, FEW)
        w = batch.x.total
        each = {name: w[:, None] * individual_scores(e, p, q, batch)[:, psi] for name, e in estimators_.items()}
        return {name: jnp.mean(jnp.sum(rows**2, axis=1)) for name, rows in each.items()}

    return chunks_of(one, key, 40)


def assert_below(powers_, small, large, sigmas=5.0):
    """On the same individuals: the mean of the difference is above 0 by so many standard errors."""
    difference = estimate(powers_[large] - powers_[small])
    assert difference.mean > sigmas * difference.se, f"{large} - {small} = {difference.mean} +- {difference.se}"


def test_variances_are_ordered():
    plain = {name: DIRICHLET[name] for name in ("genotype", "phenotype")}
    out = powers(plain | DEAR, Episodes(mdp.TABLE), Q, jax.random.key(5))
    for between in ("exchangeable", "rao_blackwellise(genotype)"):
        assert_below(out, "phenotype", between)
        assert_below(out, between, "genotype")
    assert_below(out, "phenotype", "reparameterised")
    assert_below(out, "phenotype", "information mix")


def test_variance_of_the_mix_is_below_both():
    """In the mean of Gaussian search, with A from the weighted second moments of other populations."""
    p, mean, both = Episodes(mdp.TABLE), slice(0, 6), ("genotype", "reparameterised")
    batch = population(LOGITS, p, jax.random.key(7), 50_000)
    rows = [batch.x.total[:, None] * individual_scores(GAUSSIAN[name], p, LOGITS, batch)[:, mean] for name in both]
    by_q, by_p = (jnp.mean(row**2, axis=0) for row in rows)
    known = information_mix(diagonal, 1, info=by_p / by_q / SIGMA**2)
    out = powers({**{name: GAUSSIAN[name] for name in both}, "mix": known}, p, LOGITS, jax.random.key(8), mean)
    for name in both:
        assert_below(out, "mix", name)


def test_reward_to_go_takes_variance_out(dirichlet):
    """Variance of a whole estimate: earlier rewards and the baseline are noise."""
    variance = {name: np.sum(dirichlet[name].var(axis=0, ddof=1)) for name in DIRICHLET}
    # 80 populations: the variance is known to sqrt(2 / 79) / sqrt(6), about 7 %
    assert variance["reward to go, baseline"] < 0.8 * variance["phenotype"]
    assert variance["phenotype"] < 0.8 * variance["genotype"]


def test_return_as_weight_of_every_step_is_the_phenotype_estimator(key):
    """The sum of the scores of the urns over time is the score of the marginal."""
    x = play(mdp.TABLE, key, ALPHA, 50, record=True)
    # one reward at the end of each episode, so that every step is followed by the whole return
    last = np.arange(4)[None] == np.asarray(x.length)[:, None] - 1
    paid_late = x._replace(steps=x.steps._replace(reward=jnp.asarray(np.where(last, np.asarray(x.total)[:, None], 0.0))))
    own = to_go((jnp.zeros(3), jnp.zeros(3)))(P, Q, Batch(None, x=paid_late), x.total)
    np.testing.assert_allclose(own.log_alpha, estimators.phenotype(P, Q, Batch(None, x=x), x.total).log_alpha, atol=1e-12)


def test_closed_scores_are_the_gradients_of_log_prob(key):
    theta = jax.vmap(LOGITS.push)(LOGITS.draw(key, 20))
    p = Episodes(mdp.TABLE)
    x = p.sample_all(key, theta)
    by_hand = jax.jit(jax.vmap(jax.grad(p.log_prob, argnums=1)))(x, theta)
    np.testing.assert_allclose(p.theta_score(x, theta), by_hand, atol=1e-12)
    w = jnp.linspace(-1.0, 1.0, 20)
    mean = lambda log_alpha: jnp.mean(w * jax.vmap(p.marginal(replace(Q, log_alpha=log_alpha)).log_prob)(x))  # noqa: E731
    marginal = jax.jit(jax.grad(mean))(Q.log_alpha)
    np.testing.assert_allclose(p.marginal_score(Q, x, w).log_alpha, marginal, atol=1e-12)


def test_baseline_is_the_running_mean_of_rewards_to_go(key):
    x = play(mdp.TABLE, key, ALPHA, 200, record=True)
    batch = Batch(None, x=x)
    learnt = reward_to_go(discount=0.9).start(P, Q, batch).observe(P, Q, batch)
    sums, visits = np.zeros(3), np.zeros(3)
    state, reward = np.asarray(x.steps.state), np.asarray(x.steps.reward)
    for i, length in enumerate(np.asarray(x.length)):
        for t in range(length):
            sums[state[i, t]] += sum(0.9 ** (u - t) * reward[i, u] for u in range(t, length))
            visits[state[i, t]] += 1
    np.testing.assert_allclose(learnt.paid, sums, rtol=1e-9)
    np.testing.assert_allclose(learnt.mass, visits)
    assert visits.sum() == np.asarray(x.length).sum()


def test_quick_draws_have_the_law_of_the_slow_ones():
    """First two moments of log-probabilities against digamma and trigamma, 100 000 draws."""
    from jax.scipy.special import digamma, polygamma

    alpha = jnp.asarray([0.02, 0.3, 1.0, 6.0])
    theta = np.asarray(log_dirichlet(jax.random.key(9), alpha, 100_000))
    exact = np.asarray(digamma(alpha) - digamma(jnp.sum(alpha)))
    variance = np.asarray(polygamma(1, alpha) - polygamma(1, jnp.sum(alpha)))
    se = np.sqrt(variance / 100_000)
    assert np.all(np.abs(theta.mean(axis=0) - exact) < 5 * se)
    fourth = np.mean((theta - theta.mean(axis=0)) ** 4, axis=0)
    assert np.all(np.abs(theta.var(axis=0) - variance) < 5 * np.sqrt((fourth - variance**2) / 100_000))


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 30.0])
def test_quick_gamma_draws(shape):
    import scipy.stats

    draws = np.exp(np.asarray(log_gamma(jax.random.key(3), jnp.asarray([shape]), 20_000), float)[:, 0])
    assert scipy.stats.kstest(draws, scipy.stats.gamma(shape).cdf).pvalue > 1e-4


def test_misuse():
    with pytest.raises(ValueError, match="discount must be in"):
        reward_to_go(discount=1.5)
    with pytest.raises(ValueError, match="record=True"):
        reward_to_go().start(P, Q, Batch(None, x=play(mdp.TABLE, jax.random.key(0), ALPHA, 2)))
    with pytest.raises(ValueError, match="under Dirichlet"):
        Episodes(mdp.TABLE).marginal(LOGITS)
    with pytest.raises(ValueError, match="table must be a Table"):
        Episodes("FrozenLake-v1")
