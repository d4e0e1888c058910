"""The best point of a model that the bounds allow."""

import numpy as np
import pytest
from scipy.optimize import minimize

import phenes
from phenes.adaptive import bounds, newton, tuning
from phenes.adaptive.marginal import marginal_of
from phenes.adaptive.model.quadratic import Fit
from tests.adaptive.problems import coordinates, spd

HESSIAN = np.array([[2.0, 1.0], [1.0, 3.0]])


def problem(upper):
    """min (x - (2, 1))' H (x - (2, 1)) below `upper`, in whitened units: gradient and curvature."""
    coords = coordinates(np.ones(2), upper=upper)
    marginal = marginal_of(np.zeros(2), 2 * np.eye(2), coords.c)
    curvature, turn = np.linalg.eigh(2 * HESSIAN)
    u = turn.T @ marginal.whiten(np.array([2.0, 1.0]))
    return coords, marginal, turn, -curvature * u, curvature


def found(upper):
    coords, marginal, turn, g, curvature = problem(upper)
    u, blocked = bounds.confine(coords, marginal, turn)(g, curvature)
    return marginal.mean + marginal.unwhiten(turn @ u), blocked


def test_the_bounds_allow_the_best_point_of_the_model_inside():
    """x_0 <= 1: compared with the exact solution."""
    inside, blocked = found([1.0, np.inf])
    np.testing.assert_allclose(inside, [1.0, 1 + 1 / 3])
    assert blocked


@pytest.mark.parametrize("upper", [[3.0, 3.0], np.inf])
def test_a_point_within_the_bounds_is_left_alone(upper):
    inside, blocked = found(upper)
    np.testing.assert_allclose(inside, [2.0, 1.0])
    assert not blocked


def test_a_coordinate_that_leaves_late_is_put_on_its_border_too():
    """x_0 <= 1 makes x_1 want 4/3, which is outside as well."""
    inside, blocked = found([1.0, 1.2])
    np.testing.assert_allclose(inside, [1.0, 1.2])
    assert blocked


@pytest.mark.parametrize("seed", range(6))
def test_any_convex_model_is_minimised_within_any_box(seed):
    """Against a general solver, with correlated noise, turned axes and coordinates of any width."""
    rng = np.random.default_rng(seed)
    d = 4
    lower, upper = -rng.uniform(0, 1, d), rng.uniform(0, 1, d)
    lower[0] = 0.0  # the mean is on a border
    width = rng.uniform(0.5, 2, d)
    coords = coordinates(spd(d, seed), width, rng.normal(size=d), lower, upper)
    mean = coords.to_y(coords.bias)
    marginal = marginal_of(mean, np.diag(coords.c) + spd(d, seed + 9), coords.c)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    g, curvature = rng.normal(0, 3, d), rng.uniform(0.01, 3, d)

    def along(theta):
        return marginal.whiten(coords.to_y(theta + coords.bias)) @ turn

    def value(u):
        return float(g @ u + curvature @ u**2 / 2)

    u, _ = bounds.confine(coords, marginal, turn)(g, curvature)
    box = list(zip(lower, upper, strict=True))
    starts = rng.uniform(lower, upper, (3, d))
    others = [minimize(lambda t: value(along(t)), s, bounds=box, tol=1e-12).fun for s in starts]
    best = min(others)
    assert value(u) <= best + 1e-6 * (1 + abs(best))
    theta = coords.to_x(marginal.mean + marginal.unwhiten(turn @ u)) - coords.bias
    np.testing.assert_allclose(theta, np.clip(theta, lower, upper), atol=1e-9)


def saddle(g, h):
    """A model of two coordinates that explains everything."""
    known = dict(mean=0.0, turn=None, crossed=True, residual=1e-6, r2=1.0, n=100)
    return Fit(g=np.array(g), h=np.array(h), features=6, outer=1.0, **known)


def test_a_search_that_the_bounds_block_does_not_grow():
    """Downhill and curved downwards towards a border: a wider search sees nothing more."""
    coords = coordinates(np.ones(2), lower=-3.0, upper=3.0)
    at_border = marginal_of(np.array([-3.0, 0.0]), 2 * np.eye(2), coords.c)
    free = marginal_of(np.zeros(2), 2 * np.eye(2), coords.c)
    unbounded = coordinates(np.ones(2))
    model = saddle([5.0, 1.0], [-2.0, 1.0])
    excess = np.ones(2)
    blocked = newton.early(model, excess, bounds.confine(coords, at_border, None), growing=True)
    grown = newton.early(model, excess, bounds.confine(unbounded, free, None), growing=True)
    assert blocked.factors[0] == 1.0 < grown.factors[0]
    assert blocked.move[0] == 0.0
    assert blocked.move[1] == pytest.approx(-1.0)


def test_no_search_is_wider_than_half_of_its_box():
    turned = np.array([[1.0, 0.6], [0.6, 1.0]])
    for noise in (np.ones(2), turned):
        coords = coordinates(noise, lower=[-3.0, -np.inf], upper=[3.0, np.inf])
        axes = coords.to_y(np.eye(2))
        noise_y = np.diag(coords.c)
        search = axes.T @ np.array([[100.0, 30.0], [30.0, 25.0]]) @ axes
        cov = coords.within_box(noise_y + search) - noise_y
        std = coords.std_x(cov)
        np.testing.assert_allclose(std, [6 * tuning.WIDEST_IN_BOX, 5.0])
        back = np.linalg.inv(axes)
        in_x = back.T @ cov @ back
        assert in_x[0, 1] / np.prod(std) == pytest.approx(0.6)  # correlations stay
    assert coords.within_box(noise_y) is noise_y


@pytest.mark.parametrize("seed", [0, 3])
def test_a_function_that_falls_ever_faster_beyond_its_bounds(seed):
    """The optimum is where the bounds are, and where the other coordinates have theirs."""
    centre = np.array([1.0, 2.0, -1.0])

    def f(x):
        return float(np.sum((x - centre) ** 2) + 0.5 * (x[0] - 1) ** 3)

    options = dict(noise=0.3, bounds=(-3, 3), budget=1200, seed=seed, engine="adaptive")
    result = phenes.minimize(f, np.zeros(3), 0.5, **options)
    np.testing.assert_allclose(result.x, [-3.0, 2.0, -1.0], atol=0.05)
