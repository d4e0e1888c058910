"""Log expected improvement in all its tails, against quadrature; polishing."""

import numpy as np
import pytest
from scipy.integrate import quad

from phenes.gp.acquisition import candidates, log_improvement, log_improvement_slope, polish
from phenes.gp.region import make_region
from phenes.space import Choice, Integer, Real, Space

ALL = (8.0, 1.0, 0.0, -0.999, -1.001, -5.0, -37.0, -40.0, -999.0, -1001.0, -1e5)


def exact(z):
    """log E max(z + e, 0) = log phi(z) + log of the integral of t exp(z t - t^2 / 2)."""
    unit = max(1.0, -z)

    def integrand(s):
        return s * np.exp(z / unit * s - 0.5 * (s / unit) ** 2)

    integral = quad(integrand, 0, 60, epsabs=0, epsrel=1e-12, limit=200)[0] / unit**2
    return -0.5 * z**2 - 0.5 * np.log(2 * np.pi) + np.log(integral)


@pytest.mark.parametrize("z", ALL)
def test_log_improvement(z):
    assert float(log_improvement(np.array(z))) == pytest.approx(exact(z), rel=1e-8)


@pytest.mark.parametrize("z", [2.0, 0.0, -0.9, -3.0, -50.0, -500.0])
def test_its_slope(z):
    h = 1e-5 * max(1, abs(z))
    numeric = (exact(z + h) - exact(z - h)) / (2 * h)
    assert log_improvement_slope(z) == pytest.approx(numeric, rel=1e-5)


def test_polish_stays_in_the_box_and_never_gets_worse():
    def bowl(t):
        return float(np.sum((t - 2) ** 2)), 2 * (t - 2)

    at, value = polish(bowl, np.zeros(2), np.zeros(2), np.ones(2), 20)
    assert at == pytest.approx(np.ones(2))
    assert value == pytest.approx(2.0)

    def broken(t):
        return (0.0, np.ones(2)) if not t.any() else (np.nan, np.ones(2))

    at, value = polish(broken, np.zeros(2), -np.ones(2), np.ones(2), 20)
    assert not at.any()
    assert value == 0.0


def test_candidates_are_points_of_the_lattice_and_change_its_coordinates():
    space = Space(a=Real(-1, 1), n=Integer(0, 20), kind=Choice("A", "B", "C"))
    region = make_region(space.start(), space.sigma0, space.lower, space.upper, space.lattice)
    answer = region.to_u(space.encode({"a": 0.0, "n": 10, "kind": "B"}))
    found = candidates(region, answer, np.full(5, 1e-3), np.random.default_rng(0))
    theta = region.to_theta(found)
    assert np.allclose(space.lattice.snap(theta), theta)
    near = [space.decode(row) for row in theta[len(theta) // 2 :]]
    assert {9, 10, 11} == {round(point["n"]) for point in near}
    assert {"A", "B", "C"} == {point["kind"] for point in near}
    assert len({point["a"] for point in near}) > 100


def test_only_real_numbers_are_polished():
    space = Space(a=Real(-1, 1), n=Integer(0, 20))
    region = make_region(space.start(), space.sigma0, space.lower, space.upper, space.lattice)
    low, high = region.around_point(np.array([0.3, 0.5]))
    assert low.tolist() == [0.0, 0.5]
    assert high.tolist() == [1.0, 0.5]
