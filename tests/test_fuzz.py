"""Arguments that nobody chose: whatever is given, one sentence or an answer that is one.

Any argument of `minimize`, `maximize`, `Optimizer` and the laws of `phenes.inputs` is replaced by
anything: numbers of all kinds and sizes, text, containers, classes, functions. What comes back is a
ValueError or TypeError of one line that says what was expected and what was given, before anything
is evaluated; or a RuntimeError of an f that fails from the first; or a result that holds together.
`PHENES_FUZZ=5000` tries so many calls of each instead of a few.
"""

import contextlib
import inspect
import os
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import phenes
from phenes import _validate, inputs

CALLS = int(os.environ.get("PHENES_FUZZ", "0"))
SECONDS = 20.0  # of computing, beyond which a call is taken to hang


def few(calls):
    return settings(
        max_examples=CALLS or calls,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


class Odd:
    """An object without meaning."""


class Array:
    """Something that NumPy cannot convert."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


NUMBERS = [
    0,
    1,
    2,
    3,
    -1,
    2.5,
    0.0,
    -0.5,
    1e-300,
    1e-8,
    1e8,
    1e300,
    1e308,
    10**30,
    2**63,
    2**64 - 1,
]
NUMBERS += [np.nan, np.inf, -np.inf, True, False, 1j, np.float32(0.5), np.int8(3), np.uint64(7)]
NUMBERS += [np.array(2.0), np.array(3), np.bool_(True), np.float16(1), np.longdouble(0.1)]
GP = "gp"
TEXTS = ["", "3", "nan", "learn", "auto", GP, "anyway", "x" * 1000, "\x1b[2J", b"bytes", "a\0b"]
ARRAYS = [[], [1.0], [0.5, 0.5], [1, 2, 3], [[1.0]], [0.1, 0], [np.nan, 1], [np.inf, 0], ["1", "2"]]
ARRAYS += [np.eye(2), -np.eye(2), np.ones((2, 3)), np.ones((2, 1, 2)), np.zeros(2), np.array([])]
ARRAYS += [np.array([1, None]), np.array(["a", "b"]), [None, None], [[1], [1, 2]], (0, 1), (1, 0)]
ARRAYS += [[(0, 1), (-1, None)], [(None, None)] * 2, np.ma.masked_array([1.0, 2.0], [True, False])]
ARRAYS += [
    np.array([1 + 1j, 2]),
    np.datetime64("2020-01-01"),
    np.eye(2) * 1e200,
]
OBJECTS = [None, Odd, Odd(), Array(), {}, {"a": 1}, {1, 2}, range(2), iter([1, 2]), lambda x: x]
OBJECTS += [np.sum, print, int, type, Ellipsis, slice(2), inputs.GaussianNoise, ValueError("x")]
ANYTHING = st.sampled_from([*NUMBERS, *TEXTS, *ARRAYS, *OBJECTS])


def objective(returned, flags):
    """A bowl in the form that the flags ask for, or a function that returns anything."""
    calls = []

    def f(x):
        calls.append(1)
        x = np.asarray(x)
        values = np.sum((x - 0.3) ** 2, axis=-1) if returned is bowl else returned
        return (x, values) if flags.get("realises") is True else values

    return f, calls


bowl = object()
SANE = {
    "x0": [np.zeros(2), [0.5, 1.0], 0.0, [1]],
    "sigma0": [0.5, 1, [0.5, 0.5], 1e-3],
    "noise": [None, 0.1, [0.1, 0], 0.01 * np.eye(2), 0],
    "budget": [1, 7, 30, 1e1],
    "popsize": [None, 4, np.int64(5)],
}
OPTIONS = [
    "x0",
    "sigma0",
    "noise",
    "bounds",
    "budget",
    "target",
    "popsize",
    "verify",
    "engine",
    "seed",
]
OF_MINIMIZE = ["workers", "timeout", "max_attempts", "asynchronous", "vectorized", "realises"]
OF_MINIMIZE += ["callback", "progress", "checkpoint", "resume"]


def too_much(name, value):
    """What would start processes, write to the terminal, or take the tests too long."""
    if name == "workers":
        return 1 < (_validate.whole(value) or 0) < 1025
    return (name == "progress" and value is True) or (name == "engine" and value is GP)


@st.composite
def arguments(draw, names):
    """Some options, of which up to three are anything."""
    given = {name: draw(st.sampled_from(values)) for name, values in SANE.items()}
    odd = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    for name in odd:
        value = draw(ANYTHING)
        if not too_much(name, value):
            given[name] = value
    return given


def check_sentence(error, calls):
    said = str(error)
    if isinstance(error, RuntimeError):
        assert said.startswith(("f failed on all", "f returned ")), said
        return
    told_late = "f must return one value for each" in said
    assert not calls or told_late, f"evaluated {len(calls)} times before: {said}"
    assert said, "it says nothing"
    assert "\n" not in said, said
    assert len(said) < 700, said
    words = (" must ", "got ", " exclude ", "cannot be opened", "needs", "unexpected keyword")
    assert any(word in said for word in words), said


@contextlib.contextmanager
def survived(calls=()):
    """Errors are sentences, and come before anything was evaluated; nothing hangs."""
    began = time.process_time()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    except (ValueError, TypeError, RuntimeError) as error:
        check_sentence(error, calls)
    assert time.process_time() - began < SECONDS


def holds_together(result, given, calls):
    dim = np.size(given["x0"])
    assert result.x.shape == (dim,)
    assert np.isfinite(result.x).all()
    assert 0 < result.nfev <= max(given["budget"] or np.inf, 1)
    if not given.get("vectorized"):
        assert result.nfev == len(calls)
    assert not result.success or (np.isfinite(result.fun) and np.isfinite(result.fun_se))
    lower, upper = _validate.bounds(given.get("bounds"), np.zeros(dim) + given["x0"])
    assert np.all((result.x >= lower) & (result.x <= upper))


@few(60)
@given(
    st.sampled_from([phenes.minimize, phenes.maximize]),
    arguments(OPTIONS + OF_MINIMIZE),
    st.one_of(st.just(bowl), st.just(bowl), ANYTHING),
)
def test_minimize_takes_it_or_says_why_not(tmp_path_factory, solve, given, returned):
    if not isinstance(given.get("budget", 1), int | float) or not given["budget"] <= 30:
        given["callback"] = lambda result: result.nfev > 30
    folder = tmp_path_factory.mktemp("fuzz")
    f, calls = objective(returned, given)
    note(f"{solve.__name__} of f that returns {returned!r}: {given!r}")
    with contextlib.chdir(folder), survived(calls):
        holds_together(solve(f, **given), given, calls)


@few(60)
@given(arguments([*OPTIONS, "maximize"]), st.lists(ANYTHING, min_size=4, max_size=4))
def test_optimizer_takes_it_or_says_why_not(given, odd):
    note(f"Optimizer of {given!r}, then {odd!r}")
    with survived():
        opt = phenes.Optimizer(**given)
        theta = opt.ask()
        assert theta.shape[1] == opt.dim
        assert np.isfinite(theta).all()
        opt.tell(theta, np.sum(theta**2, axis=1), realised=theta)
        told = opt.nfev
        assert told == len(theta)
        with survived():
            opt.tell(theta, odd[0], odd[1])
        with survived():
            opt.tell(odd[0], odd[1], odd[2])
        if not (isinstance(odd[3], int | float | np.number) and np.abs(odd[3]) > 1e6):
            with survived():
                assert len(opt.ask(odd[3])) <= 1e6
        with survived():
            opt.suggest_stop(odd[3], odd[2])
        assert np.isfinite(opt.result.x).all()
        assert opt.result.nfev == opt.nfev >= told


PLAIN = {
    "Law": {"sample": lambda key, theta: theta, "log_prob": lambda x, theta: 0.0},
    "Experts": {"log_probs": lambda theta: np.zeros((2, 2))},
    "HeteroscedasticNoise": {"std": jnp.abs},
    "NaturalFamily": {"A": jnp.exp, "u": jnp.abs, "sampler": jax.random.poisson},
    "Repeated": {"base": inputs.GaussianNoise(0.1), "repeats": 2},
    "SaturatingNoise": {"scale": 0.1, "low": -1.0, "high": 1.0},
    "GaussianMixtureNoise": {"weights": [0.5, 0.5], "scales": [0.1, 0.2]},
    "StudentTNoise": {"scale": 0.1, "df": 3.0},
    "MultivariateTNoise": {"scale": 0.1, "df": 3.0},
    "shared_errors": {"std": 0.1, "factor": np.ones((2, 1))},
    "GaussianNoise": {"scale": 0.1},
    "LaplaceNoise": {"scale": 0.1},
    "UniformNoise": {"width": 0.1},
    "RoundingNoise": {"step": 0.1},
}


@few(200)
@given(st.data(), st.sampled_from(inputs.__all__))
def test_laws_take_it_or_say_why_not(data, name):
    law = getattr(inputs, name)
    names = [each for each in inspect.signature(law).parameters if each != "self"]
    given = PLAIN.get(name, {}) | {
        each: data.draw(ANYTHING)
        for each in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    }
    note(f"{name} of {given!r}")
    # as users have it, not as strictly as tests do
    with survived(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        made = law(**given)
        for path, leaf in jax.tree.leaves_with_path(made):
            singular = "whitener" in jax.tree_util.keystr(path)  # a matrix without an inverse
            if isinstance(leaf, jax.Array | np.ndarray) and not singular:
                assert not np.isnan(np.asarray(leaf)).any(), "a law of NaN"


@pytest.mark.parametrize("name", PLAIN)
def test_the_plain_arguments_of_each_law_are_taken(name):
    """Otherwise the law was never reached."""
    getattr(inputs, name)(**PLAIN[name])
