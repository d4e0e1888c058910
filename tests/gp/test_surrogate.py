"""The model as a control variate: each row with a model of all others."""

import numpy as np
import pytest

from phenes.gp.cloud import Cloud
from phenes.gp.fit import Fitted
from phenes.gp.kernel import matern, squared_exponential
from phenes.gp.likelihood import prior
from phenes.gp.posterior import Posterior
from phenes.gp.region import make_region
from phenes.gp.surrogate import Surrogate
from phenes.risk import cvar, std

COV = {"variances": np.array([0.3, 0.05]), "covariance": np.array([[0.3, 0.1], [0.1, 0.2]])}


def f(x):
    return np.sin(2 * x[:, 0]) + 0.3 * x[:, 1] ** 3 + x[:, 0] * x[:, 1]


def surrogate(shape=None):
    shape = squared_exponential(True) if shape is None else shape
    parameters = prior(shape, 2).mean
    region = make_region(np.zeros(2), np.full(2, 0.5), np.full(2, -np.inf), np.full(2, np.inf))
    return Surrogate(Fitted(shape, parameters, 0.0), region), region


@pytest.mark.parametrize("shape", [squared_exponential(True), matern(False)], ids=lambda s: s.name)
@pytest.mark.parametrize("cov", COV.values(), ids=COV)
def test_each_row_is_judged_by_a_model_that_has_not_seen_it(shape, cov):
    """The closed form is the dense posterior without the row."""
    rng = np.random.default_rng(0)
    model, region = surrogate(shape)
    x, theta = rng.normal(0, 1, (12, 2)), np.array([0.3, -0.2])
    y = f(x)
    left = model.leave_one_out(x, y, theta, cov, np.empty((0, 2)), True, x[:0])
    fitted = model._fitted
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        u, at = region.to_u(x), region.to_u(theta)[None]
        rows = Cloud(u[others])
        dense = Posterior(fitted.kernel, fitted.eta, rows, y[others], region.covariance(cov))
        expected = dense.at(at)[0][0]
        missed = y[i] - dense.averaged_over(u[i][None], np.zeros((1, 2)))[0]
        assert left.rest[i] == pytest.approx(missed, rel=1e-6, abs=1e-9)
        assert left.values[i] == pytest.approx(expected + missed, rel=1e-6, abs=1e-9)


def test_draws_stand_for_a_law_that_is_not_gaussian():
    """With many draws of a Gaussian the same as in closed form; scatter is that of the model."""
    rng = np.random.default_rng(1)
    model, _ = surrogate()
    x, theta, cov = rng.normal(0, 1, (30, 2)), np.array([0.1, 0.2]), np.array([0.04, 0.09])
    draws = theta + np.sqrt(cov) * rng.standard_normal((20_000, 2))
    closed = model.leave_one_out(x, f(x), theta, cov, draws, True, x[:0])
    sampled = model.leave_one_out(x, f(x), theta, cov, draws, False, x[:0])
    se = sampled.scatter / np.sqrt(len(draws))
    assert 0 < se < 0.01
    np.testing.assert_allclose(sampled.values, closed.values, atol=5 * se)
    assert sampled.scatter == pytest.approx(np.std(f(draws)), rel=0.2)


def test_the_error_grows_where_nothing_was_seen():
    rng = np.random.default_rng(2)
    model, _ = surrogate()
    x, cov = rng.normal(0, 0.5, (40, 2)), np.array([0.01, 0.01])
    none = np.empty((0, 2))
    near, far = (
        model.leave_one_out(x, f(x), np.full(2, at), cov, none, True, none).error
        for at in (0.0, 3.0)
    )
    assert far > 10 * near > 0


def test_what_is_expected_at_other_points():
    rng = np.random.default_rng(3)
    model, _ = surrogate()
    x, others = rng.normal(0, 0.5, (60, 2)), rng.normal(0, 0.3, (5, 2))
    none, cov = np.empty((0, 2)), np.array([0.01, 0.01])
    left = model.leave_one_out(x, f(x), np.zeros(2), cov, none, True, others)
    np.testing.assert_allclose(left.elsewhere, f(others), atol=0.05)


def test_a_model_that_expects_no_spread_does_not_know_that_there_is_none():
    """Equal values far from the law: what it expects there is constant, and nothing is known.

    A standard deviation of zero has no slope by which an error of f could become one of it.
    """
    model, _ = surrogate(matern(False))
    x = np.array([[3.0, 3.0], [3.0, -3.0], [-3.0, 3.0], [-3.0, -3.0], [3.5, 0.0], [0.0, 3.5]])
    y = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.1])
    draws = np.random.default_rng(0).normal(0, 0.1, (256, 2))
    left, reference = model.of_risk(x, y, draws, std(), x[:0])
    unknown = model._posterior(model._region.to_u(x), y).of(Cloud(model._region.to_u(draws)))[1]
    least = np.sqrt(np.mean(unknown**2))
    claimed = reference.risk_of(np.mean(left.values) + 2 * left.error)
    assert claimed > least > 5 * reference.spread


def test_the_error_of_a_risk_is_not_below_what_leaving_a_row_out_changes():
    rng = np.random.default_rng(2)
    model, _ = surrogate()
    x, draws = rng.normal(0, 0.5, (25, 2)), rng.normal(0, 0.2, (256, 2))
    y = f(x) + 5.0 * (x[:, 0] > 0.3)  # rougher than any kernel of the model
    left, reference = model.of_risk(x, y, draws, cvar(0.9), x[:0])
    whole = np.mean(reference.values(_expected(model, x, y, draws)))
    assert left.error >= np.linalg.norm(left.values - left.rest - whole)


def _expected(model, x, y, draws):
    posterior = model._posterior(model._region.to_u(x), y)
    at = Cloud(model._region.to_u(draws))
    return posterior.predicted(posterior.kernel.covariance(at, posterior.rows))
