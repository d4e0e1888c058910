"""The flight past the planets against SciPy's integrator, and its two optima found again."""

import numpy as np
import pytest
from scipy import integrate, optimize

from phenes.problems.engineering import launch
from phenes.problems.engineering.launch import LAUNCH, PLANETS, closest, flights


def by_scipy(angle, speed):
    """The closest distance to the target."""
    planets = np.array(PLANETS)

    def rates(_, y):
        away = planets[:, :2] - y[:2]
        return [*y[2:], *(planets[:, 2] / np.sum(away**2, axis=1) ** 1.5 @ away)]

    a = np.deg2rad(angle)
    start = [0.1, 0.0, speed * np.cos(a), speed * np.sin(a)]
    path = integrate.solve_ivp(
        rates, (0, 4), start, method="DOP853", rtol=1e-10, atol=1e-10, dense_output=True
    )
    distance = lambda t: np.hypot(*(path.sol(t)[:2].T - (10, 0)).T)  # noqa: E731
    t = np.linspace(0, 4, 4001)
    k = int(np.argmin(distance(t)))
    found = optimize.minimize_scalar(
        lambda s: float(distance(s)),
        bounds=(t[max(k - 1, 0)], t[min(k + 1, 4000)]),
        method="bounded",
    )
    return min(found.fun, distance(t).min())


@pytest.mark.parametrize(
    "x", [(28.0, 4.79), (25.0, 4.7), (1.0, 4.33), (33.0, 4.85), (-5.0, 4.5), (45.0, 4.3)]
)
def test_flights_are_those_of_scipy(x):
    assert closest(np.array(x)) == pytest.approx(by_scipy(*x), abs=1e-4)


def test_shorter_steps_change_nothing(monkeypatch):
    x = LAUNCH.realise(LAUNCH.optimum, 64, np.random.default_rng(0))
    usual = closest(x)
    monkeypatch.setattr(launch, "SHARE", 0.03)
    monkeypatch.setattr(launch, "MOST_STEPS", 1200)
    launch._closest.cache_clear()
    try:
        error = np.abs(closest(x) - usual)
    finally:
        launch._closest.cache_clear()
    assert np.quantile(error, 0.95) < 1e-3


def test_the_nominal_optimum_hits_the_target():
    assert closest(LAUNCH.nominal) < 0.01
    assert LAUNCH(LAUNCH.nominal) == pytest.approx(-0.9342, abs=2e-4)
    around = LAUNCH.nominal + np.random.default_rng(1).uniform(-1, 1, size=(128, 2)) * [1.0, 0.02]
    assert LAUNCH(around).max() < -0.9338


def test_the_robust_optimum_is_found_again_by_quadrature():
    """E f of all designs around it at once: f on a grid, weighted by the law of the errors."""
    angle, speed = np.arange(13, 43.1, 1.0), np.arange(4.54, 5.05, 0.01)
    f = LAUNCH(np.stack(np.meshgrid(angle, speed, indexing="ij"), axis=-1))
    weights = lambda at, grid, sigma: (w := np.exp(-0.5 * ((grid - at) / sigma) ** 2)) / w.sum()  # noqa: E731
    value = lambda t: float(weights(t[0], angle, 3.0) @ f @ weights(t[1], speed, 0.05))  # noqa: E731
    found = optimize.minimize(
        lambda t: -value(t),
        (26, 4.77),
        method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-7},
    )
    assert np.all(np.abs(found.x - LAUNCH.optimum) < [0.5, 0.01])
    assert -found.fun == pytest.approx(LAUNCH.value, abs=5e-4)


def test_paths_begin_at_the_start_and_come_as_close_as_they_say():
    x = np.array([[28.0, 4.79], [25.0, 4.7]])
    t, place, near = flights(x)
    np.testing.assert_array_equal(place[:, 0], [[0.1, 0.0]] * 2)
    assert np.all(np.diff(t, axis=1) >= 0)
    np.testing.assert_allclose(near, closest(x), rtol=1e-9)
    distance = np.linalg.norm(place - [10.0, 0.0], axis=-1).min(axis=1)
    assert np.all(distance >= near - 1e-9)
    np.testing.assert_allclose(distance, near, atol=0.05)


def test_populations_of_any_size():
    """They are padded and cut into blocks; nobody notices."""
    x = LAUNCH.realise(LAUNCH.optimum, 70, np.random.default_rng(3))
    np.testing.assert_allclose(closest(x)[:33], closest(x[:33]), rtol=1e-9)
    assert closest(x[:6].reshape(2, 3, 2)).shape == (2, 3)
