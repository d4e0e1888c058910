"""Chance constraints beside inner Monte Carlo: the truth, the scores, and all in small."""

import json

import numpy as np
import pytest
from phenes_lab import driver
from phenes_lab.bench.constraints import CONSTRAINTS
from phenes_lab.bench.constraints.contenders import Draws, inner, takes_part
from phenes_lab.bench.constraints.problems import PROBLEMS, corner, score
from phenes_lab.bench.constraints.results import Cell, Where
from phenes_lab.bench.constraints.settings import ConstraintsSettings
from phenes_lab.bench.constraints.tables import incomplete, table


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_probability_is_that_of_draws(name):
    problem, rng, n = PROBLEMS[name], np.random.default_rng(0), 40_000
    for shift in (0.3, 0.45, 0.6):
        theta = shift * problem.target
        x = theta + problem.noise * rng.standard_normal((n, problem.dim))
        share = np.mean(np.max(list(problem.limits(x).values()), axis=0) <= 0)
        p = problem.holds(theta)
        assert 0.001 < p < 0.9999
        assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("p", [0.9, pytest.param(0.99, marks=pytest.mark.tier("lab"))])
def test_the_least_value_is_reached_and_nothing_feasible_is_below(name, p):
    problem, rng = PROBLEMS[name], np.random.default_rng(1)
    sphere = rng.standard_normal((4000, problem.dim))
    sphere *= problem.away(p) / np.linalg.norm(sphere, axis=1, keepdims=True)
    # around the target, as near as the best theta: none is clearly feasible, in two dimensions
    # one nearly is
    best = max(problem.holds(problem.target + each) for each in sphere)
    assert best <= p + 1e-9
    if problem.dim == 2:
        assert best > p - 1e-3
    else:
        theta = problem.target * (1 - problem.away(p))  # the target is the normal of the plane
        assert problem.holds(theta) == pytest.approx(p, abs=1e-9)


def test_the_score_of_a_plane():
    problem = PROBLEMS["plane-3"]
    there = score(problem, 0.9, 0.3 * problem.target)  # two standard deviations from the limit
    assert there.feasible
    assert there.probability == pytest.approx(0.97725, abs=1e-5)
    assert there.regret == pytest.approx(0.7**2 / (0.5 + 0.12815516) ** 2 - 1)
    beyond = score(problem, 0.99, 0.3 * problem.target)
    assert not beyond.feasible
    assert beyond.regret < 0


def test_what_is_counted_of_a_cell():
    nan = np.nan
    cell = Cell(
        0.9,
        probability=np.array([0.95, 0.85, 0.90, 0.80]),
        regret=np.array([0.2, -0.1, 0.4, -0.2]),
        lower=np.array([0.7, 0.86, 0.7, 0.7]),
        success=np.array([1.0, 1.0, 0.0, 0.0]),
    )
    assert cell.feasible.tolist() == [True, False, True, False]
    assert cell.median == pytest.approx(0.3)
    assert (cell.bound_holds, cell.successes, cell.false_successes) == (3, 2, 1)
    silent = Cell(0.9, np.array([0.5]), np.array([0.1]), np.array([nan]), np.array([nan]))
    assert np.isnan(silent.median)
    assert not silent.claims


def test_a_rival_has_no_more_evaluations_than_it_may():
    problem = PROBLEMS["corner"]
    answer = inner(problem, 0.9, 200, 20, draws=8)
    assert 200 - 6 * 8 < answer.evaluations <= 200
    at = Draws(problem, 8, 0)
    f, worst = at(problem.target)
    assert f.shape == worst.shape == (8,)
    assert np.all(worst > 0)
    assert at.used == 8
    assert not takes_part("pycma-8", problem, 60)
    assert takes_part("pycma-8", problem, 96)


@pytest.mark.tier("lab")
def test_all_in_small(tmp_path, monkeypatch):
    monkeypatch.setitem(PROBLEMS, "corner", corner((12,)))
    contenders = ("phenes", "pycma-8")
    settings = ConstraintsSettings(("corner",), (0.9,), contenders, budgets=(12, 200), seeds=2)
    outcome = driver.run(CONSTRAINTS, settings, tmp_path, processes=1)
    said = json.loads((tmp_path / "summary.json").read_text())
    assert [(each["contender"], each["budget"]) for each in said["answers"]] == [
        ("phenes", 12),
        ("pycma-8", 200),
    ]
    assert len(said["answers"][0]["probability"]) == 2
    assert 0 < said["answers"][0]["lower"][0] < 1
    assert said["answers"][1]["success"] == [None, None]
    text = (tmp_path / "report.md").read_text()
    assert "| corner | 0.9 | 200 | pycma-8 |" in text
    assert "Seeds 10 to 11" in text
    assert (tmp_path / "constraints.png").exists()
    assert table(outcome.results).row_count == 2
    assert incomplete(outcome.results) == ""
    del outcome.results.cells[Where("corner", 0.9, 12, "phenes")]
    assert incomplete(outcome.results) == "phenes, corner, 0.9, 12: 0"


@pytest.mark.parametrize(
    "wrong", [{"probabilities": (1.0,)}, {"budgets": ()}, {"problems": ("cube",)}]
)
def test_bad_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ConstraintsSettings(**wrong)
