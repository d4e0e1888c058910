"""The second opinion: better where the rows say so, and not where they do not."""

import numpy as np
import pytest

from phenes.gp.opinion import second_opinion

STD = 0.2


def f(x):
    return np.sum(np.cos(3 * x) + x**2 + 0.5 * x, axis=1)


def expected(theta):
    v = STD**2
    return float(np.sum(np.exp(-4.5 * v) * np.cos(3 * theta) + theta**2 + v + 0.5 * theta))


def optimum():
    grid = np.linspace(-2, 2, 400_001)
    values = np.exp(-4.5 * STD**2) * np.cos(3 * grid) + grid**2 + 0.5 * grid
    return np.full(2, grid[np.argmin(values)])


def rows(n, centre, spread=0.1, failing=False):
    rng = np.random.default_rng(0)
    theta = centre + spread * rng.standard_normal((n, 2))
    x = theta + STD * rng.standard_normal((n, 2))
    return theta, x, np.where(failing & (x[:, 0] > 2), np.nan, f(x))


def opinion(theta, x, values, answer):
    cov = np.full(2, STD**2)
    return second_opinion(theta, x, values, answer, np.zeros(2), cov, lambda at: None)


@pytest.mark.parametrize("n", [60, 600])
def test_the_rows_around_an_answer_say_where_the_optimum_is(n):
    answer = optimum() + 0.06
    found = opinion(*rows(n, answer), answer)
    assert found is not None
    assert found.better
    before, after = (expected(at) - expected(optimum()) for at in (answer, found.theta))
    assert after < 1e-3 * before
    assert found.gain == pytest.approx(before - after, rel=0.02)


def test_an_answer_that_is_right_is_left_alone():
    """Never moved by more than a thousandth of the noise's cost, and not called better by much."""
    answer = optimum()
    found = opinion(*rows(400, answer), answer)
    assert found is not None
    assert expected(found.theta) - expected(answer) < 1e-6


def test_it_does_not_leave_the_theta_that_were_tried():
    """All rows on a slope: the least E f is beyond them, and so is no opinion."""
    answer = np.full(2, 1.5)
    theta, x, values = rows(200, answer, 0.05)
    found = opinion(theta, x, values, answer)
    assert found is not None
    assert np.all(found.theta >= theta.min(axis=0) - 1e-12)


def test_too_few_values_are_no_opinion():
    theta, x, values = rows(40, np.zeros(2))
    values[5:] = np.nan
    assert opinion(theta, x, values, np.zeros(2)) is None
    assert opinion(theta, x, np.ones(40), np.zeros(2)) is None
