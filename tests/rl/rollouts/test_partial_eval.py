"""A function in two stages is the function."""

import jax
import jax.numpy as jnp
import numpy as np

from phenes.rl.rollouts.partial_eval import staged
from tests.laws.statistics import once


def test_two_stages_are_one_function():
    constant = jnp.arange(3.0)

    def function(a, b):
        inside = jnp.sin(a["t"][:3] * constant) @ jnp.tanh(a["m"])
        return {
            "both": inside @ b[0] + b[1],
            "first": jnp.sum(a["t"]),
            "second": jnp.clip(b[0], 0, 1),
            "neither": jnp.ones(2),
        }

    a, b = {"t": jnp.arange(5.0), "m": 2 * jnp.eye(3)}, (jnp.ones(3), jnp.float64(0.5))
    early, late = staged(function, a, b)
    expected = once(function)(a, b)
    jax.tree.map(np.testing.assert_allclose, once(lambda a, b: late(early(a), b))(a, b), expected)
    many = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), a)
    together = once(lambda a: jax.vmap(late, (0, None))(jax.vmap(early)(a), b))(many)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x[0], y), together, expected)


def test_what_depends_on_the_first_alone_is_done_early():
    a, b = jnp.ones(5), jnp.ones(2)
    early, late = staged(lambda a, b: jnp.exp(a[2:4]) * b, a, b)
    done = jax.eval_shape(early, a)
    assert [v.shape for v in done] == [(2,)]
    program = str(jax.make_jaxpr(late)(done, b))
    assert "mul" in program
    assert "exp" not in program


def test_randomness_belongs_to_whoever_has_the_key(key):
    def function(a, b):
        return a + jax.random.normal(b, (3,))

    early, late = staged(function, jnp.zeros(3), key)
    np.testing.assert_array_equal(late(early(jnp.zeros(3)), key), function(jnp.zeros(3), key))
