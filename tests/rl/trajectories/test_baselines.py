"""Weights of single steps: the reward that followed, by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl.rollouts.trajectory import Trajectory, to_go
from phenes.rl.trajectories import Reparameterised, credited, mix


def test_rewards_to_go_are_discounted():
    """1, 2, 4 with 0.9: 4; 2 + 3.6; 1 + 1.8 + 3.24."""
    np.testing.assert_allclose(to_go(jnp.asarray([[1.0, 2.0, 4.0]]), 0.9), [[6.04, 5.6, 4.0]])
    np.testing.assert_allclose(to_go(jnp.asarray([[1.0, 2.0, 4.0]]), 1.0), [[7.0, 6.0, 4.0]])


def test_credited_discounts_the_rewards_of_steps_that_were_taken():
    """What is not a step, or not a number, counts nothing."""
    reward = jnp.asarray([[1.0, 2.0, 4.0, 8.0], [1.0, jnp.nan, 4.0, 0.0]])
    mask = jnp.asarray([[True, True, True, False], [True] * 4])
    x = Trajectory(None, None, reward, mask, None, None)
    for discount, expected in (
        (0.9, [[6.04, 5.6, 4.0, 0.0], [4.24, 3.6, 4.0, 0.0]]),
        (0.5, [[3.0, 4.0, 4.0, 0.0], [2.0, 2.0, 4.0, 0.0]]),
    ):
        np.testing.assert_allclose(
            credited(mix(2), discount).to_go(x, jnp.result_type(float)), expected
        )


def test_wrong_arguments():
    for options in ({"discount": 0.0}, {"discount": 1.1}, {"memory": 1.0}):
        with pytest.raises(ValueError, match="discount must be in"):
            credited(Reparameterised(), **options)
    with pytest.raises(ValueError, match="estimator must be one of trajectories"):
        credited(lambda p, q, batch, w: q)
