"""The quadratic that orders points: exact where it can be, and better where points are good."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.model.surrogate import Surrogate, learn
from tests.adaptive.problems import descent, drawn, ellipsoid

DIM = 8


def a_descent(cov):
    return descent(cov, mean=1.0, width=np.linspace(1.0, 4.0, DIM), bias=0.3)


@pytest.mark.parametrize("cov", [np.full(DIM, 0.04), np.diag(np.ones(DIM)) + 0.5])
def test_a_quadratic_in_the_axes_of_the_search_is_learnt_exactly(cov):
    """And holds anywhere."""
    rng, state = np.random.default_rng(0), a_descent(cov).state
    coords, marginal = state.coords, state.marginal

    def quadratic(x):
        z = marginal.whiten(coords.to_y(x))
        return np.sum((1 + z) ** 2 * np.geomspace(1, 1000, DIM), axis=1)

    seen, x = drawn(a_descent(cov), 40, rng), 10 * rng.standard_normal((20, DIM))
    model = learn(seen, quadratic(seen), coords, marginal)
    assert np.allclose(model.predict(x), quadratic(x), rtol=1e-4)
    assert not learn(x[:10], quadratic(x[:10]), coords, marginal)  # too few rows for any model
    assert not learn(x, np.ones(20), coords, marginal)  # nothing to learn
    assert not Surrogate()


def test_good_points_weigh_more(monkeypatch):
    """The worse half of the values is random: the better half is followed more closely."""
    rng, one = np.random.default_rng(0), a_descent(np.full(DIM, 0.04))
    x = drawn(one, 400, rng)
    truth = ellipsoid(DIM, 1)[1](x)
    good = truth < np.median(truth)
    f = np.where(good, truth, truth * rng.uniform(1, 3, truth.size))
    weighted = learn(x, f, one.state.coords, one.state.marginal).predict(x[good])
    monkeypatch.setattr(tuning, "BEST_OVER_WORST", 1.0)
    plain = learn(x, f, one.state.coords, one.state.marginal).predict(x[good])
    assert np.mean((weighted - truth[good]) ** 2) < 0.7 * np.mean((plain - truth[good]) ** 2)
