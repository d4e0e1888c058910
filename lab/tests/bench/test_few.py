"""Few evaluations: the problems, the scores, and everything from settings to report in small."""

import dataclasses
import importlib.util
import io
import json
import math

import numpy as np
import pytest
from phenes_lab.bench.few import contenders, scoring, searches, tables
from phenes_lab.bench.few.compute import precise
from phenes_lab.bench.few.contenders import CONTENDERS, OURS, RIVALS
from phenes_lab.bench.few.problems import PROBLEMS
from phenes_lab.bench.few.results import FewResults, Row, load
from phenes_lab.bench.few.run import run
from phenes_lab.bench.few.settings import FAMILIES, FewSettings, Part
from rich.console import Console

from phenes.store import Store

TINY = FewSettings(("camel2", "sine1"), ("phenes", "pycma"), budgets=(12,), seeds=1)


@pytest.mark.parametrize("name", ["sine1", "branin2", "sphere5", "camel2", "levy4", "otl6"])
def test_the_optimum_is_one_and_no_random_theta_is_better(name):
    problem = PROBLEMS[name]
    theta, value = np.array(problem.optimum["theta"]), problem.optimum["value"]
    width = problem.upper - problem.lower
    assert problem.expected(theta) == pytest.approx(value, rel=1e-12)
    assert problem.regret(theta) <= 1e-9 * (problem.optimum["median"] - value)
    rng = np.random.default_rng(0)
    steps = 1e-3 * width * rng.standard_normal((20, problem.dim))
    near = np.clip(theta + steps, problem.lower, problem.upper)
    far = rng.uniform(problem.lower, problem.upper, (100, problem.dim))
    assert min(problem.expected(each) for each in (*near, *far)) >= value


def test_every_problem_has_an_optimum_in_its_box():
    for problem in PROBLEMS.values():
        theta = np.array(problem.optimum["theta"])
        assert np.all((problem.lower <= theta) & (theta <= problem.upper))
        assert problem.optimum["median"] > problem.optimum["value"]
    assert sum(map(len, FAMILIES.values())) == len(PROBLEMS)


def test_more_draws_agree_with_the_closed_form():
    problem = PROBLEMS["sphere5"]
    value, se = precise(problem, np.full(5, 0.7))
    assert abs(value - 5 * 0.25) < 4 * se + 1e-6
    assert se < 1e-3


def made(**regrets):
    """On camel2 at 30 evaluations: regrets by contender, a list over seeds, in units of what counts
    as equal.
    """
    least = scoring.level("camel2")
    rows = {
        name: {30: {seed: Row(each * least) for seed, each in enumerate(values)}}
        for name, values in regrets.items()
    }
    return FewResults("", 0, {"camel2": rows})


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome"),
    [
        ([0.0, 0.0, 0.0], [0.9, 0.9, 0.9], "tie"),  # both below the level
        ([0.0, 0.0, 0.0], [1.24, 1.24, 1.24], "tie"),  # one below counts as being on it
        ([0.0, 0.0, 0.0], [1.26, 1.26, 1.26], "win"),
        ([100.0, 100.0, 100.0], [124.0, 124.0, 124.0], "tie"),
        ([100.0, 100.0, 100.0], [126.0, 126.0, 126.0], "win"),
        ([126.0, 126.0, 126.0], [100.0, 100.0, 100.0], "loss"),
        ([1.0, 50.0, 1e9], [60.0, 70.0, 1.0], "tie"),  # medians 50 and 60
        ([50.0, 1e9], [100.0], "win"),  # the first seed alone is common
        ([math.inf], [100.0], "loss"),
        ([100.0], [math.nan], "win"),
    ],
)
def test_wins_ties_and_losses(ours, theirs, outcome):
    (duel,) = scoring.duels(made(phenes=ours, pycma=theirs), "held-out", 30, "pycma")
    assert duel.outcome == outcome
    assert duel.seeds == min(len(ours), len(theirs))


def test_the_best_rival_is_chosen_in_hindsight_and_does_not_come_from_us():
    results = made(
        **{"phenes": [10.0], "phenes-adaptive": [1.0], "pycma": [30.0], "optuna-tpe": [5.0]}
    )
    (duel,) = scoring.duels(results, "held-out", 30)
    assert (duel.who, duel.outcome) == ("optuna-tpe", "loss")
    assert scoring.tally([duel]) == (0, 0, 1)
    assert scoring.duels(results, "tuning", 30) == []
    assert [d.who for d in tables.losses(results, "held-out", 30)] == ["optuna-tpe"]


def test_rivals_that_did_not_run_at_a_budget_are_named():
    results = made(phenes=[10.0], pycma=[30.0])
    results.rows["camel2"]["phenes"][60] = {0: Row(0.0)}
    assert tables.absent(results, "held-out", 30) == []
    assert tables.absent(results, "held-out", 60) == ["pycma"]


def test_evaluations_to_a_regret():
    least = scoring.level("camel2")
    curve = {30: {0: Row(1e4 * least)}, 120: {0: Row(1e2 * least)}, 480: {0: Row(0.0)}}
    results = FewResults("", 0, {"camel2": {"phenes": curve}})
    needed = lambda target: scoring.needed(results, "camel2", OURS, target * least)  # noqa: E731
    assert needed(1e5) == 30
    assert needed(1e3) == pytest.approx(60)
    assert needed(0.0) == needed(1.0) == pytest.approx(480)
    curve[480][0] = Row(1e5 * least)  # worse again: it has not been reached
    assert needed(1e3) == math.inf


def test_coverage_counts_the_error_of_the_truth_and_not_answers_without_error():
    rows = [
        Row(0.0, fun=1.0, fun_se=0.1, success=1.0, truth=1.19, truth_se=0.0),
        Row(0.0, fun=1.0, fun_se=0.1, success=0.0, truth=1.21, truth_se=0.0),
        Row(0.0, fun=1.0, fun_se=0.0, success=1.0, truth=1.1, truth_se=0.1),
        Row(0.0, fun=1.0, fun_se=math.inf, success=0.0, truth=9.0, truth_se=0.0),
    ]
    results = FewResults("", 0, {"camel2": {"phenes": {30: dict(enumerate(rows))}}})
    found = scoring.coverage(results, "held-out", 30)
    assert (found.covered, found.finite, found.endless, found.successes) == (2, 3, 1, 2)


def test_all_meet_the_same_noise_and_only_asks_are_clocked():
    problem, theta = PROBLEMS["camel2"], np.zeros((4, 2))
    together, one, unit = (searches.Lab(problem, 4, 3, unit=u) for u in (False, False, True))
    x, f = together(theta)
    np.testing.assert_array_equal(x, np.vstack([one(theta[:1])[0] for _ in range(4)]))
    np.testing.assert_array_equal(f, problem.f(x))
    inside = unit((theta - problem.lower) / (problem.upper - problem.lower))[0]
    np.testing.assert_allclose(problem.lower + inside * (problem.upper - problem.lower), x)
    assert len(one.asks) == 4
    with pytest.raises(searches.Exhausted):
        one(theta[:1])
    np.testing.assert_allclose(
        problem.lower + unit.start * (problem.upper - problem.lower), together.start
    )


@pytest.mark.parametrize("name", [n for n in CONTENDERS if n not in ("phenes", "phenes-gp")])
def test_every_contender_answers_within_the_box(name):
    if contenders.missing(name) or CONTENDERS[name].milliseconds > 50:
        pytest.skip(f"{name} is not installed, or slow")
    problem, looks = PROBLEMS["camel2"], (20, 40) if CONTENDERS[name].once else (40,)
    answers = CONTENDERS[name].run(problem, looks, 0)
    assert answers.points.shape == (len(looks), 2)
    assert np.all((problem.lower <= answers.points) & (answers.points <= problem.upper))
    assert not np.array_equal(answers.points[-1], searches.start(problem, 0))
    assert np.all(answers.worst >= answers.milliseconds)


@pytest.fixture(scope="module")
def finished(inline_module, tmp_path_factory):
    out, calls = tmp_path_factory.mktemp("few"), []
    tell = lambda *counts: calls.append(counts)  # noqa: E731
    outcome = run(TINY, out, progress=tell)
    before = len(calls)
    run(TINY, out, resume=True, progress=tell)
    assert len(calls) == before + 1  # nothing was left to do
    return out, outcome.results


def test_a_run_from_settings_to_report(finished):
    out, results = finished
    assert results.problems == ["sine1", "camel2"]
    assert results.budgets == [12]
    for problem in results.problems:
        row = results.at(problem, OURS, 12)[0]
        assert row.regret >= 0
        assert math.isfinite(row.fun)
        assert abs(row.truth - row.regret - PROBLEMS[problem].optimum["value"]) < 0.05
        assert math.isnan(results.at(problem, "pycma", 12)[0].fun)
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary["against"]) == {"held-out", "tuning"}
    assert sum(summary["against"]["tuning"]["pycma"]["12"].values()) == 1
    text = (out / "report.md").read_text()
    assert "Not run, or not installed: phenes-adaptive" in text
    assert not results.missed
    assert "few-regret.png" in text
    assert (out / "few-regret.png").read_bytes()[:4] == b"\x89PNG"
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(tables.table(results))
    assert "best rival in hindsight" in console.export_text()


def test_seeds_join_what_is_there_and_renew_runs_again(inline, finished):
    out, _ = finished
    more = dataclasses.replace(TINY, contenders=("pycma",), seeds=2)
    run(more, out, resume=True)
    assert [task[0] for task in inline.given] == ["pycma/camel2/01/12", "pycma/sine1/01/12"]
    with Store(out / "few.db", create=False) as store:
        results = load(store)
    assert set(results.at("camel2", "pycma", 12)) == {0, 1}
    assert set(results.at("camel2", OURS, 12)) == {0}
    inline.given.clear()
    run(more, out, resume=True, renew=["pycma"])
    assert len(inline.given) == 4
    with pytest.raises(ValueError, match="renew must be among the contenders pycma, got phenes"):
        run(more, out, resume=True, renew=["phenes"])


def test_contenders_that_are_not_installed(monkeypatch, tmp_path):
    found = importlib.util.find_spec
    absent = lambda name: None if name in ("botorch", "torch") else found(name)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", absent)
    assert not {"botorch", "botorch-robust", "optuna-gp"} & set(FewSettings().contenders)
    wanted = FewSettings(contenders=("pycma", "botorch", "optuna-gp"))
    with pytest.raises(
        ValueError, match=r"^botorch, optuna-gp need botorch, .*torch, which"
    ) as said:
        run(wanted, tmp_path / "out")
    assert "pip install -e './lab[few]'" in str(said.value)
    assert "\n" not in str(said.value)
    assert not (tmp_path / "out").exists()


def test_settings():
    assert FewSettings(("held-out", "camel2")).problems == FAMILIES["held-out"]
    assert set(FewSettings.quick().contenders) <= set(CONTENDERS)
    assert OURS not in RIVALS
    settings = FewSettings(("camel2",), ("phenes", "pycma"), budgets=(60, 40), seeds=1)
    assert [(p.contender, p.budget) for p in settings.parts] == [
        ("phenes", 40),
        ("phenes", 60),
        ("pycma", 60),
    ]
    assert settings.looks(Part("camel2", "pycma", 0, 60)) == (30, 40, 60)
    assert settings.looks(Part("camel2", "phenes", 0, 60)) == (60,)
    for wrong, says in (
        ({"budgets": (3,)}, "budgets must be integers of at least 10, got 3"),
        ({"problems": ("nothing",)}, "problems must be of .*, got nothing"),
        ({"contenders": ("nobody",)}, "contenders must be of phenes, .*, got nobody"),
    ):
        with pytest.raises(ValueError, match=says):
            FewSettings(**wrong)
