"""Risks beside inner Monte Carlo: problems, the rule, and all from settings to report in small."""

import json

import numpy as np
import pytest
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
