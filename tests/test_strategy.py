"""The loop as users run it: compiled, on the host, with trouble in f.

Most of the time goes into compiling. Runs of the same strategy are therefore one program, `paes`,
and what they show is read from it: the compiled run, its report, the same numbers on the host.
"""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import phenes
from phenes import diagnostics, estimators, inputs, metric, search, weightings
from phenes.loop import differs
from phenes.search.full_gaussian import project_psd

NOISE = inputs.GaussianNoise(0.3)
PROBLEM = phenes.OIU(p=NOISE, f=lambda x: -jnp.sum((x - 1.0) ** 2))

IN_FULL = pytest.mark.tier("rl")


def strategy(
    estimator=estimators.phenotype,
    weighting=weightings.standardise,
    lr=0.1,
    popsize=40,
    p=NOISE,
    **options,
):
    return phenes.es(p, estimator, weighting, optax.sgd(lr), popsize, **options)


def full(d=3):
    return search.Gaussian(np.zeros(d), np.eye(d))


def spread(q):
    if isinstance(q, search.Gaussian):
        return np.sqrt(np.trace(q.cov) / 3)
    return np.exp(np.mean(q.log_std))


PAES = strategy()  # one object: what is compiled for it serves every test
TRACED = []  # an entry for each time that the program below is traced


@pytest.fixture(scope="module")
def paes():
    """200 generations with a full covariance, and (mean, covariance) after each."""
    TRACED.clear()

    @jax.jit
    def go(key, q0):
        TRACED.append(1)
        return phenes.run(key, PROBLEM, PAES, q0, 200, report=lambda state, _: state.q)

    return go


FAMILIES = {
    "full": full(),
    "diagonal": search.DiagonalGaussian(np.zeros(3), 1.0),
    "isotropic": search.IsotropicGaussian(np.zeros(3), 1.0),
}
# one after the other: the full covariance stands for all in `make test`
IN_TURN = [
    pytest.param(q, id=name, marks=() if name == "full" else IN_FULL)
    for name, q in FAMILIES.items()
]


def climbs(state, info):
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.3)
    assert info.f_mean[-20:].mean() > info.f_mean[:20].mean() + 2
    assert int(state.generation) == 200


def test_paes_climbs_and_reports_what_is_asked_for(paes, key):
    state, (info, each) = paes(key, full())
    climbs(state, info)
    assert each.mean.shape == (200, 3)
    assert info.f_mean.shape == (200,)
    np.testing.assert_array_equal(each.mean[-1], state.q.mean)


@pytest.mark.parametrize(
    ("q0", "estimator"),
    [
        ("full", estimators.genotype),
        pytest.param("diagonal", estimators.phenotype, marks=IN_FULL),
        pytest.param("diagonal", estimators.genotype, marks=IN_FULL),
        pytest.param("isotropic", estimators.genotype, marks=IN_FULL),
        pytest.param("isotropic", estimators.phenotype, marks=IN_FULL),
    ],
)
def test_both_algorithms_climb(q0, estimator, key):
    climbs(
        *jax.jit(
            lambda key: phenes.run(key, PROBLEM, strategy(estimator), FAMILIES[q0], steps=200)
        )(key)
    )


@IN_FULL
def test_script_three_of_the_front_door():
    problem = phenes.OIU(p=phenes.inputs.GaussianNoise(0.1), f=lambda x: -jnp.sum(x**2))
    made = phenes.es(
        problem.p,
        phenes.estimators.phenotype,
        phenes.weightings.standardise,
        optax.sgd(0.1),
        popsize=100,
    )
    q0 = phenes.search.Gaussian(jnp.ones(5), jnp.eye(5))
    keys = jax.random.split(jax.random.key(0), 3)
    state, info = jax.jit(jax.vmap(lambda k: phenes.run(k, problem, made, q0, steps=100)))(keys)
    assert state.q.mean.shape == (3, 5)
    assert info.f_mean.shape == (3, 100)
    assert np.all(info.f_mean[:, -1] > -1)


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(estimator, id=name, marks=() if name == "mix" else IN_FULL)
        for name, estimator in {
            "reparameterised": estimators.reparameterised,
            "mix": estimators.information_mix(),
            "mix full": estimators.information_mix(estimators.full),
            "exchangeable": estimators.exchangeable(4),
            "coordinates": estimators.exchangeable_coordinates(8),
            "rao-blackwell": estimators.rao_blackwellise(estimators.genotype, 4),
            "two-point": estimators.two_point,
            "two-point RB": estimators.two_point_phenotype,
            "linear": estimators.biased_linear(),
        }.items()
    ],
)
def test_every_estimator_runs_in_the_loop(estimator, key):
    state, info = jax.jit(
        lambda key: phenes.run(key, PROBLEM, strategy(estimator), FAMILIES["diagonal"], steps=200)
    )(key)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.4)
    assert not np.any(info.skipped)


@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(estimators.mirrored, marks=IN_FULL),
        estimators.mirrored_phenotype,
        pytest.param(estimators.phenotype, marks=IN_FULL),
    ],
    ids=lambda f: f.__name__,
)
def test_mirrored_pairs_in_the_loop(estimator, key):
    made = strategy(estimator, mirrored=True)
    batch = made.ask(key, made.init(full()))
    np.testing.assert_allclose(batch.theta[:20] + batch.theta[20:], 0.0, atol=1e-12)
    state, _ = jax.jit(lambda key: phenes.run(key, PROBLEM, made, full(), steps=200))(key)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.3)


@pytest.mark.parametrize(
    "weighting",
    [
        pytest.param(weightings.value, marks=IN_FULL),
        pytest.param(weightings.centred_ranks, marks=IN_FULL),
        pytest.param(weightings.normalised(weightings.truncated_ranks()), marks=IN_FULL),
        weightings.log_ranks,
    ],
)
def test_every_weighting_in_the_loop(weighting, key):
    state, _ = jax.jit(
        lambda key: phenes.run(
            key, PROBLEM, strategy(weighting=weighting, lr=0.05), FAMILIES["isotropic"], steps=400
        )
    )(key)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.4)


@IN_FULL
@pytest.mark.parametrize("chosen", [metric.plain, metric.natural, metric.natural_marginal])
def test_every_metric_in_the_loop(chosen, key):
    state, _ = jax.jit(
        lambda key: phenes.run(key, PROBLEM, strategy(metric=chosen, lr=0.03), full(), steps=500)
    )(key)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.5)


@IN_FULL
def test_any_optax_optimiser(key):
    made = phenes.es(
        NOISE,
        estimators.phenotype,
        weightings.centred_ranks,
        optax.chain(optax.clip(1.0), optax.adam(0.05)),
        40,
        metric=metric.plain,
    )
    with jax.numpy_dtype_promotion("standard"):  # inside optax.adam a count meets a rate
        state, _ = jax.jit(
            lambda key: phenes.run(key, PROBLEM, made, FAMILIES["diagonal"], steps=300)
        )(key)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.4)


def test_host_loop_gives_the_same_numbers(paes, key):
    _, (_, each) = paes(key, full())
    by_numpy = phenes.OIU(p=NOISE, f=lambda x: -np.sum((x - 1.0) ** 2))
    seen = []
    hosted, info = phenes.run_host(
        key,
        by_numpy,
        PAES,
        full(),
        20,
        callback=lambda state, batch, info: seen.append(batch.theta) and None,
    )
    np.testing.assert_allclose(hosted.q.mean, each.mean[19], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(hosted.q.cov, each.cov[19], rtol=1e-9, atol=1e-12)
    assert len(seen) == info.f_mean.shape[0] == 20


def test_a_callback_ends_the_run(key):
    _, info = phenes.run_host(
        key,
        PROBLEM,
        PAES,
        full(),
        50,
        callback=lambda state, batch, info: int(state.generation) == 7,
    )
    assert info.f_mean.shape == (7,)


def test_exceptions_and_nan_on_the_host_are_counted_and_survived(key):
    calls = []

    def fragile(x):
        calls.append(x)
        if len(calls) % 5 == 0:
            raise RuntimeError("the simulator crashed")
        return float("nan") if len(calls) % 7 == 0 else -np.sum((x - 1) ** 2)

    state, info = phenes.run_host(key, phenes.OIU(NOISE, fragile), PAES, full(), 100)
    assert len(calls) == 4000
    assert np.sum(info.failed) == sum(1 for n in range(1, 4001) if n % 5 == 0 or n % 7 == 0)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.4)


@pytest.fixture(scope="module")
def broken():
    """f is NaN beyond a limit."""

    def go(key, limit):
        def f(x):
            return jnp.where(x[0] > limit, jnp.nan, -jnp.sum((x - 1.0) ** 2))

        return phenes.run(key, phenes.OIU(NOISE, f), PAES, full(), steps=150)

    return jax.jit(go)


def test_nan_from_a_compiled_f_is_counted_and_survived(broken, key):
    state, info = broken(key, 1.2)
    assert np.sum(info.failed) > 0
    assert np.all(np.isfinite(state.q.mean))
    assert np.all(np.isfinite(info.f_mean))


def test_f_that_always_fails_leaves_everything_where_it_was(broken, key):
    state, info = broken(key, -np.inf)
    np.testing.assert_array_equal(state.q.mean, np.zeros(3))
    np.testing.assert_array_equal(info.failed, 40)
    np.testing.assert_array_equal(info.f_mean, np.nan)
    np.testing.assert_array_equal(info.f_best, -np.inf)


@pytest.mark.parametrize(
    ("returns", "said"),
    [
        (lambda: None, "it returned None, NaN or infinity"),
        (lambda: np.inf, "it returned None, NaN or infinity"),
        (lambda: 1 / 0, "ZeroDivisionError"),
    ],
    ids=["None", "inf", "raises"],
)
def test_a_host_whose_f_never_works_stops_after_the_first_generation(key, returns, said):
    """And one that works once does not."""
    calls, best = [], []

    def f(x):
        calls.append(x)
        return 1.0 if len(calls) in best else returns()

    go = lambda: phenes.run_host(key, phenes.OIU(NOISE, f), PAES, full(), 2)  # noqa: E731
    with pytest.raises(RuntimeError, match=f"f failed at all 40 points .* {said}"):
        go()
    assert len(calls) == 40
    calls, best = [], [7]
    np.testing.assert_array_equal(go()[1].failed, [39, 40])


def test_laws_that_were_written_alike_are_the_same():
    """Two functions of one text are two objects; what is traced is not looked at."""
    alike = [inputs.HeteroscedasticNoise(lambda theta: 0.1 + theta**2) for _ in range(2)]
    assert not differs(*alike)
    assert differs(alike[0], inputs.HeteroscedasticNoise)
    noise = inputs.GaussianNoise
    assert not differs(noise(0.1), noise(np.float64(0.1)))
    assert differs(noise(0.1), noise([0.1, 0.1]))
    assert differs(noise(0.1), noise(0.1, bias=np.ones(2)))
    assert differs(inputs.Repeated(noise(0.1), 2), inputs.Repeated(noise(0.1), 3))
    assert differs(inputs.Repeated(noise(0.1), 2), inputs.Repeated(noise(0.3), 2))
    jax.eval_shape(lambda scale: jnp.asarray(differs(noise(scale), noise(0.1))), 0.1)


def test_a_direction_that_is_not_finite_is_skipped_and_counted(key):
    poisoned = lambda p, q, batch, w: jax.tree.map(  # noqa: E731
        lambda leaf: leaf * jnp.nan, estimators.genotype(p, q, batch, w)
    )
    state, info = jax.jit(
        lambda key: phenes.run(key, PROBLEM, strategy(poisoned), full(), steps=3)
    )(key)
    np.testing.assert_array_equal(info.skipped, 1)
    np.testing.assert_array_equal(state.q.mean, np.zeros(3))


def test_projection_is_counted_and_keeps_the_cone(key):
    """Weights of both signs, large steps and the metric of x: the covariance leaves its cone again
    and again.
    """
    made = strategy(metric=metric.natural_marginal, lr=1.0)
    state, info = jax.jit(lambda key: phenes.run(key, PROBLEM, made, full(), steps=60))(key)
    assert np.sum(info.projected) > 5
    assert np.linalg.eigvalsh(state.q.cov)[0] >= 0
    assert np.all(np.isfinite(info.f_mean))


def test_projection_under_vmap_equals_the_loop(key):
    a = jax.random.normal(key, (6, 4, 4))
    cov = a + jnp.swapaxes(a, 1, 2) + 2 * jnp.eye(4)[None]
    together, counts = jax.jit(jax.vmap(project_psd))(cov)
    one = jax.jit(project_psd)
    for i in range(6):
        alone, count = one(cov[i])
        np.testing.assert_allclose(together[i], alone, atol=1e-12)
        assert counts[i] == count == int(np.linalg.eigvalsh(cov[i])[0] <= 0)
        assert np.linalg.eigvalsh(alone)[0] > 0
    assert 0 < int(counts.sum()) < 6


@IN_FULL
def test_exponential_steps_never_need_projection(key):
    made = strategy(lr=0.5, move=search.exponential)
    state, info = jax.jit(lambda key: phenes.run(key, PROBLEM, made, full(), steps=100))(key)
    assert np.sum(info.projected) == 0
    assert np.linalg.eigvalsh(state.q.cov)[0] > 0
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.4)


@IN_FULL
def test_natural_steps_with_positive_weights_never_need_projection(key):
    made = strategy(weighting=weightings.log_ranks, lr=0.5)
    _, info = jax.jit(lambda key: phenes.run(key, PROBLEM, made, full(), steps=300))(key)
    assert np.sum(info.projected) == 0


@pytest.mark.parametrize("q0", IN_TURN)
def test_std_is_kept_or_scheduled(q0, key):
    """A number is a schedule that stays; as one program with where the schedule ends."""

    @jax.jit
    def go(key, start, end):
        made = strategy(std=optax.linear_schedule(start, end, 30))
        return phenes.run(key, PROBLEM, made, q0, steps=30)[0].q

    found = [spread(go(key, *ends)) for ends in ((0.2, 0.2), (0.5, 0.1))]
    np.testing.assert_allclose(found, [0.2, 0.1], rtol=1e-6)
    number, schedule = strategy(std=0.2), strategy(std=optax.constant_schedule(0.2))
    np.testing.assert_allclose(spread(number.init(q0).q), 0.2, rtol=1e-6)
    np.testing.assert_array_equal(spread(number.init(q0).q), spread(schedule.init(q0).q))


@IN_FULL
def test_repeated_evaluations(key):
    p = inputs.Repeated(NOISE, 4)
    problem, made = phenes.OIU(p, PROBLEM.f), strategy(p=p)
    state, (_, means) = jax.jit(
        lambda key: phenes.run(
            key, problem, made, full(), steps=150, report=lambda state, _: state.q.mean
        )
    )(key)
    np.testing.assert_allclose(state.q.mean, 1.0, atol=0.3)
    by_numpy = phenes.OIU(p, lambda x: -np.sum((x - 1.0) ** 2))
    hosted, _ = phenes.run_host(key, by_numpy, made, full(), 10)
    np.testing.assert_allclose(hosted.q.mean, means[9], rtol=1e-9, atol=1e-12)


@IN_FULL
def test_dirichlet_search_learns_a_bandit(key):
    p, q0 = inputs.Multinomial(3), search.Dirichlet(np.ones((2, 4)))
    reward = jnp.array([[0.0, 0.2, 1.0, 0.1], [1.0, 0.0, 0.3, 0.2]])
    problem = phenes.OIU(p, lambda x: jnp.sum(reward * x))
    state, _ = jax.jit(lambda key: phenes.run(key, problem, strategy(p=p, lr=0.3), q0, steps=200))(
        key
    )
    np.testing.assert_array_equal(np.argmax(state.q.mean, axis=1), [2, 0])
    assert np.all((state.q.alpha >= 1e-3 * 0.999) & (state.q.alpha <= 1e4 * 1.001))


@IN_FULL
def test_gamma_and_beta_search(key):
    count = phenes.OIU(inputs.Poisson(), lambda x: -jnp.sum((x - 6.0) ** 2))
    state, _ = jax.jit(
        lambda key: phenes.run(
            key,
            count,
            strategy(p=count.p, lr=0.1),
            search.Gamma(2.0 * np.ones(2), np.ones(2)),
            steps=300,
        )
    )(key)
    # E (x - 6)^2 = (rate - 6)^2 + rate is least at 5.5
    np.testing.assert_allclose(state.q.mean, 5.5, atol=1.0)
    coin = phenes.OIU(inputs.Bernoulli(10), lambda x: -jnp.sum((x - 7.0) ** 2))
    state, _ = jax.jit(
        lambda key: phenes.run(
            key, coin, strategy(p=coin.p, lr=0.1), search.Beta(np.ones(2), np.ones(2)), steps=300
        )
    )(key)
    np.testing.assert_allclose(state.q.mean, 0.7, atol=0.12)


@IN_FULL
def test_gate_search_with_a_network(key):
    """Two experts, each good in one half of the contexts: the gate learns which (psi inside an
    equinox module).
    """
    net = eqx.nn.MLP(1, 2, 8, 1, key=key)
    q0 = search.Gate(net, lambda key: jax.random.uniform(key, (1,), minval=-1.0))
    p = inputs.Experts(lambda c: jnp.log(jnp.array([[0.95, 0.05], [0.05, 0.95]])))
    problem = phenes.OIU(p, lambda x: ((x.index == 1) == (x.context[0] > 0)).astype(float))
    made = phenes.es(
        p, estimators.phenotype, weightings.standardise, optax.adam(0.05), 100, metric=metric.plain
    )
    with jax.numpy_dtype_promotion("standard"):  # inside optax.adam a count meets a rate
        _, info = eqx.filter_jit(lambda key: phenes.run(key, problem, made, q0, steps=200))(key)
    assert info.f_mean[-20:].mean() > 0.85
    assert info.f_mean[0] < 0.7


def test_a_run_goes_on_from_a_state_as_if_it_had_never_stopped(key):
    made = strategy(estimators.information_mix())
    go = jax.jit(
        lambda key, start, steps: phenes.run(key, PROBLEM, made, start, steps), static_argnums=2
    )
    whole, _ = go(key, FAMILIES["diagonal"], 20)
    half, _ = go(key, FAMILIES["diagonal"], 10)
    rest, _ = go(key, half, 10)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(rest), strict=True):
        np.testing.assert_array_equal(a, b)
    hosted, _ = phenes.run_host(key, PROBLEM, made, half, 10)
    np.testing.assert_allclose(hosted.q.mean, whole.q.mean, rtol=1e-9)


def test_one_compilation_for_all_keys_and_starting_points(paes):
    for seed in range(3):
        paes(jax.random.key(seed), jax.tree.map(lambda leaf, s=seed: leaf * (1.0 + s), full()))
    assert len(TRACED) == paes._cache_size() == 1
    paes.eval_shape(jax.random.key(0), full(4))
    assert len(TRACED) == 2


def test_same_key_same_run_other_key_other_run(paes, key):
    first, again, other = (paes(k, full())[0].q.mean for k in (key, key, jax.random.key(1)))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


@pytest.mark.parametrize(
    "family",
    [
        lambda: search.Gaussian(np.zeros(3), np.eye(3)),
        pytest.param(lambda: search.DiagonalGaussian(np.zeros(3), 1.0), marks=IN_FULL),
        pytest.param(lambda: search.IsotropicGaussian(np.zeros(3), 1.0), marks=IN_FULL),
    ],
    ids=FAMILIES,
)
def test_the_library_works_in_single_precision(family):
    """No float64 constant sneaks in: with x64 off everything stays float32."""
    with jax.enable_x64(False):
        problem = phenes.OIU(inputs.GaussianNoise(0.3), lambda x: -jnp.sum((x - 1.0) ** 2))
        made, q0 = strategy(p=problem.p), family()
        state, _ = jax.jit(lambda key: phenes.run(key, problem, made, q0, steps=100))(
            jax.random.key(0)
        )
        assert state.q.mean.dtype == jnp.float32
        np.testing.assert_allclose(state.q.mean, 1.0, atol=0.4)


class TestDiagnostics:
    q, p = search.IsotropicGaussian(np.zeros(5), 0.5), inputs.GaussianNoise(0.5)

    compare = staticmethod(eqx.filter_jit(diagnostics.compare))
    misfit = staticmethod(eqx.filter_jit(diagnostics.misfit))

    def batch(self, key, n, p=None):
        """In one program, and one for each size: the noise is its argument."""
        return self.program(n)(key, self.p if p is None else p)

    @classmethod
    @functools.cache
    def program(cls, n):
        made = strategy(p=cls.p, popsize=n)
        first = made.init(cls.q)

        def draw(key, p):
            return phenes.OIU(p, PROBLEM.f).realise(key, 0, made.ask(key, first))

        return eqx.filter_jit(draw)

    def test_gain_and_its_prediction(self, key):
        """C/S = 1: the score of the mean has 2 times the power, that of log s 4 times: (2 * 5/v + 4
        * 10/4) / (5/v + 10/4) for v = 1/2.
        """
        batch = self.batch(key, 20_000)
        w = jnp.ones(20_000)
        found = self.compare(self.p, self.q, batch, w)
        mean, spread = 5 / 0.5, 2 * 5 * 0.25
        expected = (2 * mean + 4 * spread) / (mean + spread)
        np.testing.assert_allclose(found.predicted_gain, expected, rtol=0.05)
        np.testing.assert_allclose(found.gain, expected, rtol=0.05)
        np.testing.assert_allclose(found.effective, 20_000)

    def test_signal_fraction(self, key):
        """Without signal (constant weights) it is about 0, with a strong one about 1, and phenotype
        sees more than genotype.
        """
        batch = self.batch(key, 5000)
        none = self.compare(self.p, self.q, batch, jnp.ones(5000))
        assert abs(none.signal_phenotype) < 3
        w = weightings.standardise(jax.vmap(PROBLEM.f)(batch.x))
        strong = self.compare(self.p, self.q, batch, w)
        assert 0.8 < strong.signal_genotype < strong.signal_phenotype < 1
        assert strong.variance_phenotype < strong.variance_genotype

    def test_in_every_generation(self, key):
        made = strategy(popsize=50, monitor=diagnostics.compare)
        _, info = jax.jit(
            lambda key: phenes.run(key, PROBLEM, made, FAMILIES["diagonal"], steps=20)
        )(key)
        assert info.monitor.gain.shape == (20,)
        assert np.mean(info.monitor.gain) > 1

    def test_misfit_of_the_right_model_is_small(self, key):
        batch = self.batch(key, 500)
        found = self.misfit(key, self.p, batch.theta, batch.x)
        assert abs(found.z) < 4
        np.testing.assert_allclose(found.ratio, 1.0, atol=0.15)

    @pytest.mark.parametrize(
        ("world", "sign"),
        [
            (inputs.GaussianNoise(0.7), -1),
            (inputs.GaussianNoise(0.35), 1),
            (inputs.GaussianNoise(0.5, bias=0.4 * np.ones(5)), -1),
            (inputs.StudentTNoise(0.5, 2.0), -1),
        ],
        ids=["larger", "smaller", "biased", "heavy tails"],
    )
    def test_misfit_of_a_wrong_model_shows(self, world, sign, key):
        batch = self.batch(key, 500, world)
        found = self.misfit(key, self.p, batch.theta, batch.x)
        assert sign * found.z > 4

    def test_misfit_names_the_bias(self, key):
        batch = self.batch(key, 2000, inputs.GaussianNoise(0.5, bias=0.4 * np.ones(5)))
        np.testing.assert_allclose(
            self.misfit(key, self.p, batch.theta, batch.x).bias, 0.4, atol=0.1
        )
