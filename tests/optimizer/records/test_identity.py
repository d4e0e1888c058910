"""Functions by name and code: what makes f another f, and what does not."""

import functools
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from phenes.optimizer.records.identity import describe, function


def made(source, name="f", **around):
    """A function from text, as another version of a module would have it."""
    space = {"np": np, "__name__": "model", **around}
    exec(source, space)
    return space[name]


def shifted(by):
    return lambda x: np.sum((x - by) ** 2)


def wrapped(f, calls):
    def call(x):
        calls.append(x)
        return f(x)

    return call


def counting():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x + n

    return f


class Model:
    def __init__(self, size):
        self.size, self.calls = size, 0

    def __call__(self, x):
        self.calls += 1
        return x * self.size

    def other(self, x):
        return x


PLAIN = "def f(x):\n    return np.sum(x**2)"
SAME = {
    "comments and layout": (
        made(PLAIN),
        made("\n\ndef f( x ):\n    # the bowl\n    return np.sum( x ** 2 )"),
    ),
    "documentation": (made(PLAIN), made('def f(x):\n    """A bowl."""\n    return np.sum(x**2)')),
    "sets": (made("def f(x):\n    return x in {'a', 'b', 'c'}"),) * 2,
    "closed-over numbers": (shifted(3), shifted(3)),
    "closed-over arrays": (shifted(np.ones(3)), shifted(np.ones(3))),
    "lists that are written to": (wrapped(np.sum, []), wrapped(np.sum, [1, 2])),
    "what a model counts": (Model(1), Model(1)),
    "partial": (functools.partial(shifted, 3), functools.partial(shifted, np.int64(3))),
}


@pytest.mark.parametrize(("f", "g"), SAME.values(), ids=SAME)
def test_the_same_function(f, g):
    assert function(f) == function(g)


OTHER = {
    "code": (made(PLAIN), made(PLAIN.replace("2", "4"))),
    "name": (made(PLAIN), made(PLAIN.replace("f(", "g("), "g")),
    "module": (made(PLAIN), made(PLAIN, __name__="other")),
    "what is called": (made(PLAIN), made(PLAIN.replace("sum", "max"))),
    "code inside": tuple(
        made(f"def f(x):\n    def g(y):\n        return y + {k}\n    return g(x)") for k in (1, 2)
    ),
    "closed-over numbers": (shifted(3), shifted(4)),
    "closed-over arrays": (shifted(np.ones(3)), shifted(np.zeros(3))),
    "closed-over arrays of JAX": (shifted(jnp.ones(3)), shifted(jnp.zeros(3))),
    "closed-over functions": (wrapped(shifted(1), []), wrapped(shifted(2), [])),
    "defaults": (made("def f(x, a=1): return a * x"), made("def f(x, a=2): return a * x")),
    "methods": (Model(1), Model(1).other),
    "partial": (functools.partial(shifted, 3), functools.partial(shifted, 4)),
    "without code": (np.sin, np.cos),
}


@pytest.mark.parametrize(("f", "g"), OTHER.values(), ids=OTHER)
def test_another_function(f, g):
    assert function(f) != function(g)


def test_what_a_function_counts_is_not_what_it_is():
    f = counting()
    before = function(f)
    f(1)
    assert function(f) == before


def test_the_user_s_function_inside_a_decorator_is_meant():
    @functools.lru_cache
    def f(x):
        return x

    assert function(f) == function(f.__wrapped__)


PROGRAM = """
from phenes.optimizer.records.identity import describe, function
def f(x):
    return x in {'a', 'b', 'c'}
class Law:
    def sample(self, key, theta): pass
print(function(f), describe(Law()))
"""


def test_the_same_text_in_every_process_and_by_every_way_to_start_it(tmp_path):
    """Sets of text are in another order in each process; memory is at other places."""
    (tmp_path / "beam.py").write_text(PROGRAM)
    ways = (["beam.py"], ["-m", "beam"], ["-c", "import beam"])
    said = {
        subprocess.run(
            [sys.executable, *way],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": str(k), "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for k, way in enumerate(ways)
    }
    assert len(said) == 1
    assert said.pop().startswith("beam.f (code ")


def test_what_lies_deep_or_in_circles_is_described_by_its_class():
    model = Model(1)
    model.itself = model
    assert "Model" in describe(model)
    assert describe({"b": [1, True, None, "x"], "a": np.inf}) == {
        "a": "Infinity",
        "b": [1.0, True, None, "x"],
    }
