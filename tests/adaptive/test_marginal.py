"""The law of x: never below the noise, and whitened to N(0, I)."""

import dataclasses

import numpy as np
import pytest

from phenes.adaptive.marginal import marginal_of
from tests.adaptive.problems import spd


@pytest.mark.parametrize("c", [np.ones(3), np.array([1.0, 1.0, 0.0])])
def test_the_search_never_falls_below_the_noise(c):
    marginal = marginal_of(np.zeros(3), 0.5 * spd(3, 2), c)
    assert np.linalg.eigvalsh(marginal.cov - np.diag(c)).min() > -1e-12
    assert np.allclose(marginal.push @ marginal.push.T, marginal.search(c))
    z = np.random.default_rng(0).standard_normal((5, 3))
    assert np.allclose(marginal.whiten(marginal.mean + marginal.unwhiten(z)), z)


def test_a_diagonal_marginal_agrees_with_the_matrix():
    c, variances, factors = np.array([1.0, 0.0]), np.array([4.0, 9.0]), np.array([2.0, 0.5])
    flat = marginal_of(np.ones(2), variances, c)
    full = marginal_of(np.ones(2), np.diag(variances), c)
    assert flat.diagonal
    assert not full.diagonal
    assert flat.log_width == pytest.approx(full.log_width)
    assert np.allclose(flat.excess(c), [3, np.inf])
    assert np.allclose(sorted(full.excess(c)), [3, np.inf])
    turn = full.basis.T
    assert np.allclose(full.rescaled(turn, factors), np.diag(flat.rescaled(None, factors)))
    draws = np.random.default_rng(0).standard_normal((4, 2))
    assert np.allclose(flat.draw(draws), 1 + draws * np.sqrt(variances - c))


def test_the_noise_is_whitened_with_the_search():
    c, cov = np.array([1.0, 0.0]), np.array([[4.0, 1.0], [1.0, 2.0]])
    marginal = marginal_of(np.zeros(2), cov, c)
    axes = marginal.basis / marginal.root
    assert np.allclose(marginal.whitened(c), axes.T @ np.diag(c) @ axes)


def test_a_narrow_direction_keeps_a_root():
    assert np.all(marginal_of(np.zeros(2), np.zeros((2, 2)), np.zeros(2)).root > 0)
    assert np.all(marginal_of(np.zeros(2), np.zeros(2), np.zeros(2)).root > 0)


def test_nothing_changes_a_marginal():
    marginal = marginal_of(np.zeros(2), np.eye(2), np.zeros(2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        marginal.mean = np.ones(2)


def test_a_law_that_is_carried_along_keeps_its_axes_and_stays_above_the_noise():
    c, cov = np.ones(3), spd(3, 2) + 2 * np.eye(3)
    before = marginal_of(np.zeros(3), cov, c)
    wider = before.carried(np.ones(3), cov * 4, 2.0, 1.0)
    now = marginal_of(np.ones(3), cov * 4, c)
    assert np.allclose(wider.root, now.root)
    assert np.allclose(wider.push @ wider.push.T, now.push @ now.push.T)
    assert np.array_equal(wider.mean, now.mean)
    narrow = before.carried(np.ones(3), cov / 100, 0.1, 1.0)
    assert np.allclose(narrow.root, 1)
    assert np.allclose(narrow.push, 0)
