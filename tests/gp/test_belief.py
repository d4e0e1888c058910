"""What is believed of E f: the difference of two places."""

import numpy as np
import pytest

from phenes.gp.belief import Belief
from phenes.gp.kernel import Cloud
from phenes.gp.posterior import Posterior
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
