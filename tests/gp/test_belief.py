"""What is believed of E f: the difference of two places."""

import numpy as np
import pytest

from phenes.gp.acquisition import most_promising
from phenes.gp.belief import Belief
from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, matern
from phenes.gp.posterior import Posterior
from phenes.gp.region import make_region
from tests.gp.reference import DIAGONAL, KERNELS, POINTS, VALUES

HERE, THERE = np.array([0.2, 0.3]), np.array([0.9, 0.1])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.shape.name)
def test_the_error_of_a_difference_is_that_of_both_together(kernel):
    """The mean and the standard deviation of F there less F here, by draws of their joint law."""
    posterior = Posterior(kernel, 1e-3, Cloud(POINTS), VALUES, DIAGONAL)
    belief = Belief(posterior)
    gain, error = belief.difference(HERE, THERE)
    mean, joint = posterior.joint(np.stack([HERE, THERE]))
    draws = np.random.default_rng(0).multivariate_normal(mean, joint, 200_000)
    lower = draws[:, 0] - draws[:, 1]
    assert gain == pytest.approx(lower.mean(), abs=5 * lower.std() / np.sqrt(len(lower)))
    doubt = belief.doubt(np.stack([HERE, THERE])).max()
    assert error == pytest.approx(doubt * lower.std(), rel=0.02)
    assert error > 0
    assert belief.difference(HERE, HERE) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_a_failure_costs_its_price():
    kernel = KERNELS[0]
    values = Posterior(kernel, 1e-3, Cloud(POINTS), VALUES, DIAGONAL)
    labels = Posterior(kernel, 1e-3, Cloud(POINTS), (POINTS[:, 0] > 0.5).astype(float), DIAGONAL)
    plain, walled = Belief(values), Belief(values, labels, 50.0)
    assert walled.difference(HERE, THERE)[0] < plain.difference(HERE, THERE)[0] - 5


def test_what_fails_is_part_of_the_mean_and_of_its_slopes():
    """(1 - P) F + P price, with the derivatives of both."""
    kernel = KERNELS[0]
    values = Posterior(kernel, 1e-3, Cloud(POINTS), VALUES, DIAGONAL)
    labels = Posterior(kernel, 1e-3, Cloud(POINTS), (POINTS[:, 0] > 0.5).astype(float), DIAGONAL)
    walled = Belief(values, labels, 50.0)
    middle = np.array([0.55, 0.3])
    p = walled.failing(middle[None])[0]
    assert 0.05 < p < 0.95
    f, sd = values.at(middle[None])
    doubt = walled.doubt(middle[None])
    mean, error = walled.at(middle[None])
    assert mean[0] == pytest.approx((1 - p) * f[0] + p * 50.0)
    assert error[0] == pytest.approx((1 - p) * sd[0] * doubt[0])
    found = walled.slopes(middle, 1.0)
    for k in range(2):
        step = 1e-5 * np.eye(2)[k]
        up, down = (walled.slopes(middle + s, 1.0) for s in (step, -step))
        assert found.mean_slope[k] == pytest.approx((up.mean - down.mean) / 2e-5, rel=1e-4)
        assert found.sd_slope[k] == pytest.approx((up.sd - down.sd) / 2e-5, rel=1e-3)


def under_way(kernel):
    """A belief with two evaluations under way."""
    values = Posterior(kernel, 1e-3, Cloud(POINTS), VALUES, DIAGONAL)
    return values, Belief(values).believing(np.array([[0.3, 0.7], [0.5, 0.1]]), None)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.shape.name)
def test_what_is_under_way_changes_the_error_and_not_the_mean(kernel):
    values, belief = under_way(kernel)
    assert belief.believed is not None
    theta = np.array([HERE, THERE])
    mean, sd, doubt = belief.doubted(theta)
    assert mean == pytest.approx(values.at(theta)[0], rel=1e-12)
    assert doubt == pytest.approx(values.doubt(theta), rel=1e-12)
    assert sd == pytest.approx(belief.believed.at(theta)[1] * doubt, rel=1e-12)
    f, other = belief.slopes(HERE, 2.0), belief.believed.slopes(HERE)
    assert f.mean_slope == pytest.approx(values.slopes(HERE).mean_slope, rel=1e-9)
    assert (f.mean, f.sd) == pytest.approx((mean[0], 2 * other.sd), rel=1e-9)
    assert f.sd_slope == pytest.approx(2 * other.sd_slope, rel=1e-9)


def test_the_candidates_of_an_ask_are_compared_with_the_rows_once(monkeypatch):
    """Mean, standard deviation and doubt need the same covariances, which are most of the work."""
    _, belief = under_way(KERNELS[0])
    sizes = []
    local = Kernel.local

    def counted(self, a, b):
        sizes.append(len(a))
        return local(self, a, b)

    monkeypatch.setattr(Kernel, "local", counted)
    points = np.random.default_rng(0).random((50, 2))
    width = np.ones(2)
    region = make_region(width / 2, width / 8, np.zeros(2), width)
    most_promising(belief, 0.0, points, region)
    assert sizes.count(50) == 1


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda kernel: kernel.shape.name)
def test_slopes_of_what_may_be_found_are_those_of_finite_differences(kernel):
    """Where it is not known whether evaluations fail: mean, error and the chance that they work."""
    rng = np.random.default_rng(7)
    rows, labels = Cloud(rng.random((12, 2))), (np.arange(12) % 3 == 0).astype(float)
    values = Posterior(kernel, 1e-3, rows, rng.standard_normal(12), DIAGONAL)
    failures = Posterior(
        Kernel(matern(False), np.full(2, 0.5)), 0.1, rows, labels, DIAGONAL, level=0.3
    )
    belief, h = Belief(values, failures, 2.0), 1e-5
    for theta in (np.array([0.3, 0.6]), np.array([0.8, 0.2])):
        doubt = float(belief.doubt(theta[None])[0])

        def at(u, doubt=doubt):
            found, chance, _ = belief.hope_slopes(u, doubt)
            return np.array([found.mean, found.sd, chance])

        found, _chance, rise = belief.hope_slopes(theta, doubt)
        plain, _ = belief.hope(theta[None])
        assert at(theta) == pytest.approx(np.concatenate(plain), rel=1e-7)
        numeric = np.stack([(at(theta + e) - at(theta - e)) / (2 * h) for e in h * np.eye(2)], 1)
        slopes = np.stack([found.mean_slope, found.sd_slope, rise])
        assert slopes == pytest.approx(numeric, rel=1e-4, abs=1e-6)
