"""The LC filter against scikit-rf, its minimax design, and its best yield found again."""

import numpy as np
import pytest
from scipy import optimize, stats

from phenes.problems.engineering.filter import (
    FILTER,
    MINIMAX,
    PASS,
    STOP,
    insertion_loss,
    violation,
)


def test_insertion_loss_is_that_of_scikit_rf():
    """Series L, shunt C, series L between 1-ohm ports, from S21."""
    skrf = pytest.importorskip("skrf")
    w = np.linspace(0.1, 3, 30)
    frequency = skrf.Frequency.from_f(w / (2 * np.pi), unit="Hz")
    medium = skrf.media.DefinedGammaZ0(frequency, z0=1.0)
    for values in np.random.default_rng(0).uniform(0.5, 2.5, size=(5, 3)):
        l1, c, l2 = values
        network = medium.inductor(l1) ** medium.shunt_capacitor(c) ** medium.inductor(l2)
        expected = -20 * np.log10(np.abs(network.s[:, 1, 0]))
        np.testing.assert_allclose(
            [insertion_loss(values, one) for one in w], expected, rtol=1e-9, atol=1e-9
        )


def test_the_minimax_design_has_the_largest_margin():
    """Its two tightest requirements are equally far away, and any small change makes one of them
    tighter.
    """
    margin = lambda x: -float(violation(np.asarray(x)))  # noqa: E731
    at = margin(np.log(MINIMAX))
    assert at > 0.95
    steps = 0.02 * np.random.default_rng(1).standard_normal((300, 3))
    assert max(margin(np.log(MINIMAX) + step) for step in steps) < at + 1e-3


def test_the_best_yield_is_found_again():
    """With common Sobol points; the standard error of as many draws at random would be 0.002."""
    z = stats.norm.ppf(stats.qmc.Sobol(3, seed=0).random(2**14)) * FILTER.noise
    loss = lambda t: -float(FILTER(np.array([t[0], t[1], t[0]]) + z).mean())  # noqa: E731
    start = FILTER.nominal[:2]
    simplex = start + np.array([[0, 0], [0.2, 0], [0, -0.2]])
    found = optimize.minimize(
        loss, start, method="Nelder-Mead", options={"initial_simplex": simplex, "maxfev": 80}
    )
    assert -found.fun == pytest.approx(FILTER.value, abs=3e-3)
    np.testing.assert_allclose(found.x, FILTER.optimum[:2], atol=0.03)
    assert -loss(FILTER.optimum[:2]) == pytest.approx(FILTER.value, abs=2e-3)


def test_a_filter_passes_if_all_five_requirements_hold():
    x = FILTER.realise(FILTER.nominal, 500, np.random.default_rng(2))
    losses = np.array([insertion_loss(np.exp(x), w) for w in (*PASS, STOP)])
    expected = (losses[:4] <= 1.5).all(axis=0) & (losses[4] >= 25)
    np.testing.assert_array_equal(FILTER.measure(x).passes, expected)
    np.testing.assert_array_equal(FILTER(x), expected.astype(float))
    assert 0.5 < expected.mean() < 0.9
