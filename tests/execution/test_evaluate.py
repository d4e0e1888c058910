"""A function of the user's wherever it runs: failures are data, misuse is one sentence."""

import threading
from concurrent.futures import ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest

from phenes.execution import Evaluate
from tests.execution.objectives import collect, column, sleeps, wrong_in_many_ways


@pytest.mark.parametrize("workers", [None, 2], ids=["here", "processes"])
def test_whatever_goes_wrong_is_a_failed_evaluation(workers):
    got = collect(Evaluate(wrong_in_many_ways, workers=workers), column(*range(9)))
    assert got[0] == (None, 0.0, "", ())
    assert got[6] == (None, np.inf, "", ())
    said = {i: got[i].error for i in (1, 2, 3, 4, 5, 7, 8)}
    assert all(np.isnan(got[i].value) for i in said)
    assert said[1] == "ZeroDivisionError: division by zero"
    assert said[2].startswith("ValueError: could not convert string")
    assert said[3] == "TypeError: f must return a number, got shape (2,)"
    assert said[5] == "SystemExit: 3"
    assert said[7] == "Stubborn: a and b"
    assert said[8] == "Unprintable"


def test_what_cannot_be_sent_or_loaded(monkeypatch):
    lock = threading.Lock()
    with pytest.raises(ValueError, match="f cannot be sent to workers: TypeError"):
        Evaluate(lambda x: lock, workers=2).open()

    class Broken:
        def __reduce__(self):
            return int, ("no number",)

        def __call__(self, x):
            return 0.0

    got = collect(Evaluate(Broken(), workers=2), column(1, 2))
    assert "cannot be loaded on the worker: ValueError: invalid literal" in got[0].error


def test_any_executor():
    with ThreadPoolExecutor(3) as threads:
        got = collect(Evaluate(lambda x: x[0], workers=threads), column(*range(20)))
    assert [got[i].value for i in range(20)] == list(range(20))


def test_functions_in_jax_have_the_same_values_on_workers():
    def f(x):
        return jnp.sum(jnp.cos(3 * x) * x**2) + jnp.exp(-x[0])

    points = np.random.default_rng(1).normal(size=(8, 12))
    here, there = (collect(Evaluate(f, workers=workers), points) for workers in (None, 2))
    assert [here[i].value for i in range(8)] == [there[i].value for i in range(8)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"workers": 0}, "workers must be a number of processes from 1 to 1024"),
        ({"workers": True}, "workers must be a number of processes"),
        (
            {"workers": "spark"},
            "workers must be .* 'dask://host:port', .* 'ray' or an Executor, got 'spark'",
        ),
        ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
        ({"max_attempts": 0}, "max_attempts must be a whole number of at least 1, got 0"),
        ({"vectorized": True, "workers": 2}, "vectorized and workers exclude each other"),
        ({"vectorized": True, "timeout": 1.0}, "vectorized and timeout exclude each other"),
    ],
)
def test_misuse(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        Evaluate(sleeps, **options)
