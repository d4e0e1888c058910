"""Contexts: data that are what they say, and verdicts that go both ways."""

import numpy as np
import pytest
from phenes_lab import report
from phenes_lab.reproduce.contexts import claims, data, figures, learners, results, settings
from phenes_lab.reproduce.contexts.settings import ContextsSettings


class TestSettings:
    def test_all_of_it_by_default(self):
        full = ContextsSettings()
        assert (full.seeds, full.rounds) == (10, 40_000)
        assert {part.partition("/")[0] for part in full.parts} == {
            *settings.METHODS,
            *settings.VARIANCES,
        }
        assert set(ContextsSettings.quick().parts) == set(full.parts)

    @pytest.mark.parametrize(
        ("wrong", "words"),
        [
            ({"methods": ("magic",)}, "methods must be of"),
            ({"sets": ("mnist",)}, "sets must be of"),
            ({"rounds": 0}, "rounds must be a whole number"),
            ({"rounds": 1500, "points": 10}, "rounds must be a multiple"),
            ({"totals": ()}, "totals must hold"),
            ({"totals": (-1.0,)}, "totals must be positive"),
            ({"experts": 1}, "experts must be a whole number"),
        ],
    )
    def test_wrong(self, wrong, words):
        with pytest.raises(ValueError, match=words):
            ContextsSettings(**wrong)


class TestData:
    def test_a_linear_expert_can_do_each_region_and_none_can_do_all(self):
        """Three wedges around a point are the argmax of three affine functions."""
        c = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
        g, y = data.region_of(c), data.label_of(c)
        for k, centre in enumerate(data.CENTRES):
            middle = (np.arange(3) + 0.5) * 2 * np.pi / 3 - k * np.pi / 4
            wedge = np.argmax((c - centre) @ np.stack([np.cos(middle), np.sin(middle)]), axis=1)
            np.testing.assert_array_equal(y[g == k], (wedge[g == k] + k) % 3)
        assert np.bincount(y).min() > 1000
        assert np.bincount(g).min() > 900

    def test_splits_are_apart_and_the_same_for_all_methods(self):
        first, again = (data.load.__wrapped__("wine", 2, 7) for _ in range(2))
        np.testing.assert_array_equal(first.train_c, again.train_c)
        assert not np.array_equal(first.train_y[0], first.train_y[1])
        rows = {tuple(row) for row in first.train_c[0]}
        assert not any(tuple(row) in rows for row in first.test_c[0])

    def test_without_scikit_learn(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", None)
        with pytest.raises(RuntimeError, match=r"needs scikit-learn: pip install -e ./lab"):
            data.load.__wrapped__("digits", 1, 0)


def test_logistic_regression_learns_wine():
    out = learners.logistic(data.load("wine", 1, 0), [{"C": 1.0}], np.array([60, 200]), 0)
    assert out.shape == (1, 1, 2)
    assert out.min() > 0.85


def test_normalised_mutual_information():
    group = np.repeat(np.arange(4), 100)
    assert results.normalised_mutual_information(3 - group, group) == pytest.approx(1)
    assert results.normalised_mutual_information(group % 2, group) == pytest.approx(0.5)
    assert results.normalised_mutual_information(np.zeros(400, int), group) == pytest.approx(0)


def synthetic(gain=2.0, **final):
    """Runs that end at a given accuracy (the seed decides the fourth digit), by method."""
    full = ContextsSettings(points=10)
    parts = {}
    for part in full.parts:
        kind, _, name = part.partition("/")
        if kind in settings.VARIANCES:
            shape = (10, 5) if "experts" in kind else (10, 5, 2)
            parts[part] = {
                "rounds": np.arange(1, 6),
                "genotype": np.full(shape, gain),
                "mix": np.full(shape, 1.5),
            }
            continue
        accuracy = np.full(
            (len(settings.METHODS[kind].points), 10, 10), final.get(kind.replace("-", "_"), 0.8)
        )
        accuracy += 1e-4 * np.arange(10)[None, :, None]
        n = data.load(name, 10, full.seed).test_y.shape[1]
        plane = np.zeros((len(accuracy), 10, figures.GRID**2), np.int8)
        gate = np.full((len(accuracy), 10, n, 4), 0.25)
        end = (
            {"gate": gate, "speaker": plane, "answer": plane} if kind.startswith("experts") else {}
        )
        parts[part] = {
            "rounds": np.arange(1, 11),
            "accuracy": accuracy,
            "loss": 1 - accuracy,
            "online": accuracy,
            **end,
        }
    return results.ContextsResults(full, "0", "done", [], parts)


@pytest.fixture
def no_cells(monkeypatch):
    """Partitions take their time, and only sizes matter here."""
    monkeypatch.setitem(data.MAKERS, "cells", data._digits)
    data.load.cache_clear()
    yield
    data.load.cache_clear()


@pytest.mark.usefixtures("no_cells")
class TestVerdicts:
    def pick(self, found, words):
        (verdict,) = (claim.verdict for claim in found if words in claim.claim)
        return verdict

    def test_ahead(self):
        found = claims.claims(
            synthetic(
                phenotype=0.95,
                logistic=0.96,
                banditron=0.9,
                experts_phenotype=0.96,
                experts_EM=0.97,
            )
        )
        for words in (
            "with bandit feedback",
            "it beats epsilon",
            "phenotype does better",
            "bandit feedback costs",
        ):
            assert self.pick(found, f"digits: {words}") == report.HOLDS
        for words in (
            "regions: learning from the posterior",
            "regions: from feedback alone",
            "regions: several experts",
        ):
            assert self.pick(found, words) == report.HOLDS
        assert self.pick(found, "digits: the phenotype gradient of E f") == report.FAILS
        assert self.pick(found, "regions: experts specialise") == report.FAILS
        assert (
            sum(
                "never has the larger variance" in claim.claim and claim.verdict == report.HOLDS
                for claim in found
            )
            == 4
        )

    def test_behind(self):
        found = claims.claims(
            synthetic(
                0.9,
                phenotype=0.85,
                logistic=0.96,
                banditron=0.9,
                experts_genotype=0.9,
                experts_EM=0.97,
            )
        )
        for words in (
            "digits: with bandit feedback",
            "digits: bandit feedback costs",
            "regions: learning from the posterior",
        ):
            assert self.pick(found, words) == report.FAILS
        assert not any(
            "never has the larger variance" in claim.claim and claim.verdict == report.HOLDS
            for claim in found
        )

    def test_a_variance_that_is_no_number_proves_nothing(self):
        made = synthetic()
        made.parts["variance/digits"]["mix"][:] = np.nan
        found = [claim for claim in claims.claims(made) if claim.claim.startswith("digits: ")]
        assert self.pick(found, "never has the larger variance") == report.PARTLY

    def test_a_hair_ahead(self):
        found = claims.claims(synthetic(phenotype=0.90001, banditron=0.9))
        assert self.pick(found, "digits: with bandit feedback") == report.PARTLY

    @pytest.mark.parametrize(
        ("gap", "verdict"),
        [
            (0.019, report.HOLDS),
            (0.021, report.PARTLY),
            (0.039, report.PARTLY),
            (0.041, report.FAILS),
        ],
    )
    def test_as_good_as_those_that_are_told_every_label(self, gap, verdict):
        told = {"logistic": 0.9, "experts_EM": 0.9}
        made = synthetic(phenotype=0.9 - gap, experts_phenotype=0.9 - gap, **told)
        found = claims.claims(made)
        assert self.pick(found, "digits: bandit feedback costs") == verdict
        assert self.pick(found, "regions: from feedback alone") == verdict

    @pytest.mark.parametrize(
        ("share", "verdict"),
        [
            (0.501, report.HOLDS),
            (0.499, report.PARTLY),
            (0.201, report.PARTLY),
            (0.199, report.FAILS),
        ],
    )
    def test_experts_specialise_by_the_median(self, share, verdict, monkeypatch):
        kind, spread = results.ContextsResults, 0.1 * np.linspace(-1, 1, 10)
        shares = lambda self, method, name: share * (method == "experts-phenotype") + spread  # noqa: E731
        monkeypatch.setattr(kind, "specialisation", shares)
        assert self.pick(claims.claims(synthetic()), "regions: experts specialise") == verdict

    @pytest.mark.parametrize(
        ("gain", "mix", "verdict"),
        [
            (1.001, 1.001, report.HOLDS),
            (1.001, 0.999, report.PARTLY),
            (0.999, 1.001, report.FAILS),
        ],
    )
    def test_no_variance_is_larger_by_the_median_over_seeds(self, gain, mix, verdict):
        made = synthetic()
        part = made.parts["variance/digits"]
        spread = 0.01 * np.linspace(-1, 1, 10)[:, None, None]  # single ones are below 1
        part["genotype"], part["mix"] = (
            ratio + spread + np.zeros((10, 5, 2)) for ratio in (gain, mix)
        )
        found = [claim for claim in claims.claims(made) if claim.claim.startswith("digits: ")]
        assert self.pick(found, "never has the larger variance") == verdict

    def test_less_loss_of_experts_must_be_clear(self):
        """A hundredth of the spread between seeds is less, and not clear."""
        for less, verdict in ((1e-6, report.PARTLY), (1e-3, report.HOLDS), (-1e-6, report.FAILS)):
            made = synthetic(experts_genotype=0.9, experts_phenotype=0.9 + less)
            assert self.pick(claims.claims(made), "regions: learning from the post") == verdict

    def test_the_best_setting_is_shown(self):
        made = synthetic()
        made.parts["banditron/digits"]["accuracy"][2] += 0.1
        assert made.best("banditron", "digits").at == {"gamma": 0.1}

    def test_every_picture_of_every_method_can_be_drawn(self):
        made = synthetic()
        for draw in (
            figures.accuracy,
            figures.by_setting,
            figures.variance,
            figures.experts,
            figures.regions,
        ):
            assert draw(made) is not None
