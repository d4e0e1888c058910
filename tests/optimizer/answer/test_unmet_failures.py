"""Claims beside a border that no draw at the answer has met."""

import numpy as np
import pytest

import phenes
from phenes.optimizer.answer.unmet_failures import DRAWS, FAILURES, change_of_mean, shift


@pytest.mark.parametrize("n", [2, 8, 100])
def test_it_is_what_a_cut_tail_changes_of_a_mean(n):
    """A normal law without its lowest share p, by a million draws: 1 % of what is compared."""
    f = np.random.default_rng(n).standard_normal(n)
    p = FAILURES / (n + DRAWS)
    rng = np.random.default_rng(0)
    law = np.sort(rng.standard_normal(1_000_000))
    kept = law[int(p * law.size) :]
    assert change_of_mean(f) == pytest.approx(
        np.std(f, ddof=1) * (kept.mean() - law.mean()), rel=0.03
    )


def test_a_single_draw_says_nothing():
    assert change_of_mean(np.ones(1)) == 0.0


@pytest.mark.parametrize("share", [0.01, 0.1, 0.4])
def test_a_share_without_a_value_shifts_the_mean_of_the_others(share):
    law = np.sort(np.random.default_rng(1).standard_normal(1_000_000))
    assert shift(share) == pytest.approx(law[int(share * law.size) :].mean(), abs=0.01)


def cliff(x):
    return -np.sum(x) if np.sum(x) < 1.5 else np.nan


def answer(f, **options):
    return phenes.minimize(f, np.zeros(6), 0.3, 0.05, budget=30, seed=1, **options)


@pytest.mark.few
def test_an_answer_at_a_border_allows_for_failures_that_its_draws_have_not_met():
    """f is linear, so that a model of it is sure; a part of the x at the answer has no value."""
    result = answer(cliff)
    x = result.x + 0.05 * np.random.default_rng(0).standard_normal((20_000, 6))
    f = np.array([cliff(each) for each in x])
    assert np.isnan(f).mean() > 0.05
    assert result.failing.share == 0
    assert result.fun == pytest.approx(np.nanmean(f), abs=2.1 * result.fun_se)
    assert "failures that so few have not met" in result.message


@pytest.mark.few
def test_without_failures_nothing_is_allowed_for():
    result = answer(lambda x: -np.sum(x), bounds=[(-1, 0.25)] * 6)
    assert result.fun_se < 1e-6
    assert "failures" not in result.message
