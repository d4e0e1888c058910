"""The noise of a run as data: what comes back means the same."""

import json

import equinox as eqx
import jax
import numpy as np
import pytest

from phenes import inputs
from phenes.optimizer.noise import data as noise_data
from phenes.optimizer.noise.state import NoiseState

START = np.zeros(2)
PLAIN = {
    "none": None,
    "scalar": 0.1,
    "vector": [0.1, 0.2],
    "matrix": [[0.02, 0.01], [0.01, 0.03]],
    "semidefinite": [[0.01, 0.0], [0.0, 0.0]],
    "Gaussian": inputs.GaussianNoise(0.1, [0.1, 0.2], [[1.0, 0.5], [0.0, 1.0]]),
    "shared": inputs.shared_errors(0.1, [[0.2], [0.1]]),
}


def stored(noise):
    state = NoiseState(noise, START)
    return json.loads(json.dumps(noise_data.encode(state.model, state.declared), allow_nan=False))


@pytest.mark.parametrize("name", PLAIN)
def test_gaussian_noise_comes_back_exactly(name):
    data = stored(PLAIN[name])
    before = NoiseState(PLAIN[name], START).model
    after = NoiseState(noise_data.decode(data, 2), START).model
    for each in ("cov", "bias"):
        np.testing.assert_array_equal(getattr(before, each), getattr(after, each))
    assert (before.gain is None) == (after.gain is None)
    assert not noise_data.differs(data, stored(noise_data.decode(data, 2)))


def test_learnt_noise_is_a_word():
    assert stored("learn") == {"kind": "learn"}
    assert noise_data.decode(stored("learn"), 2) == "learn"


MIXTURE = inputs.GaussianMixtureNoise([0.9, 0.1], [0.1, 1.0])


@pytest.mark.parametrize(
    "law",
    [
        inputs.StudentTNoise(0.1, 3.0),
        inputs.SaturatingNoise(0.1, -1.0, 1.0),
        inputs.RoundingNoise(0.5, [0.1, 0.2]),
        inputs.MultivariateTNoise([[0.02, 0.01], [0.01, 0.02]], 4.0),
        MIXTURE,
    ],
    ids=lambda law: type(law).__name__,
)
def test_a_law_of_the_library_comes_back_exactly(law):
    back = noise_data._law(json.loads(json.dumps(noise_data._fields(law), allow_nan=False)))
    assert type(back) is type(law)
    for a, b in zip(jax.tree.leaves(law), jax.tree.leaves(back), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert jax.tree.structure(law) == jax.tree.structure(back)


def test_a_law_is_known_by_what_it_does():
    data = stored(inputs.LaplaceNoise(0.1))
    assert data["kind"] == "law"
    again = noise_data.decode(data, 2)
    assert not noise_data.differs(data, stored(again))
    said = noise_data.differs(data, stored(inputs.LaplaceNoise(0.2)))
    assert said.startswith("was standard deviations [0.13")
    assert " and is now standard deviations [0.27" in said


class Named(eqx.Module):
    """Not the class of the library that has its name."""

    scale: jax.Array

    def sample(self, key, theta):
        return theta


def test_laws_with_code_are_not_stored():
    for law in (
        inputs.HeteroscedasticNoise(lambda theta: 0.1 + 0 * theta),
        Named(jax.numpy.ones(())),
        inputs.Bernoulli(3),
    ):
        with pytest.raises(noise_data._NotData):
            noise_data._fields(law)
    Named.__name__ = "LaplaceNoise"
    with pytest.raises(noise_data._NotData):
        noise_data._fields(Named(jax.numpy.ones(())))
