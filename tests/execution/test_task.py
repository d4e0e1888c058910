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

    assert Guarded(f, realises=False)(POINT) == (None, 3.0, "", ())
    np.testing.assert_array_equal(POINT, [1.0, 2.0])


def test_what_f_realised_comes_back_in_the_shape_of_the_point():
    x, value, error, _ = Guarded(lambda theta: ([[1.5], [2.5]], 4), realises=True)(POINT)
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


class TestConstraints:
    def test_they_come_back_by_name_after_the_value(self):
        guarded = Guarded(lambda x: (x[0], {"stress": x[1] - 3, "gap": None}), False, None, True)
        outcome = guarded(POINT)
        assert outcome.value == 1.0
        assert outcome.constraints[0] == ("stress", -1.0)
        assert outcome.constraints[1][0] == "gap"
        assert np.isnan(outcome.constraints[1][1])

    def test_they_come_back_after_what_was_realised(self):
        outcome = Guarded(lambda t: (t + 1, 2.0, [0.5]), True, None, True)(POINT)
        np.testing.assert_array_equal(outcome.x, POINT + 1)
        assert outcome.constraints == (("c0", 0.5),)

    @pytest.mark.parametrize("returned", [1.0, (1.0, None), (1.0, {})])
    def test_without_them_a_value_is_kept_and_says_what_it_lacks(self, returned):
        outcome = Guarded(lambda x: returned, False, None, True)(POINT)
        assert outcome.error.startswith("f returned no constraints")
        assert outcome.value == 1.0
        assert outcome.constraints == ()

    @pytest.mark.parametrize("stress", ["much", [1.0, 2.0]])
    def test_what_is_no_number_is_a_failed_evaluation(self, stress):
        outcome = Guarded(lambda x: (1.0, {"stress": stress}), False, None, True)(POINT)
        assert "constraint 'stress' must be a number, got" in outcome.error
        assert np.isnan(outcome.value)

    def test_a_failure_needs_none(self):
        assert Guarded(lambda x: None, False, None, True)(POINT).error == "f returned None"
        assert Guarded(lambda x: (np.nan, None), False, None, True)(POINT).error == ""

    @pytest.mark.parametrize("realises", [False, True])
    def test_unasked_they_are_a_failure_that_says_what_to_give(self, realises):
        def f(x):
            return (x, 1.0, {"stress": 0.0}) if realises else (1.0, {"stress": 0.0})

        outcome = Guarded(f, realises)(POINT)
        assert "give constraints=phenes.chance(0.95)" in outcome.error

    def test_a_function_of_jax_is_compiled_with_them(self):
        f = OnWorker(lambda x: (jnp.sum(x**2), {"b": x[0] - 3, "a": 7}), False, True)
        assert f(None, POINT) == (None, 5.0, "", (("b", -2.0), ("a", 7.0)))
        assert f.compiled is not None
