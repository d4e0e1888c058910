"""The experiment with contexts: from settings to a report, data that are what they say, and
verdicts that go both ways.
"""

import dataclasses
import json

import numpy as np
import pytest
from phenes_lab import _pinned_pool, driver, report
from phenes_lab.reproduce import contexts
from phenes_lab.reproduce.contexts import claims, data, execute, peers, pictures, results, settings

from phenes.store import Store

TINY = contexts.Settings(
    methods=("phenotype", "banditron", "logistic", "experts-phenotype", "variance"),
    sets=("wine", "regions"),
    seeds=2,
    rounds=500,
    points=5,
    totals=(10.0,),
    batch=50,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The experiment from end to end."""
    out, calls = tmp_path_factory.mktemp("contexts"), []
    path = contexts.run(
        TINY, out, progress=lambda done, total: calls.append((done, total)), processes=1
    )
    return path, calls


class TestEndToEnd:
    def test_every_part_is_in_the_store(self, tiny):
        with Store(tiny[0], create=False) as store:
            run = store.last("contexts")
            assert {key for key in run if not key.startswith(driver.SESSION)} == set(TINY.parts)
            for part in ("phenotype/wine", "banditron/wine", "experts-phenotype/regions"):
                arrays = run[part]
                points = len(settings.METHODS[part.partition("/")[0]].points)
                assert arrays["accuracy"].shape == (points, 2, 5)
                for name in ("accuracy", "loss", "online"):
                    assert np.all((arrays[name] >= 0) & (arrays[name] <= 1))
            assert arrays["gate"].shape == (points, 2, 1000, 4)
            np.testing.assert_allclose(arrays["gate"].sum(axis=-1), 1, rtol=1e-5)
            assert np.all(run["variance/wine"]["genotype"] > 0)
        assert tiny[1][0][0] == 0
        assert tiny[1][-1][0] == tiny[1][-1][1]

    def test_pictures_and_reports(self, tiny):
        out = tiny[0].parent
        names = {path.name for path in out.glob("*.png")}
        assert names == {
            f"contexts-{n}.png" for n in ("accuracy", "settings", "variance", "experts", "regions")
        }
        markdown, page = ((out / f"report.{kind}").read_text() for kind in ("md", "html"))
        for name in names:
            assert f"({name})" in markdown
            assert f'src="{name}"' in page
        assert "nan" not in markdown.split()

    def test_summary_is_small_json(self, tiny):
        with Store(tiny[0]) as store:
            summary = json.loads(text := json.dumps(contexts.summary(store), allow_nan=False))
        assert len(text) < 20_000
        assert {"phenotype", "banditron", "logistic"} <= set(summary["accuracy"]["wine"])
        assert all(
            claim["verdict"] in (report.HOLDS, report.PARTLY, report.FAILS)
            for claim in summary["claims"]
        )

    def test_resume_computes_what_is_missing_and_gets_the_same(self, tiny, monkeypatch):
        given = []

        def remember(compute, tasks, processes, each=_pinned_pool.each):
            given.extend(key for key, _ in tasks)
            return each(compute, tasks, processes)

        monkeypatch.setattr(_pinned_pool, "each", remember)
        with Store(tiny[0]) as store:
            run = store.begin("contexts", dataclasses.asdict(TINY), resume=True)
            before = run["banditron/wine"]
            with store.database.connection:
                store.database.connection.execute("DELETE FROM parts WHERE key = 'banditron/wine'")
            assert driver.collect(execute.CONTEXTS, TINY, run, processes=1) == {}
            assert given == ["banditron/wine"]
            for name in set(before) - {"running"}:
                np.testing.assert_array_equal(run["banditron/wine"][name], before[name])

    def test_resume_with_other_settings(self, tiny):
        with pytest.raises(ValueError, match="seeds was 2 and is now 3"):
            contexts.run(dataclasses.replace(TINY, seeds=3), tiny[0].parent, resume=True)


class TestSettings:
    def test_all_of_it_by_default(self):
        full = contexts.Settings()
        assert (full.seeds, full.rounds) == (10, 40_000)
        assert {part.partition("/")[0] for part in full.parts} == {
            *settings.METHODS,
            *settings.VARIANCES,
        }
        assert set(contexts.Settings.quick().parts) == set(full.parts)
        assert (
            contexts.Settings.from_stored(json.loads(json.dumps(dataclasses.asdict(full)))) == full
        )
        with pytest.raises(ValueError, match="not those of this version"):
            contexts.Settings.from_stored({"colour": "red"})

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
            contexts.Settings(**wrong)


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
        with pytest.raises(
            RuntimeError, match=r"needs scikit-learn: pip install -e '\.\[contexts\]' in a clone"
        ):
            data.load.__wrapped__("digits", 1, 0)


def test_logistic_regression_learns_wine():
    out = peers.logistic(data.load("wine", 1, 0), [{"C": 1.0}], np.array([60, 200]), 0)
    assert out.shape == (1, 1, 2)
    assert out.min() > 0.85


def test_shared_information():
    group = np.repeat(np.arange(4), 100)
    assert results.shared_information(3 - group, group) == pytest.approx(1)
    assert results.shared_information(group % 2, group) == pytest.approx(0.5)
    assert results.shared_information(np.zeros(400, int), group) == pytest.approx(0)


def synthetic(gain=2.0, **final):
    """Runs that end at a given accuracy (the seed decides the fourth digit), by method."""
    full = contexts.Settings(points=10)
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
        plane = np.zeros((len(accuracy), 10, pictures.GRID**2), np.int8)
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
    return results.Results(full, "0", "done", parts, [])


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

    def test_the_best_setting_is_shown(self):
        made = synthetic()
        made.parts["banditron/digits"]["accuracy"][2] += 0.1
        assert made.best("banditron", "digits").at == {"gamma": 0.1}

    def test_every_picture_of_every_method_can_be_drawn(self):
        made = synthetic()
        for draw in (
            pictures.accuracy,
            pictures.by_setting,
            pictures.variance,
            pictures.experts,
            pictures.regions,
        ):
            assert draw(made) is not None
