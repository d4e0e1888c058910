"""What all engineering problems promise: one simulator, errors as declared, figures that are found
again, sentences for misuse.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.problems.engineering import COATING, COATING_SHARED, ENGINEERING, FILTER, LAUNCH

IN_FULL = pytest.mark.tier("lab")
each = pytest.mark.parametrize("problem", ENGINEERING.values(), ids=list(ENGINEERING))
# E f of the nominal design and of the best known, by a million builds or more elsewhere
FIGURES = {
    "filter": (0.7199, 0.9294),
    "coating": (-2.54, -1.307),
    "coating-shared": (-4.28, -0.482),
    "launch": (-1.029, -0.9989),
}


@pytest.mark.parametrize(
    "problem",
    # the paths of a launch are checked by themselves: tests/problems/test_launch.py
    [
        pytest.param(problem, id=name, marks=IN_FULL if name == "launch" else ())
        for name, problem in ENGINEERING.items()
    ],
)
def test_readings_go_together(problem):
    x = problem.realise(problem.nominal, 40, np.random.default_rng(0))
    f, passes, penalty = problem.measure(x)
    assert f.shape == passes.shape == penalty.shape == (40,)
    np.testing.assert_array_equal(problem(x), f)
    np.testing.assert_array_equal(problem.minimised(x), -f)
    np.testing.assert_allclose(problem(x.reshape(4, 10, -1)), f.reshape(4, 10), rtol=1e-9)
    assert problem(x[0]) == pytest.approx(f[0], rel=1e-9)
    assert passes.dtype == bool
    assert problem.design(x).shape[0] == 40


@each
def test_errors_are_those_declared(problem):
    """Within 5 standard errors of variances and covariances, 4000 draws."""
    x = problem.realise(problem.nominal, 4000, np.random.default_rng(1)) - problem.nominal
    size = np.sqrt(np.diag(problem.cov))
    error = (x.T @ x / 4000 - problem.cov) / np.outer(size, size)
    assert np.abs(error).max() < 5 * np.sqrt(2 / 4000)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=IN_FULL if n in ("launch", "coating") else ()) for n in FIGURES],
)
def test_the_best_known_design_is_better_than_the_nominal_one(name):
    problem, draws = ENGINEERING[name], 2000 if name == "launch" else 20_000
    for theta, expected in zip((problem.nominal, problem.optimum), FIGURES[name], strict=True):
        found = problem.assess(theta, draws)
        assert abs(found.mean - expected) < 4 * found.se + 1e-3  # and the digits of the figure
    assert problem.value == FIGURES[name][1]
    nominal, best = problem.assess(problem.nominal, 2000), problem.assess(problem.optimum, 2000)
    assert best.mean > nominal.mean
    assert best.p95 < nominal.p95
    # without errors it is the other way round
    assert problem(problem.nominal) >= problem(problem.optimum) - 1e-6 or problem is FILTER


def test_fresh_builds_are_the_same_for_all():
    one, two = FILTER.assess(FILTER.nominal), FILTER.assess(FILTER.nominal)
    assert one == two
    assert one.mean == one.share  # pass or fail
    assert one.draws == 20_000
    assert FILTER.assess(FILTER.nominal, seed=1) != one


@pytest.mark.parametrize("problem", [FILTER, COATING], ids=lambda p: p.name)
def test_numpy_and_jax_are_one_simulator(problem):
    """One operation at a time: compiling all layers at once takes longer than all other tests
    together.
    """
    x = problem.realise(problem.nominal, 3, np.random.default_rng(2))
    ours, theirs = problem.measure(x), problem.measure(jnp.asarray(x))
    assert isinstance(theirs.f, jax.Array)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9)


def test_shared_errors_are_of_low_rank_but_for_a_little():
    values = np.linalg.eigvalsh(COATING_SHARED.cov)
    assert np.all(values[-2:] > 100 * values[-3])
    assert values[0] == pytest.approx(0.001**2)


@each
def test_misuse_is_named(problem):
    d = problem.dim
    with pytest.raises(
        ValueError,
        match=(
            rf"x must have {d} coordinates along its last axis for the .*, got shape \(2, {d + 1}\)"
        ),
    ):
        problem(np.zeros((2, d + 1)))
    with pytest.raises(ValueError, match=r"x must be finite, got NaN or infinity in 1 of"):
        problem(np.where(np.arange(d) == 0, np.nan, problem.x0))
    with pytest.raises(ValueError, match="theta must be finite"):
        problem.assess(np.full(d, np.inf))
    with pytest.raises(ValueError, match="draws must be at least 2, got 1"):
        problem.assess(problem.nominal, 1)


def test_bounds_hold_the_designs():
    low, high = LAUNCH.bounds.T
    for theta in (LAUNCH.x0, LAUNCH.nominal, LAUNCH.optimum):
        assert np.all((low <= theta) & (theta <= high))
