"""Short trainings. All of them use the same compiled program: settings are compared by value."""

import json

import jax
import numpy as np
import pytest

from phenes.rl import training
from phenes.rl.trajectories import Reparameterised, credited

SHORT = {"max_episode_steps": 40}  # episodes of CartPole
ESTIMATOR = credited(Reparameterised())  # one that learns: its memory is part of a checkpoint
CURVE = ("mean", "best", "steps", "size", "second", "at", "deterministic")


@pytest.fixture(scope="module", autouse=True)
def as_optax_needs_it():
    """Inside optax.adam a count meets a rate."""
    with jax.numpy_dtype_promotion("standard"):
        yield


def short(**settings) -> training.Trained:
    """Ten generations of CartPole unless told otherwise."""
    default = {
        "generations": 10,
        "popsize": 6,
        "hidden": (8,),
        "estimator": ESTIMATOR,
        "options": SHORT,
        "target": None,
    }
    return training.train("CartPole-v1", **{**default, **settings})


def table(**settings) -> training.Trained:
    """A lake of four fields, on which one can stand still."""
    default = {"generations": 10, "popsize": 20, "options": {"desc": ["SF", "FG"]}}
    return training.train("FrozenLake-v1", **{**default, **settings})


def same(a, b):
    """The same policy, the same curve."""
    assert a.kind == b.kind
    for name, array in a.readout.arrays().items():
        np.testing.assert_array_equal(array, b.readout.arrays()[name])
    for name in CURVE:
        np.testing.assert_array_equal(getattr(a.curve, name), getattr(b.curve, name))


def resaved(path, change):
    """The file at `path` with other contents."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays.pop("about")))
    about, arrays = change(about, arrays)
    with path.open("wb") as file:
        np.savez_compressed(file, about=json.dumps(about), **arrays)
    return path
