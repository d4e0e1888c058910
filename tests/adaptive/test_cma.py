"""CMA-ES: constants of the tutorial, no drift under neutral selection, paths that wait."""

import numpy as np
import pytest

from phenes.adaptive import cma
from phenes.adaptive.marginal import marginal_of


def test_rates_are_those_of_the_tutorial():
    """d = 10, n = 10: values computed by hand from the formulas."""
    k = cma.rates(10, 10, 10, False)
    assert k.mu == 5
    assert np.isclose(k.weights[:5].sum(), 1)
    assert np.isclose(k.mu_eff, 3.1673, atol=1e-3)
    assert np.isclose(k.c_s, 5.1673 / 18.1673, atol=1e-3)
    assert np.isclose(k.damping, 1 + k.c_s)
    assert np.isclose(k.c_c, (4 + 0.31673) / (14 + 0.63346), atol=1e-4)
    assert np.isclose(k.c_1, 2 / (11.3**2 + 3.1673), atol=1e-5)
    assert np.isclose(k.c_mu, 2 * (3.1673 - 2 + 1 / 3.1673 + 0.25) / (144 + 3.1673), atol=1e-5)
    assert np.all(k.weights[5:] < 0)


def test_a_diagonal_learns_faster():
    assert cma.rates(10, 10, 10, True).c_1 == pytest.approx(4 * cma.rates(10, 10, 10, False).c_1)


def test_values_of_a_model_move_the_mean_but_teach_no_faster():
    """50 points of which 10 are evaluated: weights of 50, rates of 10."""
    few, many = cma.rates(10, 10, 10, False), cma.rates(10, 50, 50, False)
    mixed = cma.rates(10, 50, 10, False)
    assert np.array_equal(mixed.weights[:25], many.weights[:25])
    assert mixed.mu_eff == many.mu_eff
    for name in ("c_s", "damping", "c_c", "c_1", "c_mu"):
        assert getattr(mixed, name) == getattr(few, name)


def test_neutral_selection_keeps_the_covariance():
    """Random values: the log width has no drift beyond 4 standard errors of a random walk."""
    rng, nothing = np.random.default_rng(0), np.zeros(4)
    drifts = []
    for _ in range(20):
        marginal, paths = marginal_of(nothing, np.eye(4), nothing), cma.no_paths(4)
        for _ in range(30):
            y = marginal.draw(rng.standard_normal((12, 4)))
            new = cma.update(marginal, paths, cma.Population(y, rng.random(12), 12))
            marginal, paths = marginal_of(new.mean, new.cov, nothing), new.paths
        drifts.append(marginal.log_width)
    assert abs(np.mean(drifts)) < 4 * np.std(drifts) / np.sqrt(20) + 0.1


@pytest.mark.parametrize("n", [4, 10, 50])
@pytest.mark.parametrize("paired", [False, True])
def test_the_path_has_length_one_under_neutral_selection(n, paired):
    """In each coordinate, so that the step size has no drift, for pairs as well."""
    dim, rng, squares = 6, np.random.default_rng(0), []
    marginal = marginal_of(np.zeros(dim), np.eye(dim), np.zeros(dim))
    for _ in range(300):
        paths = cma.Paths(rng.standard_normal(dim), np.zeros(dim))
        z = rng.standard_normal((n // 2 if paired else n, dim))
        y = np.concatenate([z, -z]) if paired else z
        told = cma.Population(marginal.unwhiten(y), rng.random(n), n, paired)
        squares.append(cma.update(marginal, paths, told).paths.s ** 2)
    # the path began as a standard normal vector and has to be one afterwards: 1800 squares with a
    # standard deviation of sqrt 2
    assert np.mean(squares) == pytest.approx(1, abs=4 * np.sqrt(2 / 1800))


def population(dim=5, n=8, seed=0):
    rng = np.random.default_rng(seed)
    return cma.Population(rng.standard_normal((n, dim)), np.arange(float(n)), n)


def test_a_long_path_of_the_step_size_stalls_the_other():
    """h_sigma = 0: p_c only decays, and the covariance keeps what the path would have given."""
    dim = 5
    marginal, told = marginal_of(np.zeros(dim), np.eye(dim), np.zeros(dim)), population(dim)
    path_c = np.arange(1.0, dim + 1)
    k = cma.rates(dim, 8, 8, False)
    calm = cma.update(marginal, cma.Paths(np.zeros(dim), path_c, 50), told)
    long = cma.update(marginal, cma.Paths(np.full(dim, 9.0), path_c, 50), told)
    direction = long.paths.c / path_c  # growth is a common factor
    assert np.allclose(direction, direction[0])
    assert not np.allclose(calm.paths.c / path_c, (calm.paths.c / path_c)[0])
    norm = np.linalg.norm(long.paths.s)
    growth = np.exp(min(1.0, k.c_s / k.damping * (norm / cma.expected_length(dim) - 1)))
    assert np.allclose(long.paths.c, growth * (1 - k.c_c) * path_c)


def test_the_path_is_calm_up_to_the_tutorials_length():
    k, dim = cma.rates(10, 10, 10, False), 10
    longest = (1.4 + 2 / 11) * cma.expected_length(dim)
    assert cma.is_calm(0.99 * longest, k.c_s, 1000, dim)
    assert not cma.is_calm(1.01 * longest, k.c_s, 1000, dim)
    assert cma.expected_length(dim) == pytest.approx(3.0843, abs=1e-3)


def test_failed_points_pull_nothing():
    """All weight is with the values there are; without any, nothing moves."""
    dim = 3
    marginal, told = marginal_of(np.zeros(dim), np.eye(dim), np.zeros(dim)), population(dim)
    f = np.where(np.arange(8) == 3, 1.0, np.nan)
    new = cma.update(marginal, cma.no_paths(dim), cma.Population(told.y, f, 8))
    assert np.allclose(new.mean, told.y[3])
    same = cma.update(marginal, cma.no_paths(dim), cma.Population(told.y, np.full(8, np.nan), 8))
    assert np.array_equal(same.mean, marginal.mean)
    assert np.array_equal(same.cov, marginal.cov)


def test_a_mean_that_bounds_hold_back_takes_no_step():
    dim = 3
    marginal, told = marginal_of(np.zeros(dim), np.eye(dim), np.zeros(dim)), population(dim)
    new = cma.update(marginal, cma.no_paths(dim), told, lambda y: np.zeros(dim))
    assert np.array_equal(new.mean, np.zeros(dim))
    assert np.array_equal(new.paths.s, np.zeros(dim))
