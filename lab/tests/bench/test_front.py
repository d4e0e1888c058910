"""Fronts beside NSGA-II: the exact fronts, the score, and all from settings to rows in small."""

import json

import numpy as np
import pytest
from phenes_lab.bench import front
from phenes_lab.bench.front import PROBLEMS, FrontSettings
from phenes_lab.report import rows_as_json

from phenes.pareto.hypervolume import nondominated


def priced(name):
    """Fronts that are taken from a grid cost seconds."""
    slow = PROBLEMS[name].best is None
    return pytest.param(name, marks=pytest.mark.tier("lab") if slow else ())


@pytest.mark.parametrize("name", [priced(name) for name in PROBLEMS])
def test_nothing_is_better_than_the_exact_front(name):
    """Of 200 theta in the box none beats it, up to the grid that some fronts are taken from."""
    values, _ = front.exact(name)
    assert nondominated(values).all()
    box = PROBLEMS[name].box
    theta = np.random.default_rng(0).uniform(*box.T, (200, len(box)))
    assert front.score(name, theta) <= 1.0 + 0.01
    assert 0.8 < front.ceiling(name) <= 1.0


@pytest.mark.parametrize("name", ["saddle", "twins"])
def test_closed_forms_are_what_draws_say(name):
    """Against 40,000 draws, within five standard errors."""
    problem, rng = PROBLEMS[name], np.random.default_rng(1)
    theta = rng.uniform(*problem.box.T)
    f = problem.f(theta + problem.noise * rng.standard_normal((40_000, theta.size)))
    first, second = f if isinstance(f, tuple) else (f, f)
    spread = problem.objectives[1] == "std"
    found = [first.mean(), second.std() if spread else second.mean()]
    error = 5 * np.array([first.std(), second.std()]) / 200
    assert np.all(np.abs(front.true(problem, theta[None])[0] - found) <= error)


@pytest.mark.tier("lab")
def test_all_in_small(monkeypatch):
    monkeypatch.setitem(front.CONTENDERS, "phenes", front.Entrant(front.ours, (30,)))
    settings = FrontSettings(problems=("twins",), contenders=("phenes",), seeds=1)
    rows = front.run(settings, processes=1)
    assert len(rows) == 1
    assert rows[0].scores[0] > 0.7
    assert rows[0].covered == 1.0
    assert json.dumps(rows_as_json("front", rows))
    assert front.table(rows).row_count == 1
    with pytest.raises(ValueError, match="problems must be of"):
        FrontSettings(problems=("nothing",))


def test_the_rival_in_small():
    pytest.importorskip("pymoo")
    found = front.nsga2("twins", 800, 0, 8)
    assert 0.3 < front.score("twins", found.theta) <= 1.0
