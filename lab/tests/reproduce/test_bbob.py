"""The BBOB section: one part is what it says, and verdicts go both ways."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from phenes_lab import report
from phenes_lab.reproduce.bbob import claims, compute, figures, results, settings
from phenes_lab.reproduce.bbob.report import rank_bias
from phenes_lab.reproduce.bbob.settings import BbobSettings

import phenes
from phenes import problems, search, weightings
from phenes.batch import Batch

TINY = BbobSettings(
    functions=(1,), methods=("ES", "PAES"), dim=5, seeds=2, generations=30, checkpoints=6, draws=256
)


@functools.cache
def computed(method):
    return compute.compute(TINY, settings.Part(1, method))


class TestPart:
    @pytest.mark.tier("lab")
    def test_the_loop_is_the_library_loop(self):
        """Segments between checkpoints are one run of `phenes.run` with the same key."""
        arrays = computed("PAES")
        problem = problems.bbob(1, 5)
        oiu = phenes.OIU(phenes.inputs.GaussianNoise(0.1), lambda x: problem.f_opt - problem(x))
        weighting = weightings.summed(weightings.truncated_ranks(0.8, 0.1))
        strategy = phenes.es(
            oiu.p,
            phenes.estimators.phenotype,
            weighting,
            optax.sgd(0.01),
            100,
            metric=phenes.metric.natural_marginal,
        )
        q0 = search.Gaussian(jnp.zeros(5), 0.5 * jnp.eye(5))
        state, info = phenes.run(jax.random.fold_in(jax.random.key(0), 1), oiu, strategy, q0, 30)
        assert arrays["f_mean"][1, -1] == pytest.approx(
            float(problem(state.q.mean)) - problem.f_opt, rel=1e-9
        )
        assert arrays["trace"][1, -1] == pytest.approx(float(jnp.trace(state.q.cov)), rel=1e-9)
        assert arrays["population"][1, -1] == pytest.approx(-float(info.f_mean[-1]), rel=1e-9)
        assert arrays["projected"][1, -1] == int(jnp.sum(info.projected))

    def test_expected_gap_of_the_sphere(self):
        """F(mean) - f(mean) = d sigma^2 up to the error of the draws."""
        arrays = computed("ES")
        se = np.hypot(0.1 * 2 * np.sqrt(arrays["f_mean"]), 0.01 * np.sqrt(2 * 5)) / np.sqrt(
            TINY.draws
        )
        assert np.all(np.abs(arrays["F_mean"] - arrays["f_mean"] - 5 * 0.01) < 4 * se)

    @pytest.mark.tier("lab")
    def test_printed_direction_differs_by_the_drift_of_erratum_1(self):
        q, p = search.Gaussian(jnp.zeros(3), 0.5 * jnp.eye(3)), phenes.inputs.GaussianNoise(0.1)
        x, w = jax.random.normal(jax.random.key(0), (10, 3)), jnp.linspace(0.0, 1.0, 10)
        batch = Batch(theta=x, x=x)
        right = phenes.metric.natural_marginal(p, q, phenes.estimators.phenotype(p, q, batch, w))
        printed = settings.printed(p, q, batch, w)
        np.testing.assert_allclose(printed.mean, right.mean, atol=1e-12)
        np.testing.assert_allclose(
            printed.cov - right.cov, (jnp.mean(w) - 1) * (0.51 * jnp.eye(3)), atol=1e-12
        )

    def test_weights_by_value_spread_as_those_by_rank(self):
        f = jax.random.normal(jax.random.key(0), (100,))
        by_rank, by_value = (
            make(BbobSettings())(f) for make in (settings.by_rank, settings.by_value)
        )
        assert float(jnp.std(by_value)) == pytest.approx(float(jnp.std(by_rank)), rel=1e-9)
        np.testing.assert_allclose(
            np.sort(by_rank)[::-1],
            100 * np.array(settings.by_rank_weights(BbobSettings())),
            atol=1e-12,
        )


def test_settings_are_those_of_the_paper():
    full = BbobSettings()
    assert (full.functions, full.seeds, full.generations, full.dim, full.popsize) == (
        tuple(range(1, 25)),
        10,
        5000,
        40,
        100,
    )
    assert full.recorded[0] == 1
    assert full.recorded[-1] == 5000
    assert len(full.parts) == 24 * 3 + 3 * 2 + 2 * 3 + 3
    assert {*settings.CURVES, *settings.DISPUTED} <= set(BbobSettings.quick().functions)


@pytest.mark.parametrize(
    "wrong",
    [
        {"functions": (0,)},
        {"functions": ()},
        {"methods": ("ES",)},
        {"methods": ("ES", "PAES", "x")},
        {"dim": 1},
    ],
)
def test_wrong_settings(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BbobSettings(**wrong)


def synthetic(gain, seeds=10, noise=0.05):
    """All functions, ES at 1 and PAES at 1 - gain(function)."""
    random, full = np.random.default_rng(0), BbobSettings(seeds=seeds)
    generations = full.recorded
    parts = {}
    for function in full.functions:
        for method in (*settings.MAIN, *settings.VALUE, *settings.PRINTED):
            end = 1 - gain(function, method) + noise * random.standard_normal((seeds, 1))
            curve = end + 9 * np.exp(-generations / 500)[None]
            parts[function, method] = {
                "generations": generations,
                "F_start": np.array(10.0),
                "F_nominal": np.array(0.5),
                "seconds": np.full(seeds, 1.0),
                "compilation": np.array(1.0),
                **dict.fromkeys(("F_mean", "f_mean", "population", "best"), curve),
                **dict.fromkeys(("trace", "projected", "skipped", "near"), np.ones(curve.shape)),
            }
    cost = dict.fromkeys(settings.METHODS, 0.0)
    return results.BbobResults(full, "0", "done", [], parts, {}, cost)


def better(function, method):
    return 0.5 if method.startswith("PAES") else 0.0


class TestVerdicts:
    def verdicts(self, data):
        return {claim.claim: claim.verdict for claim in claims.claims(data)}

    def pick(self, data, words):
        (verdict,) = (verdict for claim, verdict in self.verdicts(data).items() if words in claim)
        return verdict

    def test_clear_gains(self):
        data = synthetic(better)
        assert self.pick(data, "consistently") == report.HOLDS
        assert self.pick(data, "most functions") == report.HOLDS
        assert self.pick(data, "converges faster") == report.HOLDS
        assert self.pick(data, "significantly better") == report.HOLDS
        assert self.pick(data, "comparable") == report.HOLDS

    def test_two_seeds_test_nothing(self):
        words = {claim.verdict for claim in claims.claims(synthetic(better, seeds=2))}
        assert words == {report.UNTESTED}
        assert report.UNTESTED not in self.verdicts(synthetic(better, seeds=3)).values()

    def test_wins_are_corrected_for_their_number_and_losses_are_not(self):
        """A p of .01 on one function of 24 is chance as a win, and counts as a loss."""
        flat = np.linspace(-1, 1, 10)[:, None]
        se = np.std(flat, ddof=1) * np.sqrt(2 / 10)
        for sign, won, lost in ((-1, (), ()), (1, (), (5,))):
            data = synthetic(lambda f, m: 0.0)
            for function in data.functions("ES", "PAES"):
                for method in ("ES", "PAES"):
                    shift = sign * 2.9 * se if (function, method) == (5, "PAES") else 0.0
                    part = data.parts[function, method]
                    part["F_mean"] = 10 + flat + shift + np.zeros_like(part["F_mean"])
            assert data.against(5, "ES", "PAES").p == pytest.approx(0.0096, abs=1e-3)
            s = results.score(data, "ES", "PAES")
            assert (s.clear_wins, s.clear_losses) == (won, lost)

    def test_one_counterexample(self):
        data = synthetic(lambda f, m: -0.5 if f == 6 and m == "PAES" else better(f, m))
        assert self.pick(data, "consistently") == report.PARTLY
        assert results.score(data, "ES", "PAES").clear_losses == (6,)

    def test_losses(self):
        data = synthetic(lambda f, m: -better(f, m))
        assert self.pick(data, "consistently") == report.FAILS
        assert self.pick(data, "most functions") == report.FAILS
        assert self.pick(data, "lower objective value") == report.FAILS
        assert self.pick(data, "significantly better") == report.FAILS
        assert self.pick(data, "fail to minimise") == report.FAILS

    @pytest.mark.parametrize(
        ("clear", "slight", "verdict"),
        [
            (13, 0, report.HOLDS),
            (12, 0, report.FAILS),
            (8, 0, report.FAILS),
            (12, 1, report.PARTLY),
            (1, 12, report.PARTLY),
        ],
    )
    def test_most_is_more_than_half(self, clear, slight, verdict):
        """Of 24 functions; clear: by more than two standard errors."""

        def gain(function, method):
            if method != "PAES":
                return 0.0
            return 0.5 if function <= clear else -0.5

        data = synthetic(gain)
        for function in range(clear + 1, clear + slight + 1):  # ahead by a fifth of the error
            es = data.parts[function, "ES"]["F_mean"]
            apart = np.std(es[:, -1], ddof=1) * np.sqrt(2 / 10)
            data.parts[function, "PAES"]["F_mean"] = es - 0.2 * apart
        assert self.pick(data, "most functions") == verdict

    @pytest.mark.parametrize(
        ("paes", "es", "verdict"),
        [
            (0.97, 0.6, report.HOLDS),
            (0.95, 0.94, report.HOLDS),
            (0.97, 0.96, report.PARTLY),
            (0.7, 0.6, report.PARTLY),
            (0.6, 0.6, report.FAILS),
            (0.6, 0.7, report.FAILS),
        ],
    )
    def test_the_optimum_of_f20_is_found_at_nearly_all_coordinates(self, paes, es, verdict):
        data = synthetic(better)
        shift = 1e-3 * np.linspace(-1, 1, 10)[:, None]  # between seeds, with mean 0
        for method, share in (("PAES", paes), ("ES", es)):
            near = data.parts[20, method]["near"]
            data.parts[20, method]["near"] = share + 1e-12 + shift + 0 * near
        assert self.pick(data, "ES was unable") == verdict

    @pytest.mark.parametrize(
        ("ratio", "verdict"),
        [
            (4.0, report.FAILS),
            (2.6, report.FAILS),
            (2.0, report.PARTLY),
            (1.6, report.PARTLY),
            (1.4, report.HOLDS),
            (0.7, report.HOLDS),
            (0.5, report.PARTLY),
            (0.3, report.FAILS),
        ],
    )
    def test_times_are_comparable_within_a_factor(self, ratio, verdict):
        data = synthetic(better)
        for (_, method), arrays in data.parts.items():
            arrays["seconds"] = np.full(10, ratio if method == "PAES" else 1.0)
        assert self.pick(data, "comparable") == verdict

    @pytest.mark.parametrize(
        ("left", "apart", "verdict"),
        [
            (0.51, 0.09, report.HOLDS),
            (0.49, 0.09, report.PARTLY),
            (0.51, 0.11, report.PARTLY),
            (0.49, 0.11, report.FAILS),
        ],
    )
    def test_f23_keeps_half_of_the_gap_and_both_end_alike(self, left, apart, verdict):
        """F is 10 at the start; PAES ends with `left` of it, ES by `apart` of that above."""
        data = synthetic(better)
        for method, end in (("PAES", 10 * left), ("ES", 10 * left * (1 + apart))):
            data.parts[23, method]["F_mean"] = 0 * data.parts[23, method]["F_mean"] + end
        assert self.pick(data, "fail to minimise") == verdict

    @pytest.mark.parametrize(
        ("ratio", "verdict"),
        [
            (0.09, report.HOLDS),
            (0.11, report.PARTLY),
            (0.49, report.PARTLY),
            (0.51, report.FAILS),
        ],
    )
    def test_f23_is_flat_by_a_tenth(self, ratio, verdict):
        data, f = synthetic(better), np.linspace(0, 1, 50)
        step = np.array(0.01)
        data.landscapes[23] = {"f": f, "F": ratio * f, "spacing": np.array([1.0]), "step": step}
        assert self.pick(data, "becomes flat") == verdict

    @pytest.mark.parametrize(
        ("spacing", "of_20", "of_23"),
        [
            (0.32, report.PARTLY, report.HOLDS),
            (0.34, report.HOLDS, report.HOLDS),
            (0.99, report.HOLDS, report.HOLDS),
            (1.01, report.HOLDS, report.PARTLY),
            (2.99, report.HOLDS, report.PARTLY),
            (3.01, report.PARTLY, report.FAILS),
            (8.99, report.PARTLY, report.FAILS),
            (9.01, report.FAILS, report.FAILS),
        ],
    )
    def test_local_minima_on_the_scale_of_the_noise(self, spacing, of_20, of_23):
        """In standard deviations of the noise."""
        data, f = synthetic(better), np.linspace(0, 1, 50)
        apart = spacing * data.settings.noise
        for function in (20, 23):
            data.landscapes[function] = {
                "f": f,
                "F": f,
                "spacing": np.array([0.9, 1.0, 1.1]) * apart,
                "step": np.array(0.01),
            }
        assert self.pick(data, "on a scale comparable") == of_20
        assert self.pick(data, "within the input noise") == of_23

    def test_printed_formula_both_ways(self):
        assert (
            self.pick(synthetic(lambda f, m: 0.5 * (m == "printed")), "as printed") == report.HOLDS
        )
        assert self.pick(synthetic(better), "as printed") == report.FAILS

    def test_rank_bias_both_ways(self):
        by_ranks_only = synthetic(lambda f, m: -0.5 * (m == "PAES"))
        assert "loses with ranks only" in rank_bias(by_ranks_only, 6)
        in_both = synthetic(lambda f, m: -0.5 * (m in ("PAES", "PAES-value")))
        assert "loses in both" in rank_bias(in_both, 6)
        assert "no loss of PAES" in rank_bias(synthetic(better), 6)

    def test_what_diverged_is_drawn_and_reported(self):
        data = synthetic(better)
        data.parts[1, "printed"]["F_mean"] = np.full((10, data.settings.recorded.size), np.inf)
        data.parts[1, "printed-mean"]["F_mean"] = np.full((10, data.settings.recorded.size), 1e200)
        assert self.pick(data, "as printed") == report.FAILS
        assert figures.selected(data) is not None


def test_crossing():
    generations, curve = np.array([1, 10, 100]), np.array([100.0, 10.0, 1.0])
    assert results._crossing(generations, curve, 10**0.5) == pytest.approx(10**1.5)
    assert results._crossing(generations, curve, 200) == 1
    assert results._crossing(generations, curve, 0.5) == np.inf
