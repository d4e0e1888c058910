"""Every experiment once, from settings to a report: stored, drawn, said, resumed."""

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest
from phenes_lab import driver, report
from phenes_lab.reproduce import PACKAGES, experiment
from phenes_lab.reproduce.bbob.settings import BbobSettings
from phenes_lab.reproduce.contexts.settings import METHODS, ContextsSettings
from phenes_lab.reproduce.control.settings import CartpoleSettings
from phenes_lab.reproduce.frozenlake.settings import FrozenlakeSettings
from phenes_lab.reproduce.held_out_environments import HeldOutSettings

from phenes.store import Store

BBOB = BbobSettings(
    functions=(1, 6),
    methods=("ES", "PAES"),
    printed=(1,),
    valued=(6,),
    dim=5,
    seeds=2,
    generations=30,
    checkpoints=6,
    draws=256,
)
FROZENLAKE = FrozenlakeSettings(
    methods=("ES", "PAES-SGD"),
    seeds=2,
    generations=12,
    popsize=10,
    sigmas=(0.01, 0.1),
    totals=(0.4, 1.0),
    floors=(1e-3,),
    clean=(1.0,),
)
CONTEXTS = ContextsSettings(
    methods=("phenotype", "banditron", "logistic", "experts-phenotype", "variance"),
    sets=("wine", "regions"),
    seeds=2,
    rounds=500,
    points=5,
    totals=(10.0,),
    batch=50,
)
RIVAL = "evosax-20-0.1-0.03"
CARTPOLE = CartpoleSettings(
    methods=("ES-paper", "PAES-paper", "default", RIVAL), seeds=2, generations=5, ours=5
)
HELD_OUT = HeldOutSettings(environments=("CartPole-v1",), episodes=(100,), seeds=1)
# settings, a part that is computed a second time, what of it depends on the clock, and pictures
CASES = {
    "bbob": (
        BBOB,
        "f01/ES",
        {"seconds", "compilation"},
        ("final", "selected", "time", "value", "curves-1", "curves-at-mean-1"),
    ),
    "frozenlake": (
        FROZENLAKE,
        "ES",
        {"compilation", "running", "timed"},
        ("main", "sweep", "time", "estimators"),
    ),
    "contexts": (
        CONTEXTS,
        "banditron/wine",
        {"running"},
        ("accuracy", "settings", "variance", "experts", "regions"),
    ),
    "cartpole": (CARTPOLE, f"{RIVAL}/0", {"seconds"}, ("learning", "signal")),
    "untuned": (HELD_OUT, "CartPole-v1/ARS/0", {"seconds"}, ("learning",)),
}


@pytest.fixture(scope="module")
def ran(inline_module, tmp_path_factory):
    """By name: the outcome, and how progress was told."""
    done = {}

    def run(name):
        if name not in done:
            calls, out = [], tmp_path_factory.mktemp(name)
            tell = lambda *counts: calls.append(counts)  # noqa: E731
            outcome = driver.run(experiment(name), CASES[name][0], out, progress=tell)
            done[name] = outcome, calls
        return done[name]

    return run


# compilers take from 10 to 30 seconds of each of these; what their parts compute, and the verdicts,
# have tests of their own beside this file
NAMES = [pytest.param(name, marks=pytest.mark.tier("lab")) for name in CASES]


@pytest.fixture(params=NAMES)
def case(request, ran):
    (path, results), calls = ran(request.param)
    return request.param, path, results, calls


def test_every_experiment(case):
    """Every part is stored, every picture is in both reports, the summary is small JSON."""
    name, path, _, calls = case
    settings, _, _, pictures = CASES[name]
    with Store(path, create=False) as store:
        run = store.last(name)
        keys = {key for key in run if not key.startswith(driver.SESSION)}
        assert keys == set(experiment(name).module("compute").tasks(settings))
        assert run.about.status == "done"
    done, total = zip(*calls, strict=True)
    assert len(set(total)) == 1
    assert list(done) == sorted(done)
    assert (done[0], done[-1]) == (0, total[0])
    out = path.parent
    names = {each.name for each in out.glob("*.png")}
    assert names == {f"{name}-{picture}.png" for picture in pictures}
    markdown, page = ((out / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert all(f"({each})" in markdown and f'src="{each}"' in page for each in names)
    assert "nan" not in markdown.split()
    text = (out / "summary.json").read_text()
    summary = json.loads(text)
    assert len(json.dumps(summary)) < 20_000
    assert summary["experiment"] == name
    assert summary["claims"]
    verdicts = {claim["verdict"] for claim in summary["claims"]}
    assert verdicts <= {report.HOLDS, report.PARTLY, report.FAILS, report.UNTESTED}


def test_reports_run_nothing_and_say_the_same(case, inline, tmp_path):
    name, path, _, _ = case
    with Store(path) as store:
        driver.conclude(experiment(name), store, tmp_path)
    assert not inline.given
    for file in ("report.md", "report.html", "summary.json"):
        assert (tmp_path / file).read_text() == (path.parent / file).read_text()


def test_resume_computes_what_is_missing_and_gets_the_same(case, inline):
    name, path, _, _ = case
    settings, key, clock, _ = CASES[name]
    with Store(path) as store:
        run = store.begin(name, dataclasses.asdict(settings), resume=True)
        before = run[key]
        store.database.commit(("DELETE FROM parts WHERE key = ?", (key,)))
        assert driver.collect(experiment(name), settings, run) == {}
        assert [task[0] for task in inline.given] == [key]
        for array in set(before) - clock:
            np.testing.assert_array_equal(run[key][array], before[array])
        assert driver.collect(experiment(name), settings, run) == {}
        assert len(inline.given) == 1


def test_other_settings_cannot_be_resumed(case):
    name, path, _, _ = case
    settings = CASES[name][0]
    other = dataclasses.replace(settings, seeds=settings.seeds + 1)
    with pytest.raises(ValueError, match=f"seeds was {settings.seeds} and is now"):
        driver.run(experiment(name), other, path.parent, resume=True)


def test_settings_come_back_from_json(case):
    settings = CASES[case[0]][0]
    kind = experiment(case[0]).settings_class
    assert kind.from_stored(json.loads(json.dumps(dataclasses.asdict(settings)))) == settings
    with pytest.raises(ValueError, match="not those of this version"):
        kind.from_stored({"colour": "red"})


@pytest.mark.tier("lab")
def test_arrays_of_bbob(ran):
    (path, _), _ = ran("bbob")
    with Store(path) as store:
        arrays = store.last("bbob")["f06/PAES"]
    np.testing.assert_array_equal(arrays["generations"], BBOB.recorded)
    for name in ("F_mean", "f_mean", "population", "best", "trace", "projected"):
        assert arrays[name].shape == (2, BBOB.recorded.size)
        assert np.all(np.isfinite(arrays[name]))
    assert arrays["F_mean"].dtype == np.float64
    assert np.all(arrays["seconds"] > 0)


@pytest.mark.tier("lab")
def test_arrays_of_frozenlake(ran):
    (path, _), _ = ran("frozenlake")
    with Store(path) as store:
        arrays = store.last("frozenlake")["PAES-SGD"]
    for name in ("value", "unlimited", "population", "flat", "held"):
        assert arrays[name].shape == (2, 2, 12)
    assert np.all((arrays["value"] >= 0) & (arrays["value"] <= 0.7442))
    assert np.all(arrays["unlimited"] >= arrays["value"] - 1e-6)
    np.testing.assert_allclose(arrays["total"], [0.4, 1.0])
    assert arrays["timed"] > 0
    assert "0.8235" in (path.parent / "report.md").read_text()


@pytest.mark.tier("lab")
def test_arrays_of_contexts(ran):
    (path, _), _ = ran("contexts")
    with Store(path) as store:
        run = store.last("contexts")
        for part in ("phenotype/wine", "experts-phenotype/regions"):
            arrays, points = run[part], len(METHODS[part.partition("/")[0]].points)
            assert arrays["accuracy"].shape == (points, 2, 5)
            for name in ("accuracy", "loss", "online"):
                assert np.all((arrays[name] >= 0) & (arrays[name] <= 1))
        assert arrays["gate"].shape == (points, 2, 1000, 4)
        np.testing.assert_allclose(arrays["gate"].sum(axis=-1), 1, rtol=1e-5)
        assert np.all(run["variance/wine"]["genotype"] > 0)


@pytest.mark.tier("lab")
def test_runs_of_cartpole(ran):
    (_, results), _ = ran("cartpole")
    assert {name: len(runs) for name, runs in results.runs.items()} == dict.fromkeys(
        CARTPOLE.methods, 2
    )
    assert all(one.population.shape == (5,) for runs in results.runs.values() for one in runs)


@pytest.mark.tier("lab")
def test_held_out_environments_have_the_same_number_of_episodes(ran):
    (path, _), _ = ran("untuned")
    summary = json.loads((path.parent / "summary.json").read_text())
    numbers = summary["environments"]["CartPole-v1"]
    assert {name: n["generations"][0] * n["popsize"] for name, n in numbers.items()} == {
        "ARS": 96,  # pairs of 8 directions
        "default": 100,
    }
    assert all(n["steps"][0] >= 8 * n["generations"][0] for n in numbers.values())
    (claim,) = summary["claims"]
    assert claim["verdict"] == report.UNTESTED  # one seed proves nothing
    assert "(held out): the default needs fewer episodes to 475" in claim["claim"]


def test_workers_import_nothing_that_draws():
    """What `driver` imports in the process of a part."""
    packages = sorted({f"phenes_lab.reproduce.{package}" for package, _ in PACKAGES.values()})
    packages += ["phenes_lab.bench.peers", "phenes_lab.bench.engineering"]
    code = "import sys\nfrom phenes_lab.driver import Experiment\n"
    code += f"for p in {packages}: Experiment('', p, '').module('compute').compute\n"
    code += "print([name for name in sys.modules if name.startswith('matplotlib')][:3])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
