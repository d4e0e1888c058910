"""Risks beside inner Monte Carlo: problems, the rule, and all from settings to report in small."""

import json

import numpy as np
import pytest
from phenes_lab.bench.risk import contenders
from phenes_lab.bench.risk.problems import PROBLEMS, least, regret
from phenes_lab.bench.risk.results import Curve, ratio
from phenes_lab.bench.risk.run import run
from phenes_lab.bench.risk.settings import RiskSettings
from phenes_lab.bench.risk.tables import table


@pytest.mark.parametrize("name", PROBLEMS)
def test_nothing_around_the_best_theta_is_better(name):
    """Steps of 0.2 cost something, in every direction tried."""
    problem, rng = PROBLEMS[name], np.random.default_rng(0)
    assert np.isfinite(least(name))
    near = np.array(problem.starts[0]) + 0.8 * rng.standard_normal((6, problem.dim))
    assert min(regret(name, theta) for theta in near) >= 1e-9


def test_a_rival_has_reached_a_regret_at_its_first_look_there():
    curve = Curve(np.array([10, 20, 40, 80]), np.array([[1.0, 0.1, 0.5, 0.1]]))
    assert ratio("p", "r", 10, 0.2, curve)[4:] == (2.0, True)
    assert ratio("p", "r", 10, 0.01, curve)[4:] == (8.0, False)
    assert ratio("p", "r", 10, 1.0, curve)[4:] == (1.0, True)


@pytest.mark.tier("lab")
def test_all_in_small(tmp_path):
    settings = RiskSettings(
        problems=("ledge",), contenders=("phenes", "pycma-8"), budgets=(24,), most=512, seeds=1
    )
    outcome = run(settings, tmp_path, processes=1)
    said = json.loads((tmp_path / "summary.json").read_text())
    assert said["ratios"][0]["rival"] == "pycma-8"
    assert outcome.results.claims["ledge"].runs == 1
    assert "pycma-8" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "risk.png").exists()
    assert table(outcome.results).row_count == 1


def test_botorch_is_left_out_where_it_is_not_installed(monkeypatch):
    monkeypatch.setattr(contenders.importlib.util, "find_spec", lambda name: None)
    assert contenders.installed() == ("phenes",)
    assert "torch not installed (install torch's CPU build" in contenders.absent()
    with pytest.raises(ValueError, match="not installed: choose others, or install torch"):
        contenders.check_installed(["botorch-x"])


def test_who_lacks_a_risk_does_not_take_part():
    """BoTorch has no mean plus standard deviations; settings do not ask what is installed."""
    settings = RiskSettings(contenders=("phenes", "botorch"), seeds=1)
    there = {part.problem for part in settings.parts if part.contender == "botorch"}
    assert there == set(PROBLEMS) - {"basins"}


def test_slow_models_may_be_run_on_some_problems_only():
    wanted = RiskSettings(contenders=("phenes", "botorch"), slow_problems=("ledge",), seeds=1)
    assert {part.problem for part in wanted.parts if part.contender == "botorch"} == {"ledge"}
    assert {part.problem for part in wanted.parts if part.contender == "phenes"} == set(PROBLEMS)
    with pytest.raises(ValueError, match="slow_problems must be of ledge, got bowl"):
        RiskSettings(problems=("ledge",), contenders=("phenes",), slow_problems=("bowl",))


def test_botorch_with_the_measured_x_finds_the_edge():
    pytest.importorskip("botorch")
    found = contenders.CONTENDERS["botorch-x"].run(PROBLEMS["ledge"], 12, 0)
    assert found.at.tolist() == [12]
    assert regret("ledge", found.theta[0]) < 1.0
