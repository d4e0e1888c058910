"""The reproduction of the FrozenLake section: from settings to a report, and verdicts that go both
ways.
"""

import dataclasses
import json

import numpy as np
import pytest
from phenes_lab import _pinned_pool, driver, report
from phenes_lab.reproduce import frozenlake
from phenes_lab.reproduce.frozenlake import claims, execute, part, pictures, results, settings

from phenes.store import Store

TINY = frozenlake.Settings(
    methods=("ES", "PAES-SGD"),
    seeds=2,
    generations=12,
    popsize=10,
    sigmas=(0.01, 0.1),
    totals=(0.4, 1.0),
    floors=(1e-3,),
    clean=(1.0,),
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The experiment from end to end."""
    out, calls = tmp_path_factory.mktemp("frozenlake"), []
    path = frozenlake.run(
        TINY, out, progress=lambda done, total: calls.append((done, total)), processes=1
    )
    return path, calls


class TestEndToEnd:
    def test_every_part_is_in_the_store(self, tiny):
        with Store(tiny[0], create=False) as store:
            run = store.last("frozenlake")
            assert {key for key in run if not key.startswith("session/")} == set(TINY.methods)
            assert run.about.status == "done"
            arrays = run["ES"]
        for name in ("value", "unlimited", "population", "flat", "held"):
            assert arrays[name].shape == (2, 2, 12)
        assert np.all((arrays["value"] >= 0) & (arrays["value"] <= 0.7442))
        assert np.all(arrays["unlimited"] >= arrays["value"] - 1e-6)
        np.testing.assert_allclose(arrays["sigma"], [0.01, 0.1])
        assert arrays["timed"] > 0
        assert tiny[1][0][0] == 0
        assert tiny[1][-1][0] == tiny[1][-1][1]

    def test_pictures_and_reports(self, tiny):
        out = tiny[0].parent
        names = {path.name for path in out.glob("*.png")}
        assert names == {f"frozenlake-{n}.png" for n in ("main", "sweep", "time", "estimators")}
        markdown, page = ((out / f"report.{kind}").read_text() for kind in ("md", "html"))
        for name in names:
            assert f"({name})" in markdown
            assert f'src="{name}"' in page
        assert "0.8235" in markdown
        assert "nan" not in markdown.split()

    def test_summary_is_small_json(self, tiny):
        with Store(tiny[0]) as store:
            text = json.dumps(frozenlake.summary(store), allow_nan=False)
        assert len(text) < 20_000
        summary = json.loads(text)
        assert set(summary["methods"]) == set(TINY.methods)
        assert all(
            claim["verdict"] in (report.HOLDS, report.PARTLY, report.FAILS)
            for claim in summary["claims"]
        )

    def test_resume_computes_what_is_missing_and_gets_the_same(self, tiny, monkeypatch):
        given = []
        # in this process, which has compiled nothing of it, but saves the start of another one
        monkeypatch.setattr(
            _pinned_pool,
            "each",
            lambda compute, tasks, n: (
                given.extend(tasks) or (answer(compute, task) for task in tasks)
            ),
        )
        with Store(tiny[0]) as store:
            run = store.begin("frozenlake", dataclasses.asdict(TINY), resume=True)
            before = run["ES"]
            store.database.commit(("DELETE FROM parts WHERE key = 'ES'", ()))
            assert driver.collect(execute.FROZENLAKE, TINY, run, lambda done, total: None) == {}
            assert [key for key, _ in given] == ["ES"]
            for name in set(before) - {"compilation", "running", "timed"}:
                np.testing.assert_array_equal(run["ES"][name], before[name])
            assert driver.collect(execute.FROZENLAKE, TINY, run, lambda done, total: None) == {}
            assert len(given) == 1

    def test_resume_with_other_settings(self, tiny):
        with pytest.raises(ValueError, match="seeds was 2 and is now 3"):
            frozenlake.run(dataclasses.replace(TINY, seeds=3), tiny[0].parent, resume=True)

    def test_failed_parts_are_named_and_the_rest_is_kept(self, tmp_path, monkeypatch):
        monkeypatch.setattr(
            _pinned_pool, "each", lambda compute, tasks, n: (broken_on_es(task) for task in tasks)
        )
        with pytest.raises(RuntimeError, match=r"ES failed.*--resume"):
            frozenlake.run(TINY, tmp_path)
        with Store(tmp_path / "frozenlake.db") as store:
            assert store.last("frozenlake").keys() >= {"PAES-SGD"}


def answer(compute, task):
    return _pinned_pool.Done(task, compute(task), None, 1.0)


def broken_on_es(task):
    return (
        _pinned_pool.Done(task, None, "no", 0.0)
        if task[0] == "ES"
        else _pinned_pool.Done(task, {"x": np.zeros(1)}, None, 1.0)
    )


def test_settings_are_those_of_the_paper():
    full = frozenlake.Settings()
    assert (full.seeds, full.generations, full.popsize, full.rate) == (10, 500, 100, 0.01)
    assert 1.0 in full.totals
    assert 0.01 in full.sigmas
    assert set(full.parts) == {*settings.METHODS, settings.VARIANCE}
    assert set(frozenlake.Settings.quick().parts) == set(full.parts)
    assert frozenlake.Settings.from_stored(json.loads(json.dumps(dataclasses.asdict(full)))) == full
    with pytest.raises(ValueError, match="not those of this version"):
        frozenlake.Settings.from_stored({"colour": "red"})


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
        frozenlake.Settings(**wrong)


def test_first_and_best():
    values = np.zeros((3, 2, 100))
    values[0, :, 40:] = 0.72  # late and good
    values[1, :, 10:] = 0.715  # early and as good
    values[2, :, 5:] = 0.701  # first, and worse
    np.testing.assert_array_equal(part.first(values, 0.7), [[41, 41], [11, 11], [6, 6]])
    assert part.best(values, 0.7) == 1
    assert np.all(np.isinf(part.first(values, 0.75)))


def synthetic(**times):
    """Runs that step from 0 to 0.73 at a given generation (plus the seed), by method; never where
    it is infinite.
    """
    full = frozenlake.Settings()
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
    return results.Results(full, "0", "done", parts, [])


class TestVerdicts:
    def pick(self, data, words):
        (verdict,) = (claim.verdict for claim in claims.claims(data) if words in claim.claim)
        return verdict

    def test_faster(self):
        data = synthetic(**{"ES": 100.0, "PAES-SGD": 40.0, "clean-genotype": np.inf})
        assert self.pick(data, '"PAES converges') == report.HOLDS
        assert self.pick(data, "wall-clock") == report.HOLDS
        assert self.pick(data, "natural gradient in log alpha") == report.HOLDS
        assert self.pick(data, "caption") == report.HOLDS
        assert self.pick(data, "default") == report.FAILS
        assert self.pick(data, "smaller variance") == report.HOLDS

    def test_slower(self):
        data = synthetic(
            **{"ES": 40.0, "PAES-SGD": 100.0, "clean-phenotype": np.inf, "default": 30.0}
        )
        assert self.pick(data, '"PAES converges') == report.FAILS
        assert self.pick(data, "wall-clock") == report.FAILS
        assert self.pick(data, "natural gradient in log alpha") == report.FAILS
        assert self.pick(data, "default") == report.HOLDS

    def test_the_default_must_not_collapse(self):
        data = synthetic(default=30.0)
        data.parts["default"]["value"][0, 3, 400:410] = 0.2
        assert data.best("default").collapsed == 1
        assert self.pick(data, "default") == report.PARTLY

    def test_spread(self):
        data = synthetic()
        data.parts["ES"]["value"][:2] = 0.0
        assert self.pick(data, "σ is no less than 0.1") == report.HOLDS
        data.parts["ES"]["value"][4:] = 0.0
        assert self.pick(data, "σ is no less than 0.1") == report.PARTLY

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
        data.parts["ES"]["unlimited"] = data.parts["ES"]["value"] + 0.09
        assert self.pick(data, "about 0.8") == report.PARTLY

    def test_all_pictures_of_all_methods_can_be_drawn(self):
        data = synthetic(ES=np.inf)
        for draw in (
            pictures.main,
            pictures.sweep,
            pictures.clock,
            pictures.clean,
            pictures.estimators,
        ):
            assert draw(data) is not None
