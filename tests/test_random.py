"""Normal numbers: their law, their arithmetic, and that a row does not depend on how many there
are.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from phenes._random import log, normal, sine_and_cosine


@pytest.fixture(scope="module")
def many():
    return np.asarray(normal(jax.random.key(3), (200_000, 5), jnp.float64))


def test_the_law_is_normal(many):
    for column in many.T:
        assert stats.kstest(column, "norm").pvalue > 1e-4
    # 1e6 numbers: both tails beyond 3 and 4.5 standard deviations hold as many as they should
    for far in (3.0, 4.5):
        expected = many.size * stats.norm.sf(far)
        for count in ((many > far).sum(), (many < -far).sum()):
            assert abs(count - expected) < 5 * np.sqrt(expected) + 1


def test_numbers_of_a_row_are_independent(many):
    """Also their sizes: the two numbers of a pair share a radius and an angle, which cancel."""
    for function in (lambda z: z, np.abs, lambda z: z**4):
        r = np.corrcoef(function(many).T) - np.eye(5)
        assert np.abs(r).max() < 5 / np.sqrt(len(many))


def test_arithmetic_is_good_to_rounding():
    x = np.concatenate([np.random.default_rng(0).random(100_000), 2.0 ** -np.arange(1, 54), [1.0]])
    np.testing.assert_allclose(jax.jit(log)(jnp.asarray(x)), np.log(x), rtol=4e-16, atol=4e-16)
    turns = np.concatenate([x[:-1], np.arange(8) / 8])
    for got, expected in zip(
        jax.jit(sine_and_cosine)(jnp.asarray(turns)),
        (np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)),
        strict=True,
    ):
        np.testing.assert_allclose(got, expected, atol=2e-15)


@pytest.mark.parametrize("shape", [(3, 4), (3, 5), (2, 3, 1), (7,), ()])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_shape_and_dtype_are_as_asked(shape, dtype, key):
    z = normal(key, shape, dtype)
    assert z.shape == shape
    assert z.dtype == dtype
    assert np.isfinite(z).all()


def test_a_row_does_not_depend_on_their_number(key):
    np.testing.assert_array_equal(
        normal(key, (3, 5), jnp.float64), normal(key, (9, 5), jnp.float64)[:3]
    )


def test_a_radius_is_never_infinite():
    """The uniform numbers are multiples of 2^-52 below 1: the longest radius is the smallest 1
    - u.
    """
    assert np.isfinite(log(jnp.array(2.0**-53)))
    assert log(jnp.array(1.0)) == 0.0
