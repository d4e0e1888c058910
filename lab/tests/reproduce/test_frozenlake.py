"""The FrozenLake section: settings, and verdicts that go both ways."""

import numpy as np
import pytest
from phenes_lab import report
from phenes_lab.reproduce.frozenlake import claims, compute, figures, results, settings
from phenes_lab.reproduce.frozenlake.settings import FrozenlakeSettings


def test_settings_are_those_of_the_paper():
    full = FrozenlakeSettings()
    assert (full.seeds, full.generations, full.popsize, full.rate) == (10, 500, 100, 0.01)
    assert 1.0 in full.totals
    assert 0.01 in full.sigmas
    assert set(full.parts) == {*settings.METHODS, settings.VARIANCE}
    assert set(FrozenlakeSettings.quick().parts) == set(full.parts)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sigmas": ()},
        {"totals": (-1.0,)},
        {"methods": ("ES",)},
        {"methods": ("ES", "PAES-SGD", "x")},
    ],
)
def test_wrong_settings(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FrozenlakeSettings(**wrong)


def test_first_and_best():
    values = np.zeros((3, 2, 100))
    values[0, :, 40:] = 0.72  # late and good
    values[1, :, 10:] = 0.715  # early and as good
    values[2, :, 5:] = 0.701  # first, and worse
    np.testing.assert_array_equal(compute.first(values, 0.7), [[41, 41], [11, 11], [6, 6]])
    assert compute.best(values, 0.7) == 1
    assert np.all(np.isinf(compute.first(values, 0.75)))


def synthetic(**times):
    """Runs that step from 0 to 0.73 at a given generation (plus the seed), by method; never where
    it is infinite.
    """
    full = FrozenlakeSettings()
    parts = {}
    for method, how in settings.METHODS.items():
        points = how.points(full)
        at = np.array([[times.get(method, 50.0) + seed for seed in range(10)]] * len(points))
        value = np.where(np.arange(500)[None, None] >= at[..., None], 0.73, 0.0)
        parts[method] = {
            "value": value,
            "unlimited": value,
            "population": value,
            "flat": np.zeros(value.shape),
            "held": np.zeros(value.shape),
            "stochastic": value[..., -1],
            "timed": np.array(1.0),
            "running": np.array(1.0),
            "compilation": np.array(1.0),
        }
    shape = (3, 10, 20)
    parts[settings.VARIANCE] = {
        name: np.full(shape, 2.0) for name in ("gain", "signal_genotype", "signal_phenotype")
    }
    return results.FrozenlakeResults(full, "0", "done", [], parts)


class TestVerdicts:
    def pick(self, data, words):
        (verdict,) = (claim.verdict for claim in claims.claims(data) if words in claim.claim)
        return verdict

    def test_two_seeds_test_nothing(self):
        data = synthetic()
        for part in data.parts.values():
            part |= {key: values[:, :2] for key, values in part.items() if values.ndim > 1}
        assert {claim.verdict for claim in claims.claims(data)} == {report.UNTESTED}

    def test_faster(self):
        data = synthetic(**{"ES": 100.0, "PAES-SGD": 40.0, "clean-genotype": np.inf})
        assert self.pick(data, '"PAES converges') == report.HOLDS
        assert self.pick(data, "wall-clock") == report.HOLDS
        assert self.pick(data, "natural gradient in log alpha") == report.HOLDS
        assert self.pick(data, "caption") == report.HOLDS
        assert self.pick(data, "reward-to-go") == report.FAILS
        assert self.pick(data, "smaller variance") == report.HOLDS

    def test_slower(self):
        data = synthetic(
            **{"ES": 40.0, "PAES-SGD": 100.0, "clean-phenotype": np.inf, "default": 30.0}
        )
        assert self.pick(data, '"PAES converges') == report.FAILS
        assert self.pick(data, "wall-clock") == report.FAILS
        assert self.pick(data, "natural gradient in log alpha") == report.FAILS
        assert self.pick(data, "reward-to-go") == report.HOLDS

    @pytest.mark.parametrize(
        ("first", "last", "verdict"),
        [
            (40.0, 0.69, report.HOLDS),
            (40.0, 0.67, report.PARTLY),
            (40.0, 0.6, report.PARTLY),
            (120.0, 0.73, report.FAILS),
        ],
    )
    def test_the_caption_asks_for_comparable_ends_and_for_paes_first(self, first, last, verdict):
        """ES steps to 0.73 at generation 100."""
        data = synthetic(**{"ES": 100.0, "PAES-SGD": first})
        data.parts["PAES-SGD"]["value"][..., 400:] = last
        assert self.pick(data, "caption") == verdict

    def test_the_default_must_not_collapse(self):
        data = synthetic(default=30.0)
        data.parts["default"]["value"][0, 3, 400:410] = 0.2
        assert data.best("default").collapsed == 1
        assert self.pick(data, "reward-to-go") == report.PARTLY

    @pytest.mark.parametrize(
        ("ratio", "verdict"),
        [
            (0.79, report.HOLDS),
            (0.81, report.PARTLY),
            (0.99, report.PARTLY),
            (1.01, report.FAILS),
        ],
    )
    def test_the_clock_asks_for_less_than_four_fifths(self, ratio, verdict):
        data = synthetic()
        data.parts["PAES-SGD"]["timed"] = np.array(ratio)
        assert self.pick(data, "wall-clock") == verdict

    @pytest.mark.parametrize(("least", "verdict"), [(44.0, report.HOLDS), (45.0, report.FAILS)])
    def test_the_default_asks_for_fifty_generations_by_the_median(self, least, verdict):
        """Medians of 49.5 and 50.5."""
        assert self.pick(synthetic(default=least), "reward-to-go") == verdict

    def test_the_default_asks_for_every_seed(self):
        data = synthetic(default=30.0)
        data.parts["default"]["value"][:, 3] = 0.0
        assert self.pick(data, "reward-to-go") == report.PARTLY

    @pytest.mark.parametrize(
        ("behind", "again", "verdict"),
        [
            (0.009, False, report.HOLDS),
            (0.011, False, report.PARTLY),
            (0.009, True, report.PARTLY),
            (0.011, True, report.FAILS),
        ],
    )
    def test_the_highest_reward_is_within_a_hundredth_and_stays(self, behind, again, verdict):
        """behind: of S = 1 to the others, at the end; again: one of its runs falls."""
        data = synthetic()
        points = settings.METHODS["PAES-SGD"].points(data.settings)
        value = data.parts["PAES-SGD"]["value"]
        for k, point in enumerate(points):
            if point["total"] == 1.0:
                value[k, :, 400:] -= behind
                value[k, 3, 300:310] = 0.2 if again else 0.73
        assert self.pick(data, "at S = 1 the converged") == verdict

    @pytest.mark.parametrize(
        ("earlier", "lower", "verdict"),
        [
            (1, 0.011, report.HOLDS),
            (1, 0.009, report.PARTLY),
            (0, 0.011, report.PARTLY),
            (0, 0.009, report.FAILS),
        ],
    )
    def test_small_totals_are_sooner_there_and_end_lower(self, earlier, lower, verdict):
        """All get there at 51 + seed; S = 0.4 so many generations sooner, S = 0.1 ends lower."""
        data = synthetic()
        points = settings.METHODS["PAES-SGD"].points(data.settings)
        value = data.parts["PAES-SGD"]["value"]
        for k, point in enumerate(points):
            if point["total"] == 0.4 and earlier:
                value[k, :, :-1] = value[k, :, 1:].copy()
            if point["total"] == 0.1:
                value[k, :, 400:] -= lower
        assert self.pick(data, "when S is smaller than 1") == verdict

    def test_spread(self):
        data = synthetic()
        data.parts["ES"]["value"][:2] = 0.0
        assert self.pick(data, "σ is no less than 0.1") == report.HOLDS
        data.parts["ES"]["value"][4:] = 0.0
        assert self.pick(data, "σ is no less than 0.1") == report.PARTLY
        data.parts["ES"]["value"][1] = 0.74  # σ = 0.03
        assert self.pick(data, "σ is no less than 0.1") == report.FAILS

    def test_weights_and_constraint(self):
        data = synthetic()
        assert self.pick(data, "erratum 25") == report.HOLDS
        data.parts["PAES-SGD"]["flat"][0, 0, 3] = 1
        data.parts["PAES-SGD"]["held"][0, 0, 3] = 2
        assert self.pick(data, "erratum 25") == report.FAILS
        assert self.pick(data, "erratum 22") == report.FAILS

    def test_eight_tenths(self):
        data = synthetic()
        assert self.pick(data, "about 0.8") == report.FAILS
        for end, verdict in ((0.789, report.FAILS), (0.791, report.PARTLY)):
            data.parts["ES"]["unlimited"] = 0 * data.parts["ES"]["value"] + end
            assert self.pick(data, "about 0.8") == verdict
        for end, verdict in ((0.789, report.PARTLY), (0.791, report.HOLDS)):
            data.parts["ES"]["value"][..., 400:] = end
            assert self.pick(data, "about 0.8") == verdict

    def test_all_pictures_of_all_methods_can_be_drawn(self):
        data = synthetic(ES=np.inf)
        for draw in (
            figures.main,
            figures.sweep,
            figures.clock,
            figures.clean,
            figures.estimators,
        ):
            assert draw(data) is not None
