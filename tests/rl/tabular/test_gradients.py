"""Every estimator on one problem, against the exact gradient by enumeration. Standard errors come
from independent populations.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from phenes import estimators, search
from phenes._trees import replace
from phenes.batch import Batch
from phenes.diagnostics import individual_scores
from phenes.estimators import diagonal, information_mix
from phenes.rl.tabular import Episodes, greedy, moves, play, reward_to_go
from phenes.rl.tabular.learners import log_dirichlet, log_gamma
from phenes.rl.tabular.playing import Episode
from tests.laws.statistics import assert_within, estimate, once, population
from tests.optimised import for_long
from tests.rl.tabular import mdp

CHUNKS, CHUNK = 80, 2000
FEW = 400  # individuals of a population for estimators that draw more of them
ALPHA = jnp.asarray([[0.4, 1.1], [2.0, 0.3], [0.7, 0.8]])
MEAN, SIGMA = jnp.asarray([0.3, -0.4, 0.0, 0.9, -0.2, 0.1]), 0.8
Q, LOGITS = search.Dirichlet(ALPHA), search.IsotropicGaussian(MEAN, SIGMA)
P = Episodes(mdp.TABLE, record=True)
LEARNT = jnp.asarray([0.4, 0.2, 1.1]), jnp.asarray([1.0, 1.0, 1.0])


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
    "genotype": estimators.genotype,
    "phenotype": estimators.phenotype,
    "reparameterised": estimators.reparameterised,
    # with the information fixed beforehand, as it is after past generations
    "information mix": information_mix(diagonal, 1, info=(jnp.full(6, 0.3), jnp.full(6, 0.5))),
    "exchangeable": estimators.exchangeable(3),
    "rao_blackwellise(genotype)": estimators.rao_blackwellise(estimators.genotype, 3),
}
ES = {"genotype": estimators.genotype}
GAUSSIAN = {
    "genotype": estimators.genotype,
    "reparameterised": estimators.reparameterised,
}


class Sample(NamedTuple):
    """Of independent populations: estimates with weights f [chunks, psi], and second moments of
    what they are averages of [chunks].
    """

    g: np.ndarray
    power: np.ndarray


def sample(estimators_, p, q, key, n=CHUNK, psi=slice(None), mirrored=False):
    """All of them on the same individuals."""

    def one(key):
        batch = population(q, p, key, n, mirrored)
        return {name: of_one(e, batch) for name, e in estimators_.items()}

    def of_one(e, batch):
        rows = individual_scores(e, p, q, batch)[:, psi]
        # reward-to-go has weights of its own
        weighted = rows if hasattr(e, "paid") else batch.x.total[:, None] * rows
        return Sample(jnp.mean(weighted, axis=0), jnp.mean(jnp.sum(weighted**2, axis=1)))

    chunks = for_long(lambda keys: jax.lax.map(one, keys))(jax.random.split(key, CHUNKS))
    return jax.tree.map(np.asarray, chunks)


@pytest.fixture(scope="module")
def dirichlet():
    return sample(DIRICHLET, P, Q, jax.random.key(1))


@pytest.fixture(scope="module")
def dear():
    return sample(DEAR, Episodes(mdp.TABLE), Q, jax.random.key(6), FEW)


@pytest.fixture(scope="module")
def gaussian():
    mix = information_mix(diagonal, 1, info=measured_information(jax.random.key(7)))
    return sample(
        GAUSSIAN | {"information mix": mix},
        Episodes(mdp.TABLE),
        LOGITS,
        jax.random.key(2),
        psi=slice(0, 6),
    )


@once
def measured_information(key):
    """I_p from another population, such that I_p / I_q is the ratio of the second moments with
    weights, which A has to balance.
    """
    p = Episodes(mdp.TABLE)
    batch = population(LOGITS, p, key, 20_000)
    rows = [
        batch.x.total[:, None] * individual_scores(e, p, LOGITS, batch)[:, :6]
        for e in GAUSSIAN.values()
    ]
    by_q, by_p = (jnp.mean(row**2, axis=0) for row in rows)
    return by_p / by_q / SIGMA**2


@pytest.fixture(scope="module")
def dirichlet_gradient():
    return np.ravel(once(jax.grad(mdp.dirichlet_objective))(Q.log_alpha))


@pytest.fixture(scope="module")
def softmax_gradient():
    return np.asarray(once(jax.grad(mdp.softmax_objective))(MEAN, jnp.asarray(SIGMA)))


@pytest.mark.tier("rl")
@pytest.mark.parametrize("name", DIRICHLET)
def test_dirichlet_estimators_are_unbiased(dirichlet, dirichlet_gradient, name):
    assert_within(estimate(dirichlet[name].g), dirichlet_gradient)


@pytest.mark.parametrize("name", DEAR)
@pytest.mark.tier("rl")
def test_estimators_that_draw_or_differentiate_are_unbiased(dear, dirichlet_gradient, name):
    assert_within(estimate(dear[name].g), dirichlet_gradient)


@pytest.mark.tier("rl")
@pytest.mark.parametrize("name", [*GAUSSIAN, "information mix"])
def test_gaussian_estimators_are_unbiased(gaussian, softmax_gradient, name):
    assert_within(estimate(gaussian[name].g), softmax_gradient)


@pytest.mark.tier("rl")
def test_antithetic_pairs_are_unbiased(softmax_gradient):
    pairs = sample(
        ES, Episodes(mdp.TABLE), LOGITS, jax.random.key(3), psi=slice(0, 6), mirrored=True
    )
    assert_within(estimate(pairs["genotype"].g), softmax_gradient)


@pytest.mark.tier("rl")
def test_greedy_policies_are_unbiased():
    out = sample(ES, Episodes(mdp.TABLE, greedy), LOGITS, jax.random.key(4), psi=slice(0, 6))
    assert_within(
        estimate(out["genotype"].g), once(jax.grad(mdp.greedy_objective))(MEAN, jnp.asarray(SIGMA))
    )


@pytest.mark.tier("rl")
def test_score_at_the_mean_is_biased(softmax_gradient):
    """Erratum 17: the tests above can tell. The paper's leading term is off by over 10 standard
    errors.
    """

    def at_the_mean(p, q, batch, w):
        there = jnp.broadcast_to(q.mean[None], batch.theta.shape)
        return replace(q, mean=w @ p.theta_score(batch.x, there) / w.size, log_std=jnp.zeros(()))

    off = estimate(
        sample(
            {"mean": at_the_mean},
            Episodes(mdp.TABLE),
            LOGITS,
            jax.random.key(2),
            4 * CHUNK,
            slice(0, 6),
        )["mean"].g
    )
    assert np.max(np.abs(off.mean - softmax_gradient) / off.se) > 10


def assert_below(samples, small, large, sigmas=5.0):
    """Second moments on the same individuals: the mean of the difference is above 0 by so many
    standard errors.
    """
    difference = estimate(samples[large].power - samples[small].power)
    assert difference.mean > sigmas * difference.se, (
        f"{large} - {small} = {difference.mean} +- {difference.se}"
    )


@pytest.mark.tier("rl")
def test_variances_are_ordered(dear):
    """Phenotype below all, genotype above what is partly Rao-Blackwellised."""
    for between in ("exchangeable", "rao_blackwellise(genotype)"):
        assert_below(dear, "phenotype", between)
        assert_below(dear, between, "genotype")
    assert_below(dear, "phenotype", "reparameterised")
    assert_below(dear, "phenotype", "information mix")


@pytest.mark.tier("rl")
def test_variance_of_the_mix_is_below_both(gaussian):
    for name in ("genotype", "reparameterised"):
        assert_below(gaussian, "information mix", name)


@pytest.mark.tier("rl")
def test_reward_to_go_takes_variance_out(dirichlet):
    """Earlier rewards and what the state is worth anyhow are noise."""
    assert_below(dirichlet, "phenotype", "genotype")
    assert_below(dirichlet, "reward to go", "phenotype")
    assert_below(dirichlet, "reward to go, baseline", "reward to go")


def test_return_as_weight_of_every_step_is_the_phenotype_estimator(key):
    """The sum of the scores of the urns over time is the score of the marginal."""

    @once
    def both(key):
        x = play(mdp.TABLE, key, ALPHA, 50, record=True)
        # one reward at the end of each episode, so that every step is followed by the whole return
        last = jnp.arange(4, dtype=jnp.int32)[None] == x.length[:, None] - 1
        paid_late = x._replace(
            steps=x.steps._replace(reward=jnp.where(last, x.total[:, None], 0.0))
        )
        own = to_go((jnp.zeros(3), jnp.zeros(3)))(P, Q, Batch(None, x=paid_late), x.total)
        return own.log_alpha, estimators.phenotype(P, Q, Batch(None, x=x), x.total).log_alpha

    np.testing.assert_allclose(*both(key), atol=1e-12)


def test_closed_scores_are_the_gradients_of_log_prob(key):
    p, w = Episodes(mdp.TABLE), jnp.linspace(-1.0, 1.0, 20)

    @once
    def scores(key):
        theta = jax.vmap(LOGITS.push)(LOGITS.draw(key, 20))
        x = p.sample_all(key, theta)
        by_hand = jax.vmap(jax.grad(p.log_prob, argnums=1))(x, theta)
        marginal = jax.grad(
            lambda log_alpha: jnp.mean(
                w * jax.vmap(p.marginal(replace(Q, log_alpha=log_alpha)).log_prob)(x)
            )
        )(Q.log_alpha)
        # without a limit the counts have no bound, and the sum over them has another form
        endless = Episodes(mdp.TABLE.limited(None)).marginal_score(Q, x, w).log_alpha
        on_alpha = moves.on_alpha(0.1, 1e-3).metric(p, Q, p.marginal_score(Q, x, w)).log_alpha
        return (
            p.theta_score(x, theta),
            by_hand,
            p.marginal_score(Q, x, w).log_alpha,
            marginal,
            endless,
            on_alpha,
        )

    theta_score, by_hand, closed, marginal, endless, on_alpha = scores(key)
    np.testing.assert_allclose(theta_score, by_hand, atol=1e-12)
    np.testing.assert_allclose(closed, marginal, atol=1e-12)
    np.testing.assert_allclose(endless, marginal, atol=1e-12)
    np.testing.assert_allclose(on_alpha, marginal / ALPHA, atol=1e-12)


def test_baseline_is_the_running_mean_of_rewards_to_go(key):
    @once
    def observe(key):
        batch = Batch(None, x=play(mdp.TABLE, key, ALPHA, 200, record=True))
        return batch.x, reward_to_go(discount=0.9).start(P, Q, batch).observe(P, Q, batch)

    x, learnt = observe(key)
    sums, visits = np.zeros(3), np.zeros(3)
    state, reward = np.asarray(x.steps.state), np.asarray(x.steps.reward)
    for i, length in enumerate(np.asarray(x.length)):
        for t in range(length):
            sums[state[i, t]] += sum(0.9 ** (u - t) * reward[i, u] for u in range(t, length))
            visits[state[i, t]] += 1
    np.testing.assert_allclose(learnt.paid, sums, rtol=1e-9)
    np.testing.assert_allclose(learnt.mass, visits)
    assert visits.sum() == np.asarray(x.length).sum()


@pytest.mark.tier("rl")
def test_quick_draws_have_the_law_of_the_slow_ones():
    """First two moments of log-probabilities against digamma and trigamma, 100 000 draws."""
    from jax.scipy.special import digamma, polygamma

    alpha = jnp.asarray([0.02, 0.3, 1.0, 6.0])
    theta = np.asarray(once(lambda key: log_dirichlet(key, alpha, 100_000))(jax.random.key(9)))
    exact = np.asarray(digamma(alpha) - digamma(jnp.sum(alpha)))
    variance = np.asarray(polygamma(1, alpha) - polygamma(1, jnp.sum(alpha)))
    se = np.sqrt(variance / 100_000)
    assert np.all(np.abs(theta.mean(axis=0) - exact) < 5 * se)
    fourth = np.mean((theta - theta.mean(axis=0)) ** 4, axis=0)
    assert np.all(
        np.abs(theta.var(axis=0) - variance) < 5 * np.sqrt((fourth - variance**2) / 100_000)
    )


def test_quick_gamma_draws():
    """Kolmogorov-Smirnov for small and large shapes, 20 000 draws each."""
    shapes = np.array([0.05, 0.7, 1.0, 30.0])
    draws = np.exp(
        np.asarray(
            once(lambda key: log_gamma(key, jnp.asarray(shapes), 20_000))(jax.random.key(3)), float
        )
    )
    for shape, column in zip(shapes, draws.T, strict=True):
        assert scipy.stats.kstest(column, scipy.stats.gamma(shape).cdf).pvalue > 1e-4


def test_misuse():
    with pytest.raises(ValueError, match="discount must be in"):
        reward_to_go(discount=1.5)
    with pytest.raises(ValueError, match="record=True"):
        reward_to_go().start(P, Q, Batch(None, x=Episode(*4 * [jnp.zeros(2)])))
    with pytest.raises(ValueError, match="under Dirichlet"):
        Episodes(mdp.TABLE).marginal(LOGITS)
    with pytest.raises(ValueError, match="table must be a Table"):
        Episodes("FrozenLake-v1")
