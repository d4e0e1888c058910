"""The posterior of F against dense Gaussian conditioning and quadrature."""

import numpy as np
import pytest

from phenes.gp.cloud import Cloud
from phenes.gp.likelihood import matrix
from phenes.gp.posterior import Posterior
from tests.gp.reference import CLOUDS, DIAGONAL, FULL, KERNELS, POINTS, VALUES

ETA = 1e-3
THETA = np.array([[0.2, 0.3], [0.9, 0.1], [0.5, 0.5]])
NOISES = (None, DIAGONAL, FULL)


def dense(kernel, rows, noise, theta):
    """Mean and covariance of F, with a constant mean of very large prior variance."""
    flat = 1e6
    level, scale = VALUES.mean(), VALUES.std()
    y = (VALUES - level) / scale
    k = matrix(kernel, rows, ETA)
    whole = k + flat
    at = Cloud(theta, noise)
    cross = kernel.covariance(at, rows) + flat
    own = kernel.covariance(at, at) + flat
    mean = cross @ np.linalg.solve(whole, y)
    cov = own - cross @ np.linalg.solve(whole, cross.T)
    inverse = np.linalg.inv(k)
    m = inverse.sum(axis=0) @ y / inverse.sum()
    variance = scale**2 * ((y - m) @ inverse @ (y - m) + 1) / (y.size + 1)
    return level + scale * mean, variance * cov


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.shape.name)
@pytest.mark.parametrize("noise", NOISES, ids=["none", "diagonal", "full"])
@pytest.mark.parametrize("rows", CLOUDS, ids=lambda rows: str(np.shape(rows.cov)))
class TestConditioning:
    def test_is_that_of_dense_algebra(self, kernel, noise, rows):
        posterior = Posterior(kernel, ETA, rows, VALUES, noise)
        mean, cov = dense(kernel, rows, noise, THETA)
        found, sd = posterior.at(THETA)
        assert found == pytest.approx(mean, abs=1e-5)
        assert sd**2 == pytest.approx(np.diag(cov), rel=1e-3, abs=1e-6)
        joint_mean, joint = posterior.joint(THETA)
        assert joint_mean == pytest.approx(found, abs=1e-12)
        assert joint == pytest.approx(cov, abs=1e-5)

    def test_slopes(self, kernel, noise, rows):
        posterior = Posterior(kernel, ETA, rows, VALUES, noise)
        theta, h = THETA[1], 1e-5
        slopes = posterior.slopes(theta)
        for part, slope in ((0, slopes.mean_slope), (1, slopes.sd_slope)):
            up, down = (posterior.at(theta + s * h * np.eye(2))[part] for s in (1, -1))
            assert slope == pytest.approx((up - down) / (2 * h), rel=1e-4, abs=1e-6)
        assert (slopes.mean, slopes.sd) == pytest.approx(
            tuple(float(v[0]) for v in posterior.at(theta[None])), rel=1e-9
        )


@pytest.mark.parametrize("rows", CLOUDS, ids=lambda rows: str(np.shape(rows.cov)))
def test_leave_one_out_is_the_prediction_of_all_others(rows):
    kernel = KERNELS[1]
    residuals = Posterior(kernel, ETA, rows, VALUES, None).leave_one_out()[0]
    k = matrix(kernel, rows, ETA)
    for i in (0, 4):
        rest = np.arange(VALUES.size) != i
        inverse = np.linalg.inv(k[np.ix_(rest, rest)])
        mean = inverse.sum(axis=0) @ VALUES[rest] / inverse.sum()
        predicted = mean + k[i, rest] @ inverse @ (VALUES[rest] - mean)
        assert residuals[i] == pytest.approx(VALUES[i] - predicted, rel=1e-6)


def test_draws_of_the_noise_give_what_the_closed_form_gives():
    """The path of laws that are not Gaussian, on one that is: quasi-random draws."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    posterior = Posterior(KERNELS[1], ETA, CLOUDS[0], VALUES, FULL)
    unit = qmc.Sobol(2, scramble=True, rng=np.random.default_rng(0)).random(2**14)
    draws = ndtri(unit) @ np.linalg.cholesky(FULL).T
    assert posterior.averaged_over(THETA, draws) == pytest.approx(posterior.at(THETA)[0], abs=2e-4)


@pytest.mark.parametrize("noise", NOISES, ids=["none", "diagonal", "full"])
class TestBelieving:
    """Evaluations under way: the mean stays, the uncertainty near them shrinks."""

    def test_the_mean_stays_and_the_uncertainty_shrinks(self, noise):
        posterior = Posterior(KERNELS[1], ETA, CLOUDS[0], VALUES, noise)
        believed = posterior.believing(THETA[:2], noise)
        before, after = posterior.at(THETA), believed.at(THETA)
        assert after[0] == pytest.approx(before[0], abs=1e-6)
        assert np.all(after[1] < before[1])

    def test_what_will_be_measured_tells_more(self, noise):
        posterior = Posterior(KERNELS[1], ETA, CLOUDS[0], VALUES, noise)
        measured = posterior.believing(THETA[:1], None).at(THETA[:1])[1]
        hidden = posterior.believing(THETA[:1], noise).at(THETA[:1])[1]
        assert measured < hidden if noise is not None else measured == hidden

    def test_two_at_once_are_one_after_the_other(self, noise):
        posterior = Posterior(KERNELS[1], ETA, CLOUDS[0], VALUES, noise)
        both = posterior.believing(THETA[:2], noise).at(THETA)
        after = posterior.believing(THETA[:1], noise).believing(THETA[1:2], noise).at(THETA)
        assert both[1] == pytest.approx(after[1], rel=1e-6)


def test_what_is_measured_exactly_is_known_without_noise():
    """Without noise on inputs or values, F = f: the values come back, with no error."""
    posterior = Posterior(KERNELS[0], 1e-9, Cloud(POINTS), VALUES, None)
    mean, sd = posterior.at(POINTS)
    assert mean == pytest.approx(VALUES, abs=1e-4)
    assert np.all(sd < 1e-2 * VALUES.std())
