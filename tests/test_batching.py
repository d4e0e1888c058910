"""A branch that stays a branch under vmap."""

import jax
import jax.numpy as jnp
import numpy as np

from phenes._batching import cond_rare

calls = {"rare": 0}


def counted(x):
    calls["rare"] += 1
    return x


def dear(a, x):
    jax.debug.callback(counted, x)
    return a * jnp.abs(x)


branch = cond_rare(lambda a, x: jnp.any(x < 0), dear, lambda a, x: a * x)


def test_values_alone_in_a_batch_and_in_nested_batches():
    x = jnp.array([[1.0, 2.0], [-3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(branch(2.0, x[0]), [2.0, 4.0])
    np.testing.assert_array_equal(jax.vmap(branch, (None, 0))(2.0, x), 2 * np.abs(x))
    np.testing.assert_array_equal(
        jax.vmap(jax.vmap(branch, (None, 0)), (0, None))(jnp.array([1.0, 2.0]), x),
        np.stack([np.abs(x), 2 * np.abs(x)]),
    )


def test_a_batch_without_need_does_not_pay():
    calls["rare"] = 0
    good = jax.jit(jax.vmap(branch, (None, 0)))(2.0, jnp.ones((5, 2)))
    jax.block_until_ready(good)
    jax.effects_barrier()
    assert calls["rare"] == 0
    bad = jax.jit(jax.vmap(branch, (None, 0)))(2.0, -jnp.ones((5, 2)))
    jax.block_until_ready(bad)
    jax.effects_barrier()
    assert calls["rare"] == 5
