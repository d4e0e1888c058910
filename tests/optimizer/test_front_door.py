"""Bad arguments at the front door: one sentence that names what was given and what was expected."""

import inspect

import numpy as np
import pytest

import phenes
from phenes import _validate, inputs


def optimizer(**changes):
    return phenes.Optimizer(**({"x0": np.zeros(3), "sigma0": 1.0, "noise": 0.1} | changes))


MISUSE = {
    "NaN x0": (lambda: optimizer(x0=[0.0, np.nan, 0.0]), "x0 must be finite"),
    "x0 a matrix": (
        lambda: optimizer(x0=np.zeros((2, 2))),
        r"x0 must be a vector .* got shape \(2, 2\)",
    ),
    "x0 a word": (
        lambda: optimizer(x0="zero"),
        "x0 must be a number or an array of numbers, got 'zero'",
    ),
    "sigma0 zero": (lambda: optimizer(sigma0=0), "sigma0 must be positive, got 0"),
    "sigma0 of another length": (
        lambda: optimizer(sigma0=[1.0, 1.0]),
        r"sigma0 must be one number or have shape \(3,\)",
    ),
    "popsize 0": (
        lambda: optimizer(popsize=0),
        "popsize must be a whole number of at least 2, got 0",
    ),
    "budget negative": (
        lambda: optimizer(budget=-1),
        "budget must be a whole number of at least 1, got -1",
    ),
    "budget a word": (
        lambda: optimizer(budget="many"),
        "budget must be a whole number of at least 1, got 'many'",
    ),
    "seed negative": (
        lambda: optimizer(seed=-1),
        "seed must be a whole number of at least 0, got -1",
    ),
    "noise negative": (lambda: optimizer(noise=-0.1), "noise must be positive, got -0.1"),
    "noise a word": (
        lambda: optimizer(noise="some"),
        "noise must be a number, .* or 'learn', got 'some'",
    ),
    "noise of another length": (
        lambda: optimizer(noise=[0.1, 0.1]),
        "noise must have 3 coordinates to match x0, got 2",
    ),
    "noise not PSD": (lambda: optimizer(noise=-np.eye(3)), "noise must be positive semidefinite"),
    "noise repeated": (
        lambda: optimizer(noise=inputs.Repeated(inputs.GaussianNoise(0.1), 3)),
        "got Repeated",
    ),
    "noise with a wide gain": (
        lambda: optimizer(noise=inputs.GaussianNoise(0.1, gain=np.ones((2, 3)))),
        r"invertible gain of shape \(3, 3\)",
    ),
    "noise of other coordinates": (
        lambda: optimizer(noise=inputs.Law(lambda key, theta: theta[:1], lambda x, theta: 0.0)),
        "noise must realise x in the coordinates of theta",
    ),
    "bounds crossed": (lambda: optimizer(bounds=(1, -1)), "bounds must have low below high"),
    "bounds without x0": (lambda: optimizer(bounds=(1, 2)), "x0 must lie within bounds"),
    "bounds of another length": (
        lambda: optimizer(bounds=[(0, 1)] * 4),
        "bounds must be .* 3 pairs to match x0",
    ),
    "bounds a number": (lambda: optimizer(bounds=3), "bounds must be"),
    "target NaN": (lambda: optimizer(target=np.nan), "target must be a finite number"),
    "theta too short": (
        lambda: optimizer().tell(np.zeros((2, 2)), [1, 2]),
        r"theta must have shape \[n, 3\], got \(2, 2\)",
    ),
    "values too few": (
        lambda: optimizer().tell(np.zeros((2, 3)), [1]),
        "f must have one value for each of the 2 theta",
    ),
    "theta NaN": (lambda: optimizer().tell([[0, 0, np.nan]], [1]), "theta must be finite"),
    "x of another shape": (
        lambda: optimizer().tell(np.zeros((2, 3)), [1, 2], np.zeros((3, 3))),
        "realised must have the shape of theta",
    ),
    "f no function": (lambda: phenes.minimize(3, np.zeros(2), 1.0), "f must be a function such as"),
    "learn without x": (
        lambda: phenes.minimize(np.sum, np.zeros(2), 1.0, "learn"),
        "give realises=True",
    ),
    "workers 0": (
        lambda: phenes.minimize(np.sum, np.zeros(2), 1.0, workers=0),
        "workers must be a number of processes",
    ),
    "workers and vectorized": (
        lambda: phenes.minimize(np.sum, np.zeros(2), 1.0, workers=2, vectorized=True),
        "exclude each other",
    ),
    "wrong shape of values": (
        lambda: phenes.minimize(lambda x: np.zeros(1), np.zeros(2), 1.0, vectorized=True),
        "f must return one value for each of the",
    ),
}


@pytest.mark.parametrize("case", MISUSE)
def test_misuse(case):
    call, sentence = MISUSE[case]
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_maximize_knows_the_options_of_minimize():
    assert inspect.signature(phenes.maximize) == inspect.signature(phenes.minimize)


@pytest.mark.parametrize(
    "bounds",
    [(0, 1), ([0, 0, 0], [1, 1, 1]), [(0, 1), (0, 1), (0, 1)], (0, np.ones(3)), [[0, 1]] * 3],
    ids=["numbers", "vectors", "pairs", "mixed", "lists"],
)
def test_bounds_as_people_write_them(bounds):
    lower, upper = _validate.bounds(bounds, np.full(3, 0.5))
    np.testing.assert_array_equal(lower, np.zeros(3))
    np.testing.assert_array_equal(upper, np.ones(3))


def test_in_two_dimensions_arrays_are_sides_and_lists_are_pairs():
    np.testing.assert_array_equal(
        _validate.bounds((np.zeros(2), np.ones(2)), np.full(2, 0.5))[1], [1, 1]
    )
    np.testing.assert_array_equal(_validate.bounds([(0, 1), (0, 2)], np.full(2, 0.5))[1], [1, 2])


def test_open_bounds_and_two_dimensions():
    lower, upper = _validate.bounds([(0, None), (None, 4)], np.ones(2))
    np.testing.assert_array_equal(lower, [0, -np.inf])
    np.testing.assert_array_equal(upper, [np.inf, 4])


def test_bounds_of_scipy():
    from scipy.optimize import Bounds

    lower, upper = _validate.bounds(Bounds([0, -1], [2, np.inf]), np.ones(2))
    np.testing.assert_array_equal(lower, [0, -1])
    np.testing.assert_array_equal(upper, [2, np.inf])
