"""Anything as an argument of tell, es and the laws: a sentence that names it, or an answer.

Never another exception, never a wait, never evaluations of what was refused.
"""

import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

import phenes
from phenes import estimators, inputs, metric, search, weightings

X0 = np.zeros(2)
CALLS = 100  # of each function, from one seed


class Word:
    """A class that was not called, and an object that nobody knows."""


ODD = (
    *(None, True, False, np.True_, "3", "", "learn", b"3", Word, Word(), object, {}, {"a": 1}),
    *({1, 2}, (), [], [[]], [1.0, "2"], [None, 1.0], [1.0, 2.0], [1.0, 2.0, 3.0], range(2)),
    *(np.nan, np.inf, -np.inf, 1e-320, 1e308, 10**400, -1, 0, 1, 2, 7, 1.5, -0.1, 1 + 2j),
    *(np.int64(2), np.float32(2.5), np.array(2), np.array([]), np.array("two"), np.zeros((2, 2))),
    *(np.eye(2), -np.eye(2), np.full(2, np.nan), np.array([1, 2], object), np.zeros((2, 3, 4))),
    *(np.datetime64("2026-01-01"), jnp.ones(2), jnp.zeros(()), np.sum, len, lambda: 1, ...),
    *(inputs.GaussianNoise, inputs.GaussianNoise(0.1), search.Gaussian(X0, np.eye(2)), ValueError),
)
SHOWN = 500  # characters of an error


def odd(names):
    """One or two of the arguments, with anything as their values."""
    return some.dictionaries(
        some.sampled_from(names), some.sampled_from(ODD), min_size=1, max_size=2
    )


def fuzzed(names):
    """The test that is decorated gets `given`, CALLS times."""

    def decorate(test):
        calm = settings(
            max_examples=CALLS,
            derandomize=True,
            database=None,
            deadline=20_000,  # milliseconds for one call, on a machine with other work
            suppress_health_check=list(HealthCheck),
        )
        return calm(given(given=odd(names))(test))

    return decorate


def refused(error, given):
    """Whether an error is one sentence that names what was given and what was expected."""
    text = str(error)
    named = any(name in text for name in given)
    return named and "got" in text and "\n" not in text and len(text) < SHOWN


def tried(call, given):
    """The answer, or None if it was refused as it should be."""
    try:
        return call(**given)
    except (ValueError, TypeError) as raised:
        error = raised
    assert refused(error, given), error
    return None


@pytest.fixture(scope="module")
def theta():
    opt = phenes.Optimizer(X0, 0.5, 0.1, budget=12)
    return opt.ask()


@fuzzed(["theta", "f", "realised"])
def test_tell(theta, given):
    opt = phenes.Optimizer(X0, 0.5, 0.1, budget=12)

    def call(**given):
        opt.tell(**({"theta": theta, "f": np.sum(theta**2, axis=1), "realised": theta} | given))
        return opt

    if tried(call, given) is None:
        assert opt.nfev == 0
    else:
        assert np.all(np.isfinite(opt.result.x))


ES = ("p", "estimator", "weighting", "optimiser", "popsize", "metric", "std", "mirrored")


@fuzzed(ES)
def test_es(given):
    def call(**given):
        parts = {
            "p": inputs.GaussianNoise(0.1),
            "estimator": estimators.phenotype,
            "weighting": weightings.standardise,
            "optimiser": optax.sgd(0.1),
            "popsize": 4,
            "metric": metric.natural,
        }
        return phenes.es(**(parts | given))

    strategy = tried(call, given)
    if strategy is not None:
        state = strategy.init(search.IsotropicGaussian(X0, 0.5))
        assert np.all(np.isfinite(state.q.mean))


LAWS = {
    inputs.GaussianNoise: {"scale": 0.1, "bias": None, "gain": None},
    inputs.StudentTNoise: {"scale": 0.1, "df": 3.0},
    inputs.LaplaceNoise: {"scale": 0.1},
    inputs.Poisson: {"exposure": 1.0},
    inputs.Bernoulli: {"trials": 2},
    inputs.Exponential: {"events": 2},
    inputs.Multinomial: {"draws": 2},
    search.Gaussian: {"mean": X0, "cov": np.eye(2)},
    search.DiagonalGaussian: {"mean": X0, "std": 1.0},
    search.IsotropicGaussian: {"mean": X0, "std": 1.0},
    search.Beta: {"a": 1.0, "b": 1.0},
    search.Gamma: {"k": 1.0, "b": 1.0},
    search.Dirichlet: {"alpha": np.ones(2)},
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws(law):
    """Every argument with every value, and finite parameters of what is taken."""
    for name in LAWS[law]:
        for value in ODD:
            made = tried(lambda **given: law(**(LAWS[law] | given)), {name: value})
            for leaf in vars(made).values() if made is not None else ():
                if hasattr(leaf, "dtype"):
                    assert np.all(np.isfinite(leaf)), (name, value)
