"""One evaluation as data: values, what was raised, time-outs."""

import pickle
import time

import cloudpickle
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.execution.task import Guarded, OnWorker, failed, number, remote, say
from tests.execution.objectives import Unprintable

POINT = np.array([1.0, 2.0])


def test_a_value_is_a_float_and_the_point_is_a_copy():
    def f(x):
        x[0] = 9.0
        return [np.float32(3)]

    assert Guarded(f, realises=False)(POINT) == (None, 3.0, "")
    np.testing.assert_array_equal(POINT, [1.0, 2.0])


def test_what_f_realised_comes_back_in_the_shape_of_the_point():
    x, value, error = Guarded(lambda theta: ([[1.5], [2.5]], 4), realises=True)(POINT)
    np.testing.assert_array_equal(x, [1.5, 2.5])
    assert (value, error) == (4.0, "")
    assert "not enough values" in Guarded(lambda theta: (1.0,), realises=True)(POINT).error


def test_what_f_raises_is_data():
    def raises(x):
        raise Unprintable

    outcome = Guarded(raises, realises=False)(POINT)
    assert outcome.error == "Unprintable"
    assert np.isnan(outcome.value)
    assert say(ValueError("no")) == "ValueError: no"
    assert failed("why").error == "why"


def test_values_of_jax_are_noticed_without_importing_it():
    guarded = Guarded(lambda x: jnp.sum(x), realises=False)
    guarded(POINT)
    assert guarded.in_jax
    guarded.f = np.sum
    guarded(POINT)
    assert not guarded.in_jax


@pytest.mark.machine
def test_a_time_out_interrupts_even_what_catches_everything():
    def stubborn(x):
        try:
            time.sleep(30)
        except Exception:
            time.sleep(30)

    started = time.monotonic()
    assert Guarded(stubborn, False, 0.2)(POINT).error == "TimeoutError: no value within 0.2 s"
    assert time.monotonic() - started < 10


def test_on_a_worker_f_is_loaded_once_and_compiled_if_it_is_in_jax():
    assert remote(cloudpickle.dumps(lambda x: float(x[0])), False, None, POINT).value == 1.0
    assert "cannot be loaded on the worker" in remote(b"no pickle", False, None, POINT).error
    assert remote(pickle.dumps(len), False, None, POINT).value == 2.0
    compiled = OnWorker(lambda x: jnp.sum(x**2), realises=False)
    assert compiled(None, POINT).value == 5.0
    assert compiled.compiled is not None
    plain = OnWorker(lambda x: float(np.sum(x**2)), realises=False)
    assert plain(None, POINT).value == 5.0
    assert plain.compiled is None


@pytest.mark.parametrize(("value", "expected"), [(2, 2.0), (np.ones((1, 1)), 1.0), (True, 1.0)])
def test_numbers(value, expected):
    assert number(value) == expected


def test_no_number():
    with pytest.raises(TypeError, match=r"f must return a number, got shape \(2,\)"):
        number([1, 2])
