"""A wrong shape is seen at test time; that the right ones hold, every test of the core shows."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError

from phenes import estimators, inputs, search, weightings
from phenes.covariance import Dense


@pytest.mark.parametrize(
    "wrong",
    [
        lambda q, p: q.push(jnp.zeros((2, 3))),
        lambda q, p: q.score(jnp.zeros((5, 3)), jnp.zeros(4)),
        lambda q, p: p.log_prob(jnp.zeros((1, 3)), jnp.zeros(3)),
        lambda q, p: p.marginal_score(q, jnp.zeros((5, 3)), jnp.zeros((5, 1))),
        lambda q, p: weightings.value(jnp.zeros((5, 1))),
        lambda q, p: Dense(jnp.eye(3)).solve(jnp.zeros(3)),
        lambda q, p: estimators.diagonal(jnp.zeros(3)),
    ],
)
def test_a_wrong_shape_is_refused_in_tests(wrong):
    """Without the hook most of these would broadcast, or fail somewhere else."""
    q, p = search.Gaussian(np.zeros(3), np.eye(3)), inputs.GaussianNoise(0.1)
    with pytest.raises(TypeCheckError):
        wrong(q, p)
