"""When a claim is not trusted, and what is said then."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from phenes import risk
from phenes.evidence.estimate import Estimate
from phenes.optimizer.answer.verdict import MODEL, _thin_tail, _vague


def facts(draws, control, unmet, objective=None):
    known = Estimate(np.zeros(2), 1.0, 0.1, 0.1, 0.0, draws, draws, 0, 0.3, control=control)
    claim = SimpleNamespace(estimate=known, exact=False)
    objective = risk.quantile(0.9) if objective is None else objective
    return SimpleNamespace(claim=claim, objective=objective, sign=1.0, unmet=unmet)


def test_few_draws_with_a_model_that_has_met_the_tail_are_enough():
    assert _thin_tail(facts(9, MODEL, 0.06)) == ""


@pytest.mark.parametrize("control", [MODEL, "none"])
def test_enough_draws_need_no_model(control):
    assert _thin_tail(facts(36, control, 0.4)) == ""


def test_a_model_is_not_believed_beyond_all_evaluations():
    said = _thin_tail(facts(9, MODEL, 0.24))
    assert "to one side 24% of all x lie beyond all evaluations" in said
    assert "verify=36" in said


def test_without_a_model_the_draws_that_are_needed_are_named():
    said = _thin_tail(facts(9, "none", 0.0))
    assert said.startswith("the 90 % quantile of f(x) needs 36 or more evaluations at x, and there")
    assert "to one side" not in said


def test_risks_of_the_whole_law_need_no_tail():
    assert _thin_tail(facts(5, MODEL, 0.4, risk.probability_below(1.0))) == ""


@pytest.mark.parametrize("each", [risk.std(), risk.mean_plus_std(2)], ids=str)
def test_a_spread_is_one_of_the_outer_tenth(each):
    """Nine draws that miss it say less than there is, and claim it with a small error."""
    assert "needs 30 or more evaluations at x, and there were 9" in _thin_tail(
        facts(9, "none", 0.0, each)
    )
    assert _thin_tail(facts(30, "none", 0.0, each)) == ""
    assert _thin_tail(facts(9, MODEL, 0.1, each)) == ""


@pytest.mark.parametrize(
    ("values", "draws", "said"),
    [((0.0, 1.0, 0.2), 29, True), ((0.0, 1.0, 0.2), 30, False), ((1.0, 1.0, 1.0), 29, False)],
)
def test_a_variance_that_may_be_zero_is_not_known(values, draws, said):
    """Unless 30 draws have shown the outer tenth of x; and draws that are all equal are what they
    are: their spread is zero, and its error is known."""
    known = Estimate(np.zeros(1), 0.5, 0.3, 0.3, 0.0, 3.0, draws, 0, 0.3, control=MODEL, vague=True)
    seen = SimpleNamespace(f=np.array(values), at=lambda theta: np.ones(3, bool))
    claim = SimpleNamespace(estimate=known, drawn=known.theta)
    assert bool(_vague(SimpleNamespace(claim=claim, seen=seen, objective=risk.std()))) == said


@pytest.mark.parametrize(
    ("each", "worth", "said"),
    [(risk.std(), 30, False), (risk.std(), 29, True), (risk.quantile(0.9), 1e9, True)],
)
def test_moments_may_be_explained_by_a_quadratic(each, worth, said):
    """Few draws are then worth many; what a quadratic says of a quantile is nothing."""
    known = facts(9, "quadratic", 0.5, each)
    known.claim.estimate = dataclasses.replace(known.claim.estimate, worth=worth)
    assert bool(_thin_tail(known)) == said
