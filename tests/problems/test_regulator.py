"""The pendulum: its closed-form optimum against simulation, quadrature and a gradient."""

import numpy as np
import pytest
from scipy import integrate, linalg

from phenes.problems.engineering import regulator
from phenes.problems.engineering.regulator import (
    ERRORS,
    REGULATOR,
    STEPS,
    A,
    B,
    Q,
    R,
    best_gains,
    cost,
    expected_cost,
    motion,
)


def test_the_exact_expectation_is_that_of_simulations():
    """Within 4 standard errors, at both designs."""
    for theta in (REGULATOR.nominal, REGULATOR.optimum):
        found = REGULATOR.assess(theta)
        assert abs(found.mean + expected_cost(theta)) < 4 * found.se


def test_without_errors_it_is_the_usual_regulator():
    """Cost of a run is the trace of the matrix of the cost to go, and over a long time the gain is
    that of the algebraic equation.
    """
    x = np.random.default_rng(0).normal(REGULATOR.nominal, 0.5)
    assert cost(x) == pytest.approx(expected_cost(x, np.zeros(2)), rel=1e-12)
    p = linalg.solve_discrete_are(A, B[:, None], Q, [[R]])
    steady = B @ p @ A / (R + B @ p @ B)
    np.testing.assert_allclose(best_gains(np.zeros(2))[:2], steady, rtol=1e-3)


def test_the_optimum_has_no_slope_and_is_a_minimum():
    theta, h = REGULATOR.optimum, 1e-4
    step = h * np.eye(theta.size)
    slope = [(expected_cost(theta + e) - expected_cost(theta - e)) / (2 * h) for e in step]
    bend = [
        (expected_cost(theta + e) + expected_cost(theta - e) - 2 * expected_cost(theta)) / h**2
        for e in step
    ]
    assert np.abs(slope).max() < 1e-5
    assert np.min(bend) > 0
    others = theta + np.random.default_rng(1).standard_normal((200, theta.size)) * np.tile(
        ERRORS, STEPS
    )
    assert min(expected_cost(other) for other in others) > expected_cost(theta)
    assert REGULATOR.value == -expected_cost(theta)


def test_errors_move_the_optimum():
    assert expected_cost(REGULATOR.nominal) > 1.04 * expected_cost(REGULATOR.optimum)
    assert REGULATOR.exact


def test_the_motion_is_that_of_the_pendulum():
    """s'' = (g / l) s + u with the torque held over each step, by SciPy."""
    state, torque = motion(REGULATOR.nominal)
    now = state[1, 0]
    for t in range(STEPS):
        rates = lambda _, s, u=torque[1, t]: [s[1], regulator.GRAVITY * s[0] + u]  # noqa: E731
        now = integrate.solve_ivp(rates, (0, regulator.STEP), now, rtol=1e-10, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(now, state[1, t + 1], atol=1e-8)
    gains = REGULATOR.design(REGULATOR.nominal)
    np.testing.assert_allclose(torque[1], -np.sum(gains * state[1, :-1], axis=1), rtol=1e-12)
