"""What a model of f believes of a risk: against draws of its posterior, and its slopes."""

import numpy as np
import pytest

from phenes import risk
from phenes.gp.cloud import Cloud
from phenes.gp.draws import gaussian_offsets, quasi_normal
from phenes.gp.kernel import Kernel, matern, squared_exponential
from phenes.gp.posterior import Posterior
from phenes.gp.risk_belief import RiskBelief

NOISE, BIAS = np.array([0.02, 0.01]), np.array([0.03, -0.02])
RISKS = [risk.cvar(0.9), risk.quantile(0.8), risk.mean_plus_std(1.0), risk.std()]


def belief(each, shape=None, draws=64, n=25):
    rng = np.random.default_rng(0)
    x = rng.random((n, 2))
    y = np.sum((x - 0.4) ** 2, axis=1) + 0.3 * np.sin(5 * x[:, 0])
    kernel = Kernel(matern(True) if shape is None else shape, np.array([0.5, 0.7]), 0.3, 0.1)
    values = Posterior(kernel, 1e-4, Cloud(x), y, NOISE, BIAS)
    return RiskBelief(values, None, 0.0, each, gaussian_offsets(NOISE, BIAS, draws))


def test_draws_are_mirrored_and_have_the_moments_of_the_law():
    z = quasi_normal(3, 64)
    assert np.abs(z.mean(axis=0)).max() < 1e-15
    assert np.mean(z**2, axis=0) == pytest.approx(np.ones(3))
    assert np.array_equal(z[::2], -z[1::2])
    cov = np.array([[0.5, 0.2], [0.2, 0.3]])
    drawn = gaussian_offsets(cov, np.ones(2), 1024)
    assert np.cov(drawn.T) == pytest.approx(cov, rel=0.05)
    assert np.array_equal(gaussian_offsets(None, np.ones(2), 64), np.ones((1, 2)))


def test_of_the_mean_it_is_the_closed_form():
    """The law of x enters by draws here and exactly there."""
    here = belief(risk.mean(), draws=1024)
    theta = np.array([[0.3, 0.5], [0.7, 0.2]])
    mean, sd = here.at(theta)
    exact, error = here.values.at(theta)
    assert mean == pytest.approx(exact, rel=2e-3)
    assert sd == pytest.approx(error * here.doubt(theta), rel=0.05)


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_it_is_the_functional_of_the_posterior_to_first_order(each):
    """Mean and sd of the weighted sum of f over the draws, by the joint posterior at them."""
    here = belief(each)
    theta = np.array([0.3, 0.5])
    points = theta + here.offsets
    joint = Posterior(here.values.kernel, here.values.eta, here.values.rows, here.values.y, None)
    mean, cov = joint.joint(points)
    value, weights = each.tangent(mean)
    found, sd = here.at(theta[None])
    assert found[0] == pytest.approx(float(value))
    assert sd[0] == pytest.approx(np.sqrt(weights @ cov @ weights) * here.doubt(theta[None])[0])


@pytest.mark.parametrize("each", RISKS, ids=str)
@pytest.mark.parametrize("shape", [matern(True), squared_exponential(False)], ids=lambda s: s.name)
def test_slopes_are_those_of_the_mean(each, shape):
    here = belief(each, shape)
    theta, step = np.array([0.3, 0.5]), 1e-5
    found = here.slopes(theta, 1.0)
    for k in range(2):
        up, down = theta.copy(), theta.copy()
        up[k] += step
        down[k] -= step
        moved = (here.slopes(up, 1.0).mean - here.slopes(down, 1.0).mean) / (2 * step)
        assert found.mean_slope[k] == pytest.approx(moved, rel=1e-4, abs=1e-6)


def test_slopes_of_the_error_of_a_mean_are_exact():
    """Weights of the mean do not depend on theta, so that nothing is left out."""
    here = belief(risk.mean())
    theta, step = np.array([0.3, 0.5]), 1e-5
    found = here.slopes(theta, 1.0)
    for k in range(2):
        up, down = theta.copy(), theta.copy()
        up[k] += step
        down[k] -= step
        moved = (here.slopes(up, 1.0).sd - here.slopes(down, 1.0).sd) / (2 * step)
        assert found.sd_slope[k] == pytest.approx(moved, rel=1e-3)


def test_differences_know_what_two_places_have_in_common():
    here = belief(risk.cvar(0.9))
    one, other = np.array([0.3, 0.5]), np.array([0.3001, 0.5])
    gain, error = here.difference(one, other)
    (a, b), sd = here.at(np.stack([one, other]))
    assert gain == pytest.approx(a - b, abs=1e-9)
    assert error < 0.05 * sd[0]


def test_what_is_under_way_makes_it_surer_and_leaves_the_mean():
    here = belief(risk.cvar(0.9))
    theta = np.array([[0.9, 0.9]])
    later = here.believing(theta, None)
    assert later.at(theta)[0] == pytest.approx(here.at(theta)[0])
    assert later.at(theta)[1][0] < here.at(theta)[1][0]
    assert later.slopes(theta[0], 1.0).mean_slope == pytest.approx(
        here.slopes(theta[0], 1.0).mean_slope
    )
