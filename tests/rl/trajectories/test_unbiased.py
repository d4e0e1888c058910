"""The algebra first: exact on linear policies, unbiased on small networks; what is biased is seen
to be.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes import estimators
from phenes.batch import Batch
from phenes.protocols import LearningEstimator
from phenes.rl.policies import MLP, GaussianHead, from_network
from phenes.rl.trajectories import (
    Genotype,
    Reparameterised,
    ScoreAtMean,
    Trajectories,
    Trajectory,
    credited,
    curved_mix,
    guarded_mix,
    linearised,
    mix,
)
from phenes.search import IsotropicGaussian
from tests.laws.statistics import chunks_of, estimate, once
from tests.rl.trajectories import small

REST = pytest.mark.tier("rl")

SIGMAS = 4.0
DISCRETE = small.Discrete(actions=2, steps=3, sigma=0.5)
THREE = small.Discrete(actions=3, steps=2, sigma=0.5, seed=1)
CONTINUOUS = small.Continuous(sigma=0.4, noise=0.5)


@functools.cache
def linear_population(n=6, steps=7, sigma=0.3, noise=0.4):
    """A linear policy with Gaussian actions, episodes of different lengths; and E[(theta - m)/s^2 |
    x] by Gaussian conditioning. Made once for all tests.
    """
    key = jax.random.key(5)
    policy, m = from_network(MLP(key, 3, 2, ()), GaussianHead(noise, [-jnp.inf] * 2, [jnp.inf] * 2))
    q, xi = IsotropicGaussian(m, sigma), jax.random.normal(key, (n, m.size))
    theta = jax.vmap(q.push)(xi)
    obs = jax.random.normal(jax.random.fold_in(key, 1), (n, steps, 3))
    mask = jnp.arange(steps)[None] < jnp.asarray([7, 7, 5, 3, 1, 7])[:n, None]
    out = once(jax.vmap(policy.outputs))(theta, obs)
    action = out + noise * jax.random.normal(jax.random.fold_in(key, 2), out.shape)
    x = Trajectory(obs, action, jnp.ones((n, steps)), mask, jnp.ones(n, bool), obs[:, 0])

    def exact(obs, action, mask):
        used = jnp.repeat(mask, 2).astype(obs.dtype)
        J = jax.jacobian(policy.outputs)(m, obs).reshape(-1, m.size) * used[:, None]
        r = (action - policy.outputs(m, obs)).reshape(-1) * used
        inverse = jnp.linalg.inv(jnp.eye(J.shape[0]) * noise**2 + sigma**2 * J @ J.T)
        pushed_through = (
            jnp.linalg.solve(jnp.eye(m.size) * noise**2 / sigma**2 + J.T @ J, J.T @ r) / sigma**2
        )
        return J.T @ inverse @ r, pushed_through

    return (
        Trajectories(policy),
        q,
        Batch(theta, x, None, xi, key),
        once(jax.vmap(exact))(obs, action, mask),
    )


@pytest.mark.parametrize(
    "estimator",
    [mix(), linearised(), linearised(every_step=False), curved_mix()],
    ids=["mix", "rbp", "few", "rbu"],
)
def test_linear_policies_are_rao_blackwellised_exactly(estimator):
    """And both forms of the conditional mean are the same (push-through)."""
    p, q, batch, (exact, through) = linear_population()
    np.testing.assert_allclose(through, exact, atol=1e-10)
    np.testing.assert_allclose(once(estimator.scores)(p, q, batch), exact, atol=1e-10)


def test_guarded_mix_is_the_genotype_at_first_and_the_mix_where_the_policy_is_linear():
    p, q, batch, (exact, _) = linear_population()
    first = guarded_mix().start(p, q, batch)
    np.testing.assert_allclose(
        once(first.scores)(p, q, batch), Genotype().scores(p, q, batch), atol=1e-12
    )
    np.testing.assert_allclose(
        once(lambda: first.observe(p, q, batch).scores(p, q, batch))(), exact, atol=1e-10
    )


def learnt(problem, estimator, key):
    """With what it learns learnt from a generation of its own."""
    if not isinstance(estimator, LearningEstimator):
        return estimator
    xi = problem.q.draw(key, 4)
    theta = jax.vmap(problem.q.push)(xi)
    x = jax.tree.map(lambda leaf: leaf[:4], jax.vmap(problem.given)(theta)[0])
    batch = Batch(theta, jax.tree.map(lambda leaf: leaf[:, 1], x), None, xi, key)
    return once(
        lambda: estimator.start(problem.p, problem.q, batch).observe(problem.p, problem.q, batch)
    )()


def error(problem, estimator, key, thetas, own_weights=False, at_once=100):
    """Estimator minus exact gradient, mean and standard error of each coordinate over draws of
    theta; and the exact gradient.
    """

    def one(key):
        xi = problem.q.draw(key, at_once)
        exact = small.truth(problem, xi)
        return jnp.stack(
            [small.conditional(problem, estimator, xi, key, own_weights) - exact, exact]
        ).mean(axis=1)

    difference, exact = np.moveaxis(chunks_of(one, key, thetas // at_once), 1, 0)
    return estimate(difference), exact.mean(axis=0)


UNBIASED = {
    "genotype": (DISCRETE, Genotype()),
    "mix, 2 states": (DISCRETE, mix(2)),
    "guarded": (DISCRETE, guarded_mix()),
    "curved, 2 states, 2 probes": (DISCRETE, curved_mix(2, 2)),
    "continuous, mix": (CONTINUOUS, mix()),
    "continuous, curved": (CONTINUOUS, curved_mix()),
}


@REST
@pytest.mark.parametrize("name", UNBIASED)
def test_unbiased(name, key):
    """40,000 draws of theta times 8 trajectories, or 4,000 times 100 nodes: every coordinate within
    4 standard errors of 0.
    """
    problem, estimator = UNBIASED[name]
    e, _ = error(
        problem, learnt(problem, estimator, key), key, 40_000 if problem is DISCRETE else 4_000
    )
    z = np.abs(e.mean) / e.se
    assert z.max() < SIGMAS, z


@pytest.mark.tier("rl")
def test_unbiased_with_three_actions(key):
    e, _ = error(THREE, curved_mix(), key, 20_000)
    assert np.max(np.abs(e.mean) / e.se) < SIGMAS


@pytest.mark.parametrize(
    "problem",
    [DISCRETE, pytest.param(small.Continuous(0.4, 0.5, nodes=48), marks=REST)],
    ids=["discrete", "continuous"],
)
def test_the_score_at_theta_is_the_exact_slope_given_theta(problem, key):
    """Up to the error of the quadrature, which 10 nodes leave at 6e-4."""
    xi = problem.q.draw(key, 10)
    exact = once(lambda: small.truth(problem, xi))()
    np.testing.assert_allclose(
        once(lambda: small.conditional(problem, Reparameterised(), xi, key))(), exact, atol=1e-7
    )


@REST
@pytest.mark.parametrize(
    "base",
    [
        pytest.param(Reparameterised(), id="theta"),
        pytest.param(guarded_mix(2), id="guarded"),
        pytest.param(curved_mix(2), id="curved"),
    ],
)
def test_weights_of_steps_leave_the_mean(base, key):
    """Reward to go less a value learnt from other data: within 4 standard errors again, and for the
    score at theta exact.
    """
    estimator = learnt(DISCRETE, credited(base, standardise=False), key)
    assert float(jnp.abs(estimator.value.fitted()).max()) > 0.01
    e, _ = error(DISCRETE, estimator, key, 40_000, own_weights=True)
    if isinstance(base, Reparameterised):
        np.testing.assert_allclose(e.mean, 0.0, atol=1e-10)
    else:
        assert np.max(np.abs(e.mean) / e.se) < SIGMAS


@pytest.mark.parametrize(
    ("problem", "thetas"), [(DISCRETE, 20_000), (CONTINUOUS, 4_000)], ids=["discrete", "continuous"]
)
@pytest.mark.tier("rl")
def test_biased(problem, thetas, key):
    """The score at the mean, and the linearised one, are off by more than 6 standard errors
    somewhere: no accident in 10^8.
    """
    for estimator in (ScoreAtMean(), linearised()):
        e, exact = error(problem, estimator, key, thetas)
        assert np.max(np.abs(e.mean) / e.se) > 6
        if isinstance(estimator, ScoreAtMean):
            assert np.linalg.norm(e.mean) > 0.02 * np.linalg.norm(exact)


@pytest.mark.parametrize(
    ("estimator", "same"),
    [(estimators.genotype, Genotype()), (estimators.reparameterised, Reparameterised())],
)
def test_estimators_of_the_core_work_on_trajectories(estimator, same):
    p, q, batch, _ = linear_population()
    w = jnp.arange(6.0)
    core, own = once(lambda: (estimator(p, q, batch, w), same(p, q, batch, w)))()
    np.testing.assert_allclose(core.mean, own.mean, atol=1e-10)
    assert float(own.log_std) == 0.0


def test_information_mix_of_the_core_works_on_trajectories():
    p, q, batch, _ = linear_population()
    learner = estimators.information_mix(order=1).start(p, q, batch)
    g = once(lambda: learner.observe(p, q, batch)(p, q, batch, jnp.arange(6.0)))()
    assert np.all(np.isfinite(g.mean))


def test_wrong_arguments():
    p, q, batch, _ = linear_population()
    with pytest.raises(ValueError, match="weights of single steps"):
        credited(Genotype()).start(p, q, batch).scores(p, q, batch)
    with pytest.raises(ValueError, match="past generations"):
        guarded_mix().scores(p, q, batch)
    with pytest.raises(ValueError, match="past generations"):
        credited(mix()).scores(p, q, batch)
    with pytest.raises(ValueError, match="must be one of trajectories"):
        credited("mix")
    with pytest.raises(ValueError, match="discount must be in"):
        credited(mix(), discount=0.0)
    with pytest.raises(ValueError, match="states must be"):
        mix(0)
