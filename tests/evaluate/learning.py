"""Reinforcement learning on whatever workers: the policy of one process, to rounding."""

import jax
import numpy as np

from phenes.rl import train

SMALL = {"seed": 3, "generations": 2, "popsize": 4, "hidden": (4,), "options": {"max_episode_steps": 20}, "target": None}


def learns_as_one_process(workers) -> None:
    with jax.numpy_dtype_promotion("standard"):  # inside optax.adam a count meets a rate
        alone, together = (train("InvertedPendulum-v5", workers=each, **SMALL) for each in (None, workers))
    np.testing.assert_allclose(together.theta, alone.theta, rtol=1e-9, atol=1e-12)
    assert np.all(alone.curve.best > alone.curve.mean), "returns that are all equal would say nothing"
