"""Earlier generations with importance weights: what is unbiased, what is not, and what it gains.

"Exact" are quadratures and enumerations; the rest has its standard error.
"""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import Batch, estimators, inputs, search, weightings
from phenes.estimators.reuse import reusing
from tests.laws import pairs
from tests.laws.statistics import assert_within, flat, once, over_chunks, population
from tests.laws.test_gradients import discrete_gradient, discrete_value, exact, values
from tests.tiers import STAYS

KINDS = {"balance": estimators.balance_weights, "ratio": estimators.ratio_weights}
GAUSSIAN = next(pair for pair in pairs.GAUSSIAN_PAIRS if pair.name == "full-full")
MIXTURE = next(pair for pair in pairs.MIXTURE_PAIRS if pair.name == "isotropic-mixture")
COUNTS = next(pair for pair in pairs.COUNT_PAIRS if pair.name == "gamma-poisson")
# what stays is exact: a sum over all outcomes, the first generation, the bound of the weights
pytestmark = pytest.mark.tier("laws")
IN_LOOP = pytest.mark.tier("rl")  # it has the loop among its code


def gradient(p, path, batches, weighting, weights, k=2):
    """The gradient at the last search law of a path, from its generation and k earlier ones."""
    learner = reusing(estimators.Reuse(k, weights), p, estimators.phenotype, weighting)
    shapes = jax.eval_shape(lambda: batches[0])
    learner = learner.start(p, path[0], shapes)
    for q, batch in zip(path, batches, strict=True):
        g, learner = learner.step(p, q, batch, jnp.ones(batch.f.shape[0]))
    return g, learner.ess


def shifted(q, by):
    """A search law nearby: every parameter moved by a share of a made-up direction."""
    arrays, rest = eqx.partition(q, eqx.is_inexact_array)
    leaves, tree = jax.tree.flatten(arrays)
    moved = [
        leaf + by * jnp.cos(jnp.arange(leaf.size, dtype=float)).reshape(leaf.shape)
        for leaf in leaves
    ]
    return eqx.combine(jax.tree.unflatten(tree, moved), rest)


def path_to(pair, step=0.15):
    if pair is GAUSSIAN:  # covariances stay symmetric
        return [
            search.Gaussian(pair.q.mean + s, (1 + s) * pair.q.cov) for s in (2 * step, -step, 0)
        ]
    return [shifted(pair.q, 2 * step), shifted(pair.q, -step), pair.q]


@pytest.mark.parametrize(
    ("pair", "kind"),
    [
        (GAUSSIAN, "balance"),
        (GAUSSIAN, "ratio"),
        (MIXTURE, "balance"),
    ],
    ids=str,
)
def test_unbiased_along_a_given_path(pair, kind, key):
    """The mean over many seeds is the exact gradient at the last law, of constant, linear and
    quadratic f, with two earlier generations of other laws.
    """
    centre, expected = exact(pair)
    path = path_to(pair)

    def chunk(key):
        keys = jax.random.split(key, 3)
        made = [population(q, pair.p, k, 200) for q, k in zip(path, keys, strict=True)]

        def of(function):
            def w(f):
                return f - jnp.array([0.5, 1.0, 1.0])[function] * centre[function]

            told = [b._replace(f=jax.vmap(values)(b.x)[:, function]) for b in made]
            return flat(gradient(pair.p, path, told, w, KINDS[kind])[0])

        return jax.vmap(of)(jnp.arange(3))

    found = over_chunks(chunk, key, 400)
    assert_within(found, expected)
    # the test would see a tenth of the gradient missing
    assert np.any(0.1 * np.abs(expected) > 5 * found.se)


def test_unbiased_for_counts(key):
    path = path_to(COUNTS)
    expected = np.asarray(discrete_gradient(COUNTS, discrete_value))

    def chunk(key):
        keys = jax.random.split(key, 3)
        made = [population(q, COUNTS.p, k, 100) for q, k in zip(path, keys, strict=True)]
        told = [b._replace(f=jax.vmap(discrete_value)(b.x)) for b in made]
        return flat(gradient(COUNTS.p, path, told, weightings.value, KINDS["ratio"])[0])

    assert_within(over_chunks(chunk, key, 400), expected)


@pytest.mark.parametrize(
    "name",
    [pytest.param("standardise", marks=STAYS), "centred_ranks", "value"],
)
def test_the_first_generation_is_that_without_reuse(name, key):
    weighting = getattr(weightings, name)

    @once
    def both(key):
        batch = population(GAUSSIAN.q, GAUSSIAN.p, key, 8)
        batch = batch._replace(f=jnp.sin(3 * batch.x[:, 0]))
        plain = estimators.phenotype(GAUSSIAN.p, GAUSSIAN.q, batch, weighting(batch.f))
        again = gradient(GAUSSIAN.p, [GAUSSIAN.q], [batch], weighting, KINDS["balance"], k=3)
        return plain, *again

    plain, g, ess = both(key)
    np.testing.assert_allclose(flat(g), flat(plain), rtol=1e-9, atol=1e-12)
    assert float(ess) == pytest.approx(8)


@pytest.mark.parametrize("kind", KINDS)
def test_effective_sample_size_and_variance(kind, key):
    """A search that stands still has all generations; the further it moves the fewer."""
    p = inputs.GaussianNoise(0.5)
    slope = jnp.array([0.7, -1.1])

    def chunk(k):
        """A program for all steps."""

        def one(key, step):
            path = [
                search.IsotropicGaussian(s * step * jnp.ones(2), 1.0)
                for s in (-3.0, -2.0, -1.0, 0.0)
            ]
            made = [
                population(q, p, i, 50) for q, i in zip(path, jax.random.split(key, 4), strict=True)
            ]
            told = [b._replace(f=b.x @ slope) for b in made][-1 - k :]
            g, ess = gradient(p, path[-1 - k :], told, weightings.value, KINDS[kind], max(k, 1))
            return jnp.concatenate([g.mean, ess[None]])

        each, keys = once(jax.vmap(one, (0, None))), jax.random.split(key, 400)
        return lambda step: np.asarray(each(keys, jnp.asarray(step)))

    alone = chunk(0)(0.0)[:, :2].var(0).sum()
    still, slow, fast = map(chunk(3), (0.0, 0.05, 0.7))
    np.testing.assert_allclose(still[:, 2], 200.0)
    # a variance from 400 runs in 2 coordinates has a relative standard error of about .05
    assert still[:, :2].var(0).sum() / alone == pytest.approx(0.25, rel=0.25)
    assert slow[:, :2].var(0).sum() / alone < 0.32
    assert 190 < slow[:, 2].mean() < 200
    assert fast[:, 2].mean() < 160


@STAYS
def test_balance_weights_have_a_bound():
    """n / n_now, whatever the densities are; ratios have none."""
    log_density = jnp.asarray(np.random.default_rng(0).normal(0, 30, (3, 40)))
    generation = jnp.asarray(np.repeat([0, 1, 2], [10, 10, 20]))
    numbers = jnp.array([10.0, 10.0, 20.0])
    bounded, free = (
        np.exp(w(log_density, numbers, generation)) for w in (KINDS["balance"], KINDS["ratio"])
    )
    assert 3.9 < bounded.max() <= 4 * (1 + 1e-12)
    assert free.max() > 1e6
    np.testing.assert_array_equal(free[:10], 1)


def missing_half(batch, which):
    return batch._replace(x=jnp.where(which[:, None], jnp.nan, batch.x))


@pytest.mark.parametrize("pair", [GAUSSIAN], ids=repr)
def test_unbiased_where_half_was_not_measured(pair, key):
    centre, expected = exact(pair)
    path = path_to(pair)
    half = jnp.arange(200) % 2 == 0

    def chunk(key):
        made = [
            population(q, pair.p, k, 200)
            for q, k in zip(path, jax.random.split(key, 3), strict=True)
        ]
        told = [missing_half(b._replace(f=jax.vmap(values)(b.x)[:, 1]), half) for b in made]
        g, ess = gradient(pair.p, path, told, lambda f: f - centre[1], KINDS["balance"])
        return jnp.append(flat(g), ess)

    found = over_chunks(chunk, key, 400)
    assert found.mean[-1] < 400  # the unmeasured of earlier generations are not there
    assert_within(type(found)(found.mean[:-1], found.se[:-1]), expected[1])


def test_nothing_measured_is_the_genotype_gradient(key):
    p, q = GAUSSIAN.p, GAUSSIAN.q

    @once
    def both(key):
        batch = population(q, p, key, 6)._replace(f=jnp.arange(6.0))
        batch = batch._replace(x=jnp.full_like(batch.x, jnp.nan))
        again = gradient(p, [q, q], [batch, batch], jnp.asarray, KINDS["balance"], 1)
        return estimators.genotype(p, q, batch, batch.f), *again

    plain, g, ess = both(key)
    np.testing.assert_allclose(flat(g), flat(plain), rtol=1e-9)
    assert float(ess) == pytest.approx(6)


# what holds in a run, where the search has moved because of the individuals it uses again

F = np.array([2.0, 0.5])  # f(0), f(1)
P = inputs.Bernoulli(1)


def told(x):
    """One individual and what it was worth."""
    return Batch(theta=jnp.zeros(1), x=x[None], f=jnp.asarray(F)[x.astype(int)][None])


@once
def true_gradient(q):
    return flat(eqx.filter_grad(lambda q: q.mean * (F[1] - F[0]))(q))


@once
def stepped(q, x, rate):
    """One individual, plain gradient ascent."""
    batch = told(x)
    g = estimators.phenotype(P, q, batch, batch.f)
    return q.move(jax.tree.map(lambda leaf: rate * leaf, g))[0]


@functools.cache
def estimated(weights, generations, weighting):
    """(path, x) -> g, compiled once for all tests."""
    return once(
        lambda path, x: flat(
            gradient(P, path, [told(one) for one in x], weighting, weights, generations - 1)[0]
        )
    )


def mean_error(weights, laws, generations=2, weighting=jnp.asarray):
    """E[g - gradient at the last law], by enumeration of all outcomes. laws(x) -> the path."""
    estimate = estimated(weights, generations, weighting)
    total = np.zeros(2)
    for outcome in itertools.product((0.0, 1.0), repeat=generations):
        path = laws(outcome)
        chance = np.prod(
            [float(q.mean) if x else 1 - float(q.mean) for q, x in zip(path, outcome, strict=True)]
        )
        error = estimate(path, [jnp.asarray(x) for x in outcome]) - true_gradient(path[-1])
        total += chance * np.asarray(error)
    return total


START = search.Beta(0.9, 1.6)


@pytest.mark.parametrize("kind", [pytest.param("balance", marks=STAYS), "ratio"])
def test_exact_by_enumeration_where_the_path_is_given(kind):
    given = [START, search.Beta(1.1, 1.4), search.Beta(1.2, 1.1)]
    error = mean_error(KINDS[kind], lambda x: given, 3)
    np.testing.assert_allclose(error, 0, atol=1e-12)


def test_the_mean_of_the_others_is_no_bias_of_ratios():
    given = [START, search.Beta(1.1, 1.4), search.Beta(1.2, 1.1)]
    error = mean_error(KINDS["ratio"], lambda x: given, 3, weightings.value)
    np.testing.assert_allclose(error, 0, atol=1e-12)
    # the balance heuristic asks for one baseline: of the order 1 / n
    other = mean_error(KINDS["balance"], lambda x: given, 3, weightings.value)
    assert np.abs(other).max() > 1e-6


def test_ratios_allow_earlier_laws_that_depend_on_earlier_individuals():
    """Only the last law is given: exact with plain ratios, not with the balance heuristic, whose
    mixture knows of a law that the first individual has moved.
    """
    last = search.Beta(1.2, 1.1)

    def laws(x):
        return [START, stepped(START, jnp.asarray(x[0]), 1.0), last]

    np.testing.assert_allclose(mean_error(KINDS["ratio"], laws, 3), 0, atol=1e-12)
    assert np.abs(mean_error(KINDS["balance"], laws, 3)).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_run_adds_is_of_the_order_of_its_step(kind):
    """In a run the last law has moved because of the individuals: no importance weights are
    unbiased then. The bias falls in proportion to the step.
    """

    def bias(rate):
        return mean_error(KINDS[kind], lambda x: [START, stepped(START, jnp.asarray(x[0]), rate)])

    scale = np.abs(true_gradient(START)).max()
    large, small = bias(0.02), bias(0.002)
    assert np.abs(large).max() > 1e-5 * scale
    np.testing.assert_allclose(small, large / 10, rtol=0.1)


def self_normalised(log_density, numbers, generation):
    """What must not be done: the weights divided by their mean."""
    log = KINDS["ratio"](log_density, numbers, generation)
    return log - jax.nn.logsumexp(log) + jnp.log(float(log.size))


def test_self_normalised_weights_would_be_biased():
    given = [START, search.Beta(1.1, 1.4), search.Beta(1.2, 1.1)]
    assert np.abs(mean_error(self_normalised, lambda x: given, 3)).max() > 1e-3


# the option of es

NOISE = inputs.GaussianNoise(0.3)
PROBLEM = phenes.OIU(NOISE, lambda x: -jnp.sum((x - 1.0) ** 2))
Q0 = search.IsotropicGaussian(np.zeros(3), 1.0)


def strategy(p=NOISE, estimator=estimators.phenotype, popsize=20, **options):
    return phenes.es(p, estimator, weightings.standardise, optax.sgd(0.1), popsize, **options)


@IN_LOOP
def test_runs_compiled_and_over_seeds(key):
    go = jax.jit(jax.vmap(lambda k: phenes.run(k, PROBLEM, strategy(reuse=3), Q0, 60)))
    state, info = go(jax.random.split(key, 3))
    assert np.all(np.linalg.norm(state.q.mean - 1, axis=1) < 0.6)
    np.testing.assert_allclose(info.ess[:, 0], 20, rtol=1e-5)
    assert np.all(info.ess[:, 1:] > 20 * 1.0)
    assert np.all(info.ess < 80 * (1 + 1e-5))
    assert info.ess.shape == (3, 60)


@IN_LOOP
def test_the_host_gets_the_same_numbers_and_a_state_goes_on(key):
    made = strategy(reuse=estimators.Reuse(2, estimators.ratio_weights))
    compiled, info = jax.jit(lambda key: phenes.run(key, PROBLEM, made, Q0, 6))(key)
    half, _ = phenes.run_host(key, PROBLEM, made, Q0, 3)
    whole, told_info = phenes.run_host(key, PROBLEM, made, half, 3)
    np.testing.assert_allclose(whole.q.mean, compiled.q.mean, rtol=1e-9)
    np.testing.assert_allclose(told_info.ess, info.ess[3:], rtol=1e-9)


@IN_LOOP
def test_repeated_draws_and_schedules(key):
    p = inputs.Repeated(NOISE, 3)
    problem = phenes.OIU(p, PROBLEM.f)
    made = strategy(p, popsize=8, reuse=2, std=optax.linear_schedule(1.0, 0.5, 20))
    state, info = jax.jit(lambda key: phenes.run(key, problem, made, Q0, 40))(key)
    assert float(jnp.linalg.norm(state.q.mean - 1)) < 0.7
    assert np.all(np.isfinite(info.ess))


@STAYS
def test_without_reuse_nothing_is_reported(key):
    _, info = jax.jit(lambda key: phenes.run(key, PROBLEM, strategy(), Q0, 2))(key)
    assert info.ess is None


@IN_LOOP
def test_a_point_population(key):
    """No spread of theta at all: P(x) is the noise alone, and earlier x still count."""
    q = search.Gaussian(np.zeros(2), np.zeros((2, 2)))
    made = strategy(metric=phenes.metric.plain, reuse=2, std=None)
    state, info = jax.jit(lambda key: phenes.run(key, PROBLEM, made, q, 5))(key)
    assert np.all(np.isfinite(state.q.mean))
    assert float(info.ess[-1]) > 20


@STAYS
def test_what_is_refused(key):
    with pytest.raises(
        ValueError, match=r"reuse must go with estimators.phenotype, .*, got genotype"
    ):
        strategy(estimator=estimators.genotype, reuse=2)
    with pytest.raises(ValueError, match="got InformationMix"):
        strategy(estimator=estimators.information_mix(), reuse=2)
    with pytest.raises(ValueError, match="HeteroscedasticNoise has no marginal in closed form"):
        strategy(p=inputs.HeteroscedasticNoise(pairs.hetero_std), reuse=2)
    for given in (0, -1, 1.5, "3", True):
        with pytest.raises(ValueError, match="reuse must be a whole number of at least 1"):
            strategy(reuse=given)
    with pytest.raises(ValueError, match="weights must be a function"):
        estimators.Reuse(2, "balance")
    made = strategy(reuse=2)
    state = made.init(Q0)
    batch = made.ask(key, state)
    with pytest.raises(ValueError, match="reuse must be told the realised x"):
        made.tell(state, batch._replace(f=jnp.ones(20)))
    with pytest.raises(ValueError, match="same estimator"):
        made.tell(strategy().init(Q0), batch._replace(x=batch.theta, f=jnp.ones(20)))
