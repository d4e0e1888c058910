"""The noise learnt from the residuals, and declared noise that does not fit."""

import numpy as np
import pytest

from phenes.optimizer.noise.fit import Residuals, misfit


def residuals(rng, n, std, factor=None, bias=0.0, missing=0.0):
    d = len(std)
    r = bias + rng.standard_normal((n, d)) * std
    if factor is not None:
        r = r + rng.standard_normal((n, factor.shape[1])) @ factor.T
    r[rng.random(r.shape) < missing] = np.nan
    sums = Residuals(d)
    for part in np.array_split(r, 7):
        sums.add(part)
    return sums


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_structure_is_found(missing):
    """Standard errors of the standard deviations are about 2 %; shared directions are strong."""
    rng = np.random.default_rng(0)
    iso = residuals(rng, 1500, np.full(6, 0.2), missing=missing).learn()
    assert iso.structure == "isotropic"
    np.testing.assert_allclose(iso.std, 0.2, rtol=0.03)
    std = np.linspace(0.1, 0.5, 6)
    diagonal = residuals(rng, 1500, std, missing=missing).learn()
    assert diagonal.structure == "diagonal"
    np.testing.assert_allclose(diagonal.std, std, rtol=0.08)
    factor = np.outer(np.ones(6), [0.4])
    shared = residuals(rng, 1500, np.full(6, 0.1), factor, missing=missing).learn()
    assert (shared.structure, shared.rank) == ("low-rank", 1)
    np.testing.assert_allclose(
        shared.cov, factor @ factor.T + 0.01 * np.eye(6), rtol=0.25 if missing else 0.15
    )


def test_a_bias_is_reported_where_it_shows():
    rng = np.random.default_rng(1)
    learnt = residuals(rng, 2000, np.full(4, 0.3), bias=np.array([0.5, 0.0, 0.0, -0.2])).learn()
    np.testing.assert_allclose(learnt.bias[[0, 3]], [0.5, -0.2], atol=0.03)
    assert "bias up to 0.5" in str(learnt)
    assert "isotropic noise: standard deviation 0.299" in str(learnt)


def test_no_noise_is_no_noise():
    sums = Residuals(3)
    sums.add(np.zeros((20, 3)))
    assert sums.learn().structure == "none"


def test_few_data_keep_to_the_simplest():
    """Eight residuals in ten dimensions cannot show correlations, and none are claimed: 40
    seeds.
    """
    for seed in range(40):
        learnt = residuals(np.random.default_rng(seed), 8, np.full(10, 0.2)).learn()
        assert learnt.structure == "isotropic", seed
        assert 0.1 < learnt.std[0] < 0.3


def test_true_declarations_raise_no_alarm():
    """500 runs: at one in a million none is expected."""
    for seed in range(500):
        sums = residuals(np.random.default_rng(seed), 200, np.full(5, 0.1))
        assert misfit(sums, np.zeros(5), np.full(5, 0.01)) is None


def test_wrong_declarations_do():
    rng = np.random.default_rng(3)
    wide = misfit(residuals(rng, 200, np.array([0.1, 0.3, 0.1])), np.zeros(3), np.full(3, 0.01))
    assert wide is not None
    assert "coordinate 1" in wide
    assert "declared 0.1" in wide
    off = misfit(
        residuals(rng, 200, np.full(3, 0.1), bias=np.array([0.0, 0.0, 0.2])),
        np.zeros(3),
        np.full(3, 0.01),
    )
    assert off is not None
    assert "coordinate 2 of x - theta is off by 0.2" in off
    assert misfit(residuals(rng, 20, np.full(3, 9.0)), np.zeros(3), np.full(3, 0.01)) is None, (
        "too few to say"
    )
