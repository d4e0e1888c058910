"""The engineering problems, from settings to table, pictures and report; searches are short
here.
"""

import dataclasses
import io
import json

import numpy as np
import pytest
from phenes_lab import driver
from phenes_lab.bench.engineering import ENGINEERING as EXPERIMENT
from phenes_lab.bench.engineering import searches, tables
from phenes_lab.bench.engineering.compute import compute
from phenes_lab.bench.engineering.contenders import CONTENDERS, OURS, RIVALS
from phenes_lab.bench.engineering.results import EngineeringResults, Runs, load
from phenes_lab.bench.engineering.settings import EngineeringSettings, Part
from phenes_lab.contenders import check_installed
from phenes_lab.simulator import Exhausted
from rich.console import Console

from phenes.problems.engineering import COATING_SHARED, ENGINEERING, FILTER, LAUNCH, REGULATOR
from phenes.store import Store

TINY = EngineeringSettings(
    problems=("filter", "regulator"),
    contenders=("nominal", "cmaes-x", "phenes", "best known"),
    seeds=1,
    scale=0.1,
    draws=500,
    sketch=50,
)


@pytest.fixture(scope="module")
def store(inline_module, tmp_path_factory):
    pytest.importorskip("cmaes")
    out, calls = tmp_path_factory.mktemp("engineering"), []
    tell = lambda *counts: calls.append(counts)  # noqa: E731
    path = driver.run(EXPERIMENT, TINY, out, progress=tell).path
    assert calls[-1][0] == calls[-1][1]
    before = len(calls)
    assert driver.run(EXPERIMENT, TINY, out, resume=True, progress=tell).path == path
    assert len(calls) == before + 1  # nothing was left to do
    with Store(path, create=False) as store:
        yield store


@pytest.mark.tier("lab")
def test_every_contender_has_its_seeds(store):
    results = load(store)
    assert {
        p: {c: runs.mean.size for c, runs in each.items()} for p, each in results.runs.items()
    } == {
        "filter": {"nominal": 1, "cmaes-x": 2, "phenes": 2, "best known": 1},
        "regulator": {"nominal": 1, "cmaes-x": 1, "phenes": 1, "best known": 1},
    }
    runs = results.runs["filter"][OURS]
    assert np.all(np.diff(runs.evaluations, axis=1) >= 0)
    assert runs.evaluations[:, -1].max() <= TINY.builds("filter") == 300
    assert runs.design.shape == (2, 3)


def test_a_search_from_the_screened_design_needs_one():
    screened = CONTENDERS["phenes-screened"]
    assert [name for name, problem in ENGINEERING.items() if screened.takes_part(problem)] == [
        "coating",
        "coating-shared",
    ]
    path = screened.run(
        dataclasses.replace(FILTER, screened=FILTER.optimum), 60, np.array([0, 60]), 0
    )
    np.testing.assert_array_equal(path.points[0], FILTER.optimum)


@pytest.mark.tier("lab")
def test_designs_are_judged_by_the_same_fresh_builds(store):
    results = load(store)
    for problem in ("filter", "regulator"):
        nominal, expected = (
            results.runs[problem]["nominal"],
            ENGINEERING[problem].assess(ENGINEERING[problem].nominal, 500),
        )
        assert (nominal.mean[0], nominal.share[0], nominal.p95[0]) == (
            expected.mean,
            expected.share,
            expected.p95,
        )
        assert results.runs[problem]["best known"].mean[0] > nominal.mean[0]


@pytest.mark.tier("lab")
def test_table_summary_report_and_pictures(store):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(tables.table(load(store)))
    text = console.export_text()
    assert all(
        name in text
        for name in (*TINY.contenders, "LC filter, 300 builds", "pendulum regulator, 1000 builds")
    )
    summary = json.loads((store.path.parent / "summary.json").read_text())
    assert summary["benchmark"] == "engineering"
    assert summary["settings"]["builds"] == {"filter": 300, "regulator": 1000}
    assert summary["verdicts"] == []  # of a tenth of the builds nothing is asked
    out = store.path.parent
    report = (out / "report.md").read_text()
    for name in ("engineering-builds.png", "engineering-filter.png", "engineering-regulator.png"):
        assert (out / name).read_bytes()[:4] == b"\x89PNG"
        assert name in report


def test_verdicts_are_by_medians():
    def runs(means, shares):
        few = np.zeros((len(means), 2))
        return Runs(
            few,
            few,
            few,
            few,
            np.array(means),
            np.zeros(2),
            np.array(shares),
            np.zeros(2),
            np.zeros(2),
        )

    both = {
        "phenes": runs([0.91, 0.93], [0.91, 0.93]),
        "pycma": runs([0.8, 0.9], [0.8, 0.9]),
        "cmaes": runs([0.9, 0.98], [0.9, 0.98]),
    }
    yielded, against = tables.verdicts(
        EngineeringResults(dataclasses.replace(TINY, scale=1.0), "", "done", {"filter": both})
    )
    assert (yielded.holds, yielded.measured) == (True, "92.0%")
    assert not against.holds
    assert against.measured == "0.92 against 0.94 (cmaes)"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.tier("lab") if name in ("ES", "PAES") else ())
        for name, contender in CONTENDERS.items()
        if not contender.fixed and contender.takes_part(FILTER)
    ],
)
def test_every_search_recommends_within_its_builds(name):
    pytest.importorskip(CONTENDERS[name].module)
    path = CONTENDERS[name].run(FILTER, 120, np.array([60, 120]), 0)
    assert path.points.shape == (2, 3)
    assert np.all(path.evaluations <= 120)
    assert not np.array_equal(path.points[-1], FILTER.x0)
    again = CONTENDERS[name].run(FILTER, 120, np.array([60, 120]), 0)
    np.testing.assert_array_equal(again.points, path.points)
    assert not np.array_equal(
        CONTENDERS[name].run(FILTER, 120, np.array([60, 120]), 1).points, path.points
    )


def test_the_workshop_realises_errors_of_the_problem():
    """In its own coordinates, with shared errors too; 5 standard errors of 4000 builds."""
    world = searches.workshop(COATING_SHARED, 4000, 0)
    u, f = world(np.zeros((4000, 33)))
    expected = COATING_SHARED.cov / np.outer(COATING_SHARED.sigma0, COATING_SHARED.sigma0)
    error = (u.T @ u / 4000 - expected) / expected[0, 0]
    assert np.abs(error).max() < 5 * np.sqrt(2 / 4000)
    np.testing.assert_allclose(f, -COATING_SHARED(searches.outside(COATING_SHARED, u)), rtol=1e-9)
    with pytest.raises(Exhausted):
        world(np.zeros((1, 33)))


def test_theta_stays_in_its_box():
    np.testing.assert_array_equal(
        searches.outside(LAUNCH, np.full((1, 2), 100.0))[0], LAUNCH.bounds[:, 1]
    )


@pytest.mark.tier("lab")
def test_the_papers_es_comes_closer_to_the_known_optimum():
    path = searches.paper("phenotype", REGULATOR, 1500, np.array([1500]), 0)
    assert REGULATOR.assess(path.points[-1]).mean > REGULATOR.assess(REGULATOR.nominal).mean


def test_parts_and_settings():
    settings = EngineeringSettings(seeds=10)
    assert settings.runs("filter", OURS) == 20
    assert settings.runs("coating", OURS) == 10
    assert settings.builds("coating") == 30_000
    assert settings.draws >= 20_000
    parts = settings.parts
    assert len({part.key for part in parts}) == len(parts)
    assert {part.contender for part in parts if part.problem == "filter"} == set(
        settings.contenders
    ) - {"screened"}
    assert set(RIVALS) <= set(settings.contenders)
    assert (
        EngineeringSettings.from_stored(json.loads(json.dumps(dataclasses.asdict(settings))))
        == settings
    )
    assert EngineeringSettings.quick().scale < 1
    assert settings.grid("filter").tolist()[-1] == 2000
    assert EngineeringSettings(checkpoints=1).grid("filter").tolist()[-1] == 2000


def test_a_fixed_design_needs_no_builds():
    part = compute(TINY, Part("filter", "nominal", 0))
    assert part["evaluations"].tolist() == [0]
    np.testing.assert_array_equal(part["points"][0], FILTER.nominal)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"seeds": 0}, "seeds must be"),
        ({"problems": ("bridge",)}, "problems must be of filter, coating"),
        ({"contenders": ("nobody",)}, "contenders must be of"),
        ({"draws": 1}, "draws must be"),
        ({"scale": 0.0}, "scale must be"),
    ],
)
def test_misuse_is_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        EngineeringSettings(**wrong)


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "cma" else True)
    with pytest.raises(
        ValueError, match="need cma, which are not installed: choose others, or pip"
    ):
        check_installed(["pycma", OURS], CONTENDERS)
