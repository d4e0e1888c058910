"""The pool without workers: in which order and how often f is called."""

import jax.numpy as jnp
import numpy as np
import pytest

from phenes.execution.local import LocalPool

POINTS = np.arange(6.0).reshape(3, 2)


def sent(f, realises=False, vectorized=False):
    pool = LocalPool(f, realises, vectorized, None)
    for tag, point in enumerate(POINTS):
        pool.send(tag, point)
    return pool


def test_one_after_the_other():
    calls = []
    pool = sent(lambda x: calls.append(x[0]) or x[0])
    assert [pool.take() for _ in range(4)] == [
        [(0, (None, 0.0, "", ()))],
        [(1, (None, 2.0, "", ()))],
        [(2, (None, 4.0, "", ()))],
        [],
    ]
    assert calls == [0.0, 2.0, 4.0]


def test_rows_together_if_f_takes_rows():
    calls = []
    pool = sent(lambda x: calls.append(len(x)) or x[:, 0], vectorized=True)
    assert [outcome.value for _, outcome in pool.take()] == [0.0, 2.0, 4.0]
    assert calls == [3]
    assert len(pool) == 0


def test_rows_that_f_realised():
    pool = sent(lambda theta: (theta + 1, theta[:, 1]), realises=True, vectorized=True)
    got = pool.take()
    np.testing.assert_array_equal([outcome.x for _, outcome in got], POINTS + 1)
    assert [outcome.value for _, outcome in got] == [1.0, 3.0, 5.0]


def test_functions_in_jax_are_compiled_and_the_first_value_is_not_lost():
    traced = []
    pool = sent(lambda x: traced.append(1) or jnp.sum(x))
    got = pool.take()
    assert [(tag, outcome.value) for tag, outcome in got] == [(0, 1.0), (1, 5.0), (2, 9.0)]
    assert len(traced) <= 4  # once as it is, the rest while it is traced


def test_failures_of_rows_and_wrong_shapes():
    def raises(x):
        raise OSError("broken")

    assert {outcome.error for _, outcome in sent(raises, vectorized=True).take()} == {
        "OSError: broken"
    }
    with pytest.raises(ValueError, match="one value for each of the 3 rows"):
        sent(lambda x: np.zeros(2), vectorized=True).take()


def test_room_is_what_is_evaluated_at_once():
    pool = LocalPool(np.sum, False, False, None)
    assert pool.room == 1
    pool.send(0, POINTS[0])
    assert pool.room == 0
    pool.close()
    assert (len(pool), pool.room) == (0, 1)
    assert LocalPool(np.sum, False, True, None).room > 1000


def test_rows_with_constraints():
    def f(x):
        return x[:, 0], {"low": x[:, 1], "high": x[:, 1] - 3}

    pool = LocalPool(f, False, True, None, True)
    pool.send(0, np.array([1.0, 2.0]))
    assert pool.take() == [(0, (None, 1.0, "", (("low", 2.0), ("high", -1.0))))]
    for wrong in ({"low": [1.0, 2.0]}, [1.0]):
        pool = LocalPool(lambda x, wrong=wrong: (x[:, 0], wrong), False, True, None, True)
        pool.send(0, np.array([1.0, 2.0]))
        with pytest.raises(ValueError, match="when vectorized"):
            pool.take()
