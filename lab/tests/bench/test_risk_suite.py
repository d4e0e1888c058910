"""The suite of claims: problems, what is counted, and one run."""

import numpy as np
import pytest
from phenes_lab.bench.risk import suite
from phenes_lab.bench.risk.suite import HELD_OUT, SETS, TUNING, Claimed, table, true_risk


def claimed(fun, success, seed=0):
    return Claimed("quad", 35, seed, fun, 0.1, success, 1.0, 0.0, 9, "")


def test_nothing_held_out_is_tuned_on():
    assert not set(TUNING) & set(HELD_OUT)


@pytest.mark.parametrize("name", SETS["all"])
def test_every_problem_has_a_risk_at_its_first_start(name):
    problem = SETS["all"][name]
    assert np.isfinite(true_risk(problem, np.array(problem.starts[0]), every=64))


def test_where_most_fails_there_is_no_risk():
    assert true_risk(HELD_OUT["failing"], np.array([1.5, 0.0]), every=64) == np.inf


def test_covered_and_wrong_claims_are_counted():
    """Covered, off by 2.5 standard errors, by 4, and by 4 without success."""
    runs = [claimed(1.1, True), claimed(1.25, True), claimed(1.4, True), claimed(1.4, False)]
    cells = table(runs).splitlines()[-1].split("|")
    assert [each.strip() for each in cells[3:9]] == ["35", "4", "1", "3", "1", "1"]


@pytest.mark.tier("lab")
def test_a_run_of_the_suite():
    found, result = suite.run("cliff", 20, 0)
    assert found.fun == result.fun
    assert found.truth > 0
