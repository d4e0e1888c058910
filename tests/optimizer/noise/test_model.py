"""What the optimiser knows of the world: draws, pull-back, unmeasured coordinates, moments of any
law.
"""

import numpy as np
import pytest

import phenes
from phenes import inputs
from phenes.optimizer.noise.model import noise_model

COV = np.array([[1.0, 0.6, 0.2], [0.6, 2.0, -0.5], [0.2, -0.5, 0.7]])


def test_draws_have_the_declared_moments():
    gain = np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 0.5]])
    model = noise_model(inputs.GaussianNoise(COV, bias=[1.0, 0.0, -1.0], gain=gain), 3)
    theta = np.broadcast_to([0.3, -0.2, 0.5], (200_000, 3))
    x = model.draw(0, 0, theta)
    pulled = model.pull(x, theta) - theta
    bias, cov = model.moments(theta)
    np.testing.assert_array_equal(bias, 0)
    expected = np.linalg.inv(gain) @ COV @ np.linalg.inv(gain).T
    np.testing.assert_allclose(cov, expected, rtol=1e-6)
    # standard errors: sqrt(c_ii c_jj + c_ij^2) / sqrt(n)
    se = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / len(x))
    assert np.all(np.abs(np.cov(pulled.T) - expected) < 5 * se)
    assert np.all(np.abs(pulled.mean(axis=0)) < 5 * np.sqrt(np.diag(expected) / len(x)))


@pytest.mark.parametrize(
    "noise", [0.1, COV, inputs.LaplaceNoise(0.2)], ids=["scalar", "matrix", "law"]
)
def test_random_numbers_belong_to_the_individual(noise):
    model, theta = noise_model(noise, 3), np.zeros((9, 3))
    np.testing.assert_array_equal(model.draw(4, 7, theta)[:5], model.draw(4, 7, theta[:5]))
    assert np.all(model.draw(4, 7, theta) != model.draw(4, 8, theta))
    assert np.all(model.draw(4, 7, theta) != model.draw(5, 7, theta))


def test_unmeasured_coordinates_are_filled_with_their_conditional_mean():
    """x_u | x_m = C_um C_mm^-1 r_m; nothing measured leaves theta."""
    model = noise_model(inputs.GaussianNoise(COV, bias=[1.0, 0.0, -1.0]), 3)
    theta = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 0.0, 0.0]])
    x = np.array([[1.5, np.nan, -0.7], [np.nan, np.nan, np.nan], [2.0, 0.5, 0.3]])
    full, known = model.fill(theta, x)
    seen = [0, 2]
    expected = COV[1, seen] @ np.linalg.solve(COV[np.ix_(seen, seen)], [0.5, 0.3])
    np.testing.assert_allclose(full[0], [1.5, expected, -0.7])
    np.testing.assert_allclose(full[1], [2.0, 1.0, 0.0])
    np.testing.assert_allclose(full[2], x[2], rtol=1e-12)
    first = COV[:, seen] @ np.linalg.solve(COV[np.ix_(seen, seen)], COV[seen])
    np.testing.assert_allclose(known.cov, (first + 0 * COV + COV) / 3)


def test_of_a_diagonal_law_only_what_was_measured_counts():
    model = noise_model([0.1, 0.2], 2)
    full, known = model.fill(np.ones((2, 2)), np.array([[1.1, np.nan], [0.9, 1.3]]))
    np.testing.assert_allclose(full, [[1.1, 1.0], [0.9, 1.3]])
    np.testing.assert_allclose(known.cov, [0.01, 0.02], rtol=1e-6)


@pytest.mark.parametrize(
    ("law", "bias", "var"),
    [
        (inputs.LaplaceNoise(0.3), 0.0, 0.18),
        (inputs.UniformNoise(0.6), 0.0, 0.12),
        (inputs.GaussianMixtureNoise([0.5, 0.5], [0.1, 0.1], [[0.0, 0.0], [1.0, 1.0]]), 0.5, None),
        (inputs.HeteroscedasticNoise(lambda theta: 0.5 * abs(theta)), 0.0, 1.0),
    ],
    ids=["Laplace", "uniform", "mixture", "heteroscedastic"],
)
def test_moments_of_any_law(law, bias, var):
    """Within 5 % of the truth: the draws give standard deviations to about 1 %."""
    found = noise_model(law, 2).moments(np.array([2.0, 2.0]))
    np.testing.assert_allclose(found.bias, bias, atol=0.05)
    # all coordinates share the component: 0.01 + 0.25 on the diagonal, 0.25 beside it
    if var is None:
        np.testing.assert_allclose(found.cov, [[0.26, 0.25], [0.25, 0.26]], rtol=0.05)
    else:
        np.testing.assert_allclose(found.cov, [var, var], rtol=0.1)


@pytest.mark.few
@pytest.mark.parametrize("engine", [pytest.param("gp", marks=pytest.mark.tier("runs")), "adaptive"])
@pytest.mark.parametrize(
    "noise",
    [[0.3, 0, 0.3], np.diag([0.09, 0, 0.09])],
    ids=["standard deviations", "covariance"],
)
def test_a_coordinate_without_noise_is_exact(engine, noise):
    """E f = sum (theta - 1)^2 + 0.18, and x_1 = theta_1 in every evaluation."""
    budget = 25 if engine == "gp" else 400
    result = phenes.minimize(
        lambda x: float(np.sum((x - 1) ** 2)), np.zeros(3), 0.5, noise, budget=budget, engine=engine
    )
    seen = result.evaluations
    np.testing.assert_array_equal(seen.x[:, 1], seen.theta[:, 1])
    assert (seen.x[:, [0, 2]] != seen.theta[:, [0, 2]]).all()
    assert abs(result.x[1] - 1) < (0.3 if engine == "gp" else 0.05)
    assert abs(result.fun - 0.18 - np.sum((result.x - 1) ** 2)) < 4 * result.fun_se + 0.02
    assert np.isfinite([result.fun, result.fun_se]).all()


def test_a_coordinate_without_noise_is_exact_by_ask_and_tell():
    opt = phenes.Optimizer(np.zeros(3), 0.5, [0.1, 0, 0.1], budget=200, seed=1)
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = opt.ask()
        x = theta + rng.normal(size=theta.shape) * [0.1, 0, 0.1]
        opt.tell(theta, np.sum((x - 1) ** 2, axis=1), realised=x)
    assert opt.warning is None
    np.testing.assert_allclose(opt.noise_std, [0.1, 0, 0.1])
    np.testing.assert_allclose(opt.result.x, 1, atol=0.1)
