"""The search from outside: it gets there, whatever the noise."""

import numpy as np
import pytest

from phenes.adaptive import Adaptive
from tests.adaptive.problems import ellipsoid, run, sphere


@pytest.mark.parametrize("dim", [1, 2, 10])
@pytest.mark.parametrize("sigma", [0.0, 0.1])
def test_a_quadratic_is_solved_to_rounding(dim, sigma):
    """The model is exact there, with noise on the inputs or without."""
    matrix, f = ellipsoid(dim, 1e3, seed=3)
    search = run(f, np.full(dim, 2.0), 0.5, np.full(dim, sigma**2), 2500)
    assert search.mean @ matrix @ search.mean < 1e-6


@pytest.mark.parametrize(
    ("dim", "each", "seed", "regret"),
    [(100, 20, None, 1e-9), (60, 60, 7, 1e-3), (12, 9, None, 1e-9), (12, 18, 7, 1e-9)],
)
def test_many_dimensions_have_no_hole(dim, each, seed, regret):
    """Curvatures from 1 to 10: along the coordinates, or turned, with rows for all products.

    Of 12 coordinates 9 or 18 evaluations each are what is left of 10 and 20.
    """
    matrix, f = ellipsoid(dim, 10, seed=seed)
    search = run(f, np.ones(dim), 0.3, np.full(dim, 0.01), each * dim)
    assert search.mean @ matrix @ search.mean < regret


def test_the_estimate_is_of_the_smoothed_objective():
    """F at the optimum of a quadratic is trace(H C), not f = 0, and comes with an honest error."""
    matrix, f = ellipsoid(5, 10)
    errors = []
    for seed in range(10):
        search = run(f, np.full(5, 2.0), 0.5, np.full(5, 0.04), 1500, seed=seed, value_noise=0.5)
        true = search.mean @ matrix @ search.mean + 0.04 * np.trace(matrix)
        errors.append((search.estimate[0] - true) / search.estimate[1])
    # 10 errors in units of their standard error: their root mean square is 1 +- .22 if honest
    assert 0.5 < np.sqrt(np.mean(np.square(errors))) < 1.8


def test_correlated_noise_and_a_noise_free_direction():
    matrix, f = ellipsoid(4, 100, seed=5)
    root = np.random.default_rng(0).standard_normal((4, 3)) / 5  # rank 3 of 4
    search = run(f, np.full(4, 2.0), 0.5, root @ root.T, 4000)
    assert search.mean @ matrix @ search.mean < 1e-5


def test_a_bias_is_compensated():
    """The world adds .3 on average: the intended theta aims beside the optimum."""
    bias = np.array([0.3, -0.2, 0.1])
    world, rng = np.random.default_rng(1), np.random.default_rng(0)
    search = Adaptive(np.ones(3), np.full(3, 0.5), np.full(3, 0.01), rng=rng, bias=bias)
    while search.evaluations < 1500:
        theta = search.ask()
        x = theta + bias + 0.1 * world.standard_normal(theta.shape)
        search.tell(theta, x, sphere(x))
    assert np.abs(search.mean + bias).max() < 1e-4


@pytest.mark.tier("runs")
def test_not_measured_inputs_are_averaged():
    """x unknown, f noisy at theta: the spread must not collapse, and the mean comes closer."""
    matrix, f = ellipsoid(5, 10)
    gaps = []
    for seed in range(9):
        search = run(f, np.full(5, 2.0), 0.5, np.full(5, 0.04), 10_000, seed=seed, measured=False)
        gaps.append(search.mean @ matrix @ search.mean)
        assert np.all(search.spread > 1e-3)
    # f has the standard deviation sqrt(2 sum (.04 h)^2) = .9 from the noise alone
    assert np.median(gaps) < 0.05


@pytest.mark.tier("runs")
def test_value_noise_without_input_noise():
    matrix, f = ellipsoid(5, 10)
    gaps = []
    for seed in range(5):
        search = run(f, np.full(5, 2.0), 0.5, np.zeros(5), 10_000, seed=seed, value_noise=1.0)
        gaps.append(search.mean @ matrix @ search.mean)
    assert np.median(gaps) < 0.05


@pytest.mark.parametrize("popsize", [None, 20, 51])
def test_a_cusp_does_not_throw_the_search_out(popsize):
    """On either side of the optimum |x|^(1/2) looks like a slope: models would jump to and fro."""
    search = run(lambda x: np.abs(x[:, 0]) ** 0.5, [0.49], 7.1, np.zeros(1), 1500, popsize=popsize)
    assert np.abs(search.mean[0]) < 1e-3


def test_many_coordinates():
    """Diagonal covariances and models by conjugate gradients: the gap falls from 520 below 150."""
    search = run(sphere, np.ones(520), 0.3, np.full(520, 1e-4), 2500)
    assert sphere(search.mean[None])[0] < 150


@pytest.fixture(scope="module", params=[12, pytest.param(60, marks=pytest.mark.tier("runs"))])
def random_problems(request):
    """End over start of E f on random problems, with mean and spread at the end.

    Random dimension, conditioning, noise (none, equal, diagonal, singular) and population.
    """
    return [_random_problem(seed) for seed in range(request.param)]


def _random_problem(seed):
    draw = np.random.default_rng([seed, 7])
    dim = int(draw.integers(1, 51))
    matrix, quadratic = ellipsoid(dim, 10 ** draw.uniform(0, 6), seed=seed)
    power = draw.choice([0.25, 1.0, 2.0])
    scale = 10 ** draw.uniform(-3, 1)
    root = draw.standard_normal((dim, int(draw.integers(1, dim + 1)))) / np.sqrt(dim)
    cov = [
        np.zeros(dim),
        np.full(dim, scale**2),
        scale**2 * draw.exponential(size=dim),
        scale**2 * (root @ root.T),
    ][seed % 4]
    popsize = None if draw.random() < 0.5 else int(draw.integers(2, 60))
    x0 = draw.standard_normal(dim)
    width = 10 ** draw.uniform(-1, 1)
    search = run(lambda x: quadratic(x) ** power, x0, width, cov, 1500, seed=seed, popsize=popsize)
    cost = np.sum(matrix * (np.diag(cov) if cov.ndim == 1 else cov))
    start, end = (float(m @ matrix @ m + cost) for m in (x0, search.mean))
    return end / start, search.mean, search.spread


def test_every_random_problem_ends_with_finite_numbers(random_problems):
    for _, mean, spread in random_problems:
        assert np.all(np.isfinite(mean))
        assert np.all(np.isfinite(spread))


def test_random_problems_are_descended(random_problems):
    """1500 evaluations are few for 43 coordinates with noise of three times the first steps."""
    ratio = np.array([each[0] for each in random_problems])
    assert np.median(ratio) < 0.1
    assert np.mean(ratio > 1) <= 0.15
    assert ratio.max() <= 3


@pytest.mark.parametrize("sigma", [0.0, 0.05])
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.tier("runs")) for s in (1, 2))]
)
def test_an_optimum_in_a_corner_of_the_bounds(sigma, seed):
    """All lies on one side there: a search that took this for a step would grow for ever."""
    dim, world = 14, np.random.default_rng([seed, 2])
    search = Adaptive(
        np.zeros(dim),
        np.full(dim, 0.5),
        np.full(dim, sigma**2),
        rng=np.random.default_rng(seed),
        lower=np.full(dim, -1.0),
        upper=np.full(dim, 0.5),
    )
    while search.evaluations < 4000:
        theta = search.ask()
        x = theta + sigma * world.standard_normal(theta.shape)
        search.tell(theta, x, np.sum((x - 1) ** 2, axis=1))
    assert np.allclose(search.mean, 0.5, atol=1e-4)
    assert search.spread.max() < 0.5
