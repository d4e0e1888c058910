"""The share of signal in a gradient, measured without bias, and the choice by it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.rl.trajectories import Genotype, agreement, by_signal, guarded_mix, mix, signal
from tests.laws.statistics import chunks_of, estimate, once
from tests.rl.trajectories.test_unbiased import linear_population

MEAN = jnp.asarray([0.3, -0.2, 0.1])


def population(key, mirrored):
    """12 individuals; in mirrored pairs the noise of one cancels part of the other's."""
    noise = jax.random.normal(key, (12, 3))
    if mirrored:
        noise = jnp.concatenate([noise[:6], -0.8 * noise[:6]])
    return MEAN[None] + noise


@pytest.mark.parametrize("mirrored", [False, True])
def test_size_of_the_mean_is_estimated_without_bias(mirrored, key):
    """20,000 populations, 4 standard errors; E|g|^2 as well."""

    def one(key):
        a = population(key, mirrored)
        b = a * jnp.asarray([1.0, 2.0, 0.5])[None]
        s = signal(a, mirrored)
        return jnp.stack(
            [s.size, s.second, agreement(a, b, mirrored), jnp.sum(jnp.mean(a, axis=0) ** 2)]
        )

    found = chunks_of(lambda key: jax.vmap(one)(jax.random.split(key, 200)).mean(axis=0), key, 100)
    e = estimate(found)
    assert abs(e.mean[0] - float(MEAN @ MEAN)) < 4 * e.se[0]
    assert abs(e.mean[2] - float(MEAN @ (MEAN * jnp.asarray([1.0, 2.0, 0.5])))) < 4 * e.se[2]
    assert e.mean[1] == pytest.approx(e.mean[3])


def test_nothing_in_nothing_out():
    assert float(signal(jnp.zeros((4, 3))).fraction) == 0.0


@pytest.mark.tier("rl")
def test_the_candidate_with_more_signal_is_used():
    """What is used comes from past generations: the first candidate in the first of them."""
    p, q, batch, _ = linear_population()
    w = jnp.asarray([1.0, -1.0, 0.5, -0.5, 0.2, -0.2])
    both = by_signal(Genotype(), mix(2), guarded_mix(2)).start(p, q, batch)
    # three estimators and not one program for each: what is compared is compiled together
    each = once(lambda *told: [c.contributions(*told) for c in both.candidates])(p, q, batch, w)
    used, after = once(both.advance)(p, q, batch, w)
    np.testing.assert_allclose(used, each[0] / jnp.sqrt(after.seen.second[0]), rtol=1e-10)
    fractions = [float(signal(e).fraction) for e in each]
    assert int(after.choice()) == int(np.argmax(fractions))
    np.testing.assert_allclose(after.seen.fraction, fractions, rtol=1e-9)
    assert float(after.candidates[2].mass) > 0
    best = after.candidates[int(after.choice())]
    chosen, its_own = once(lambda *told: (after.contributions(*told), best.contributions(*told)))(
        p, q, batch, w
    )
    np.testing.assert_allclose(chosen, its_own, atol=1e-10)
    with pytest.raises(ValueError, match="two or more estimators"):
        by_signal(mix())
    with pytest.raises(ValueError, match="past generations"):
        by_signal(mix(), Genotype()).contributions(p, q, batch, w)
