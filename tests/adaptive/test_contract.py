"""Ask and tell as a laboratory uses them: parts, any order, failures, strangers, bounds, and going
on from a file.
"""

import numpy as np
import pytest

from phenes.adaptive import Adaptive
from tests.adaptive.problems import ellipsoid, run


def plain(value):
    """True if the value is data only."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(item) for key, item in value.items())
    return value is None or isinstance(
        value, str | bool | int | float | np.integer | np.floating | np.ndarray
    )


def advance(engine, world, evaluations, f):
    asked = []
    while engine.evaluations < evaluations:
        theta = engine.ask()
        x = theta + 0.1 * world.standard_normal(theta.shape)
        engine.tell(theta, x, f(x))
        asked.append(theta)
    return np.concatenate(asked)


@pytest.mark.parametrize("at", [50, 600, 4000])
def test_going_on_from_a_state_is_bit_for_bit(at):
    """In the first search, in the final phase, and within restarts."""
    _, f = ellipsoid(4, 100)
    engine = Adaptive(np.ones(4), 0.5, np.full(4, 0.01), rng=np.random.default_rng(0))
    advance(engine, np.random.default_rng(1), at, f)
    state = engine.state()
    assert plain(state)
    other = Adaptive.from_state(state)
    first = advance(engine, np.random.default_rng(2), at + 2000, f)
    second = advance(other, np.random.default_rng(2), at + 2000, f)
    assert np.array_equal(first, second)
    assert np.array_equal(engine.mean, other.mean)
    assert engine.phase == other.phase
    assert engine.estimate == other.estimate


def test_samples_may_come_one_by_one_and_late():
    """Three asks are out at any time, told in random order, one sample at a time."""
    matrix, f = ellipsoid(3, 10)
    world = np.random.default_rng(0)
    engine = Adaptive(np.full(3, 2.0), 0.5, np.full(3, 0.01), rng=np.random.default_rng(0))
    waiting = [row for _ in range(3) for row in engine.ask(7)]
    while engine.evaluations < 1500:
        theta = waiting.pop(int(world.integers(len(waiting))))[None]
        x = theta + 0.1 * world.standard_normal(theta.shape)
        engine.tell(theta, x, f(x))
        waiting.extend(engine.ask(1))
    assert engine.mean @ matrix @ engine.mean < 1e-4


def test_failed_evaluations_are_survived():
    matrix, f = ellipsoid(3, 10)

    def fails(x):
        values = f(x)
        values[np.random.default_rng(int(1e6 * abs(x[0, 0]))).random(values.size) < 0.3] = np.nan
        values[values > 50] = np.inf
        return values

    engine = run(fails, np.full(3, 2.0), 0.5, np.full(3, 0.01), 2000)
    assert engine.mean @ matrix @ engine.mean < 1e-4


def test_a_generation_of_failures_changes_nothing():
    engine = Adaptive(np.ones(3), 0.5, np.zeros(3), rng=np.random.default_rng(0))
    theta = engine.ask()
    engine.tell(theta, theta, np.full(len(theta), np.nan))
    assert np.array_equal(engine.mean, np.ones(3))
    assert np.isnan(engine.estimate[0])


def test_strangers_pull_gently():
    """Samples far away that nobody asked for: the step of the mean stays within the reach of a
    generation.
    """
    engine = Adaptive(np.zeros(3), 1.0, np.full(3, 0.01), rng=np.random.default_rng(0))
    far = np.full((engine.popsize, 3), 1e6)
    engine.tell(far, far, np.arange(len(far), dtype=float))
    assert np.linalg.norm(engine.mean) < 6
    assert np.all(engine.spread < 10)


def test_bounds_hold_for_what_is_asked_and_answered():
    """The optimum is outside: the answer is on the border, and realised points beyond it are good
    data.
    """
    lower, upper = np.array([0.5, -1.0, -1.0]), np.array([2.0, 1.0, 1.0])
    world = np.random.default_rng(0)
    engine = Adaptive(
        np.array([1.5, 0.5, 0.5]),
        0.5,
        np.full(3, 0.01),
        rng=np.random.default_rng(0),
        lower=lower,
        upper=upper,
    )
    while engine.evaluations < 3000:
        theta = engine.ask()
        assert np.all((theta >= lower) & (theta <= upper))
        x = theta + 0.1 * world.standard_normal(theta.shape)
        engine.tell(theta, x, np.sum(x**2, axis=1))
    assert np.all((engine.mean >= lower) & (engine.mean <= upper))
    assert np.allclose(engine.mean, [0.5, 0, 0], atol=0.02)


def test_better_knowledge_of_the_noise_keeps_the_distribution():
    """The same mean and spread of theta in the coordinates of another noise, and it goes on."""
    matrix, f = ellipsoid(3, 10)
    world = np.random.default_rng(0)
    engine = Adaptive(np.ones(3), 0.5, np.full(3, 0.04), rng=np.random.default_rng(0))
    advance(engine, world, 60, f)
    mean, spread = engine.mean, engine.spread
    cov = np.array([[0.01, 0.002, 0.0], [0.002, 0.01, 0.0], [0.0, 0.0, 0.01]])
    engine.update_noise(cov, np.zeros(3))
    assert np.allclose(engine.mean, mean)
    assert np.allclose(engine.spread, spread)
    advance(engine, world, 1500, f)
    assert engine.mean @ matrix @ engine.mean < 1e-4


def test_convergence_is_reported_on_a_simple_problem():
    engine = run(lambda x: np.sum(x**2, axis=1), np.ones(2), 0.5, np.full(2, 0.01), 15_000)
    assert engine.converged


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cov": np.zeros((2, 3))}, "cov"),
        ({"sigma0": 0.0}, "sigma0"),
        ({"lower": [2.0] * 3, "upper": [1.0] * 3}, "lower"),
        ({"popsize": 1}, "popsize"),
    ],
)
def test_misuse_is_one_clear_sentence(change, words):
    options = {
        "x0": np.zeros(3),
        "sigma0": 1.0,
        "cov": np.zeros(3),
        "rng": np.random.default_rng(0),
    } | change
    with pytest.raises(ValueError, match=words):
        Adaptive(**options)
