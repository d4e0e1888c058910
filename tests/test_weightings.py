"""docs/parts/weightings.md: ties, spread, failures, scale."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phenes import weightings

ALL = {
    "value": weightings.value,
    "standardise": weightings.standardise,
    "centred_ranks": weightings.centred_ranks,
    "truncated_ranks": weightings.truncated_ranks(),
    "log_ranks": weightings.log_ranks,
    "normalised": weightings.normalised(weightings.truncated_ranks()),
    "summed": weightings.summed(weightings.truncated_ranks()),
}
EVERY = pytest.mark.parametrize("weighting", ALL.values(), ids=ALL)
RANKS = pytest.mark.parametrize(
    "weighting", [w for name, w in ALL.items() if name not in ("value", "standardise")]
)
SIZES = (2, 3, 5, 12)  # each is a program of its own
populations = (
    st.sampled_from(SIZES)
    .flatmap(lambda n: st.lists(st.integers(-5, 5), min_size=n, max_size=n))
    .map(lambda f: jnp.array(f, float))
)


@functools.cache
def compiled(weighting):
    """For populations of many sizes: a program for each, not one for each operation in it."""
    return jax.jit(weighting)


@EVERY
@pytest.mark.parametrize(
    "f",
    [[3.0], [2.0, 2.0, 2.0], [jnp.nan, jnp.nan], [jnp.inf, -jnp.inf, jnp.nan]],
    ids=["one", "tied", "nan", "none finite"],
)
def test_without_spread_all_weights_are_zero(weighting, f):
    np.testing.assert_array_equal(compiled(weighting)(jnp.array(f)), np.zeros(len(f)))


@EVERY
@settings(max_examples=40, deadline=None)
@given(f=populations)
def test_equal_values_get_equal_weights_and_better_ones_no_less(weighting, f):
    w = np.asarray(compiled(weighting)(f))
    order = np.argsort(f, stable=True)
    assert np.all(np.diff(w[order]) >= -1e-12)
    for value in np.unique(f):
        assert np.ptp(w[np.asarray(f) == value]) < 1e-12


@RANKS
@settings(max_examples=40, deadline=None)
@given(f=populations)
def test_ties_share_and_so_keep_the_sum(weighting, f):
    """The sum of the weights does not depend on how ties would have been broken."""
    if np.ptp(f) == 0:
        return
    broken = jnp.asarray(np.asarray(f) + 1e-6 * np.arange(f.size))
    of = compiled(weighting)
    np.testing.assert_allclose(np.sum(of(f)), np.sum(of(broken)), atol=1e-9)


@EVERY
@pytest.mark.parametrize("bad", [jnp.nan, jnp.inf, -jnp.inf])
def test_a_value_that_is_not_finite_is_the_worst(weighting, bad):
    w = np.asarray(compiled(weighting)(jnp.array([1.0, bad, 3.0, -2.0, 0.5])))
    assert np.all(np.isfinite(w))
    assert w[1] == w.min()


@EVERY
def test_permutations_commute(weighting):
    f = jnp.array([0.3, -1.0, 2.0, 0.3, 7.0])
    order = jnp.array([4, 2, 0, 1, 3])
    np.testing.assert_allclose(
        compiled(weighting)(f[order]), compiled(weighting)(f)[order], atol=1e-12
    )


@RANKS
def test_ranks_do_not_see_the_scale(weighting):
    f = jnp.array([0.3, -1.0, 2.0, 0.1, 7.0])
    np.testing.assert_allclose(compiled(weighting)(jnp.exp(f)), compiled(weighting)(f), atol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_standardise_at_any_scale(size):
    np.testing.assert_allclose(
        weightings.standardise(size * jnp.array([0.0, 0.0, 0.0, 1.0])),
        [-(3**-0.5)] * 3 + [3**0.5],
        rtol=1e-12,
    )


def test_value_is_the_leave_one_out_baseline():
    f = np.array([1.0, 4.0, -2.0, 0.5])
    expected = [f[i] - np.delete(f, i).mean() for i in range(4)]
    np.testing.assert_allclose(weightings.value(jnp.asarray(f)), expected, rtol=1e-12)


def test_sums_are_as_documented():
    f = jnp.arange(100.0)
    assert np.isclose(np.mean(compiled(ALL["normalised"])(f)), 1)
    assert np.isclose(np.mean(compiled(weightings.log_ranks)(f)), 1)
    assert np.isclose(np.mean(compiled(ALL["summed"])(f)), 4.0)
    assert np.isclose(np.sum(compiled(weightings.centred_ranks)(f)), 0)


def test_log_ranks_are_those_of_cma_es():
    w = np.asarray(compiled(weightings.log_ranks)(jnp.arange(10.0)))[::-1] / 10
    raw = np.log(5.5) - np.log(np.arange(1, 6))
    np.testing.assert_allclose(w[:5], raw / raw.sum(), rtol=1e-12)
    np.testing.assert_array_equal(w[5:], 0)


def test_the_floor_of_a_fraction_is_not_fooled_by_floats():
    """.29 * 100 is 28.999999999999996 in floats; 29 individuals are meant, the last of which gets
    0.
    """
    w = weightings.truncated_ranks(0.29, 1.0)(jnp.arange(100.0))
    assert int(jnp.sum(w > 0)) == 28


def test_centred_ranks_are_unbiased_at_every_n(key):
    """E[W | x] = u - 1/2 for N = 5 as for N = infinity, with f = x standard normal: E[W x] = 1 / (2
    sqrt(pi)).
    """

    def one(key):
        f = jax.random.normal(key, (5,))
        return jnp.mean(weightings.centred_ranks(f) * f)

    values = np.asarray(jax.jit(jax.vmap(one))(jax.random.split(key, 200_000)))
    expected = 1 / (2 * np.sqrt(np.pi))
    assert abs(values.mean() - expected) < 5 * values.std() / np.sqrt(values.size)


@pytest.mark.parametrize(("fraction", "largest"), [(0.0, 0.1), (1.1, 0.1), (0.5, 0.0)])
def test_truncated_ranks_refuse_nonsense(fraction, largest):
    with pytest.raises(ValueError, match="fraction must be in"):
        weightings.truncated_ranks(fraction, largest)
