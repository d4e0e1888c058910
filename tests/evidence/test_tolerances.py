"""Which tolerance costs how much: exact for quadratics, whatever the correlations."""

import numpy as np
import pytest

from phenes.adaptive.model.features import design
from phenes.evidence.tolerances import around, fewest_rows, shares, tolerances

G = np.array([2.0, -1.0, 0.0])
H = np.array([[1.0, 0.5, 0.0], [0.5, -3.0, 2.0], [0.0, 2.0, 0.0]])


def quadratic(z):
    return 7.0 + z @ G + 0.5 * np.einsum("ni,ij,nj->n", z, H, z)


def test_shares_of_a_quadratic_are_those_of_the_formula():
    """g_i^2 + H_ii^2 / 2 + half of the products, H_ij^2; and H_ii / 2."""
    variance, cost = shares(G, H, np.eye(3))
    assert variance == pytest.approx([4 + 0.5 + 0.125, 1 + 4.5 + 0.125 + 2, 2])
    assert cost == pytest.approx([0.5, -1.5, 0.0])


@pytest.mark.parametrize("r", [0.0, 0.7])
def test_parts_sum_to_what_is_simulated(r):
    correlation = np.eye(3) + r * np.eye(3)[[1, 0, 2]] * [[1], [1], [0]]
    z = np.random.default_rng(0).multivariate_normal(np.zeros(3), correlation, 400_000)
    f = quadratic(z)
    variance, cost = shares(G, H, correlation)
    assert variance.sum() == pytest.approx(f.var(), rel=0.02)
    assert cost.sum() == pytest.approx(f.mean() - 7.0, abs=4 * f.std() / np.sqrt(len(f)))


def test_a_quadratic_is_found_from_few_rows_exactly():
    """Wherever the rows are: 30 of them say all of it."""
    z = 0.3 + 1.5 * np.random.default_rng(1).standard_normal((30, 3))
    found = tolerances(z, quadratic(z), np.eye(3))
    variance, cost = shares(G, H, np.eye(3))
    assert found.crossed
    assert found.share == pytest.approx(variance / variance.sum(), abs=1e-6)
    assert found.cost == pytest.approx(cost, abs=1e-6)
    assert found.explained == pytest.approx(1.0)
    assert found.share.sum() == pytest.approx(1.0)


def test_what_chance_makes_of_a_coordinate_is_taken_off():
    """One of ten coordinates matters, beside a scatter as large: others get half as much by it."""
    rng = np.random.default_rng(2)
    found, naive = [], []
    for _ in range(20):
        z = rng.standard_normal((60, 10))
        f = z[:, 3] + rng.standard_normal(60)
        one = tolerances(z, f, np.eye(10))
        assert not one.crossed
        assert one.share.sum() == pytest.approx(1.0)
        found.append(1 - one.share[3])
        square = np.linalg.lstsq(design(z, full=False), f, rcond=None)[0][1:] ** 2
        naive.append(1 - (square[3] + square[13]) / square.sum())
    assert np.mean(found) < 0.5 * np.mean(naive)


def test_errors_of_the_cost_cover_it():
    rng = np.random.default_rng(3)
    off = []
    for _ in range(100):
        z = rng.standard_normal((80, 2))
        f = z[:, 0] ** 2 + np.sin(2 * z[:, 1]) + 0.5 * rng.standard_normal(80)
        found = tolerances(z, f, np.eye(2))
        off.append((found.cost - [1.0, 0.0]) / found.cost_se)
    assert np.mean(np.abs(off) < 2) > 0.9
    assert np.std(off) > 0.5


def test_too_few_rows_or_equal_values_say_nothing():
    z = np.random.default_rng(4).standard_normal((fewest_rows(3), 3))
    assert tolerances(z, quadratic(z), np.eye(3)) is not None
    assert tolerances(z[1:], quadratic(z[1:]), np.eye(3)) is None
    assert tolerances(z, np.ones(len(z)), np.eye(3)) is None
    assert tolerances(z[:0], np.empty(0), np.eye(3)) is None


def test_others_join_only_where_own_draws_are_few():
    z = np.linspace(0.1, 4.0, 40)[:, None]
    few = np.arange(40) >= 38
    assert around(z, few, 4.0).tolist() == [38, 39, *range(7)]  # 3 rows for each of 3 features
    assert around(z, ~few, 4.0).tolist() == list(range(38))
    assert around(z, few, 0.05).tolist() == [38, 39, 0, 1]
