"""Where evaluations fail: learnt from labels, also while nothing but failures comes."""

import numpy as np
import pytest

import phenes
from phenes.gp.cloud import Cloud
from phenes.gp.failing import Place, find_place
from phenes.gp.kernel import Kernel, matern
from phenes.gp.model import Model
from phenes.gp.region import make_region
from phenes.gp.search import BayesianSearch


def labels_of(fails, x):
    return np.where(fails(x), 1.0, 0.0)


def test_far_from_all_rows_the_share_that_failed_is_expected():
    """Also where the failures lie in one place, which least squares would count as one."""
    rng = np.random.default_rng(0)
    x = np.concatenate([0.01 * rng.standard_normal((30, 2)), rng.uniform(-1, 1, (10, 2))])
    labels = np.repeat([1.0, 0.0], [30, 10])
    place = Place(Kernel(matern(False), np.full(2, 0.1)), 0.1)
    far = place.posterior(Cloud(x), labels, None).at(np.array([[50.0, 50.0]]))[0]
    assert far == pytest.approx(0.75)


def test_a_known_mean_is_that_of_dense_algebra():
    rng = np.random.default_rng(1)
    x, at, eta = rng.uniform(-1, 1, (12, 2)), rng.uniform(-1, 1, (5, 2)), 0.1
    labels = labels_of(lambda x: x[:, 0] > 0.2, x)
    kernel = Kernel(matern(False), np.full(2, 0.6))
    k = kernel.covariance(Cloud(x), Cloud(x))
    np.fill_diagonal(k, 1 + eta)
    cross = kernel.covariance(Cloud(at), Cloud(x))
    level = labels.mean()
    expected = level + cross @ np.linalg.solve(k, labels - level)
    found = Place(kernel, eta).posterior(Cloud(x), labels, None)
    np.testing.assert_allclose(found.at(at)[0], expected, rtol=1e-7)  # jitter is 1e-10
    without = [np.delete(np.arange(12), i) for i in range(12)]
    left_out = [
        level + k[i, rest] @ np.linalg.solve(k[np.ix_(rest, rest)], labels[rest] - level)
        for i, rest in enumerate(without)
    ]
    np.testing.assert_allclose(labels - found.leave_one_out()[0], left_out, rtol=1e-7)


@pytest.mark.parametrize("share", [0.15, 0.5, 0.85])
def test_failures_that_happen_anywhere_have_no_place(share):
    rng = np.random.default_rng(2)
    found = [
        find_place(Cloud(rng.uniform(-1, 1, (60, 3))), (rng.random(60) < share).astype(float))
        for _ in range(20)
    ]
    assert sum(each is not None for each in found) <= 3


@pytest.mark.parametrize("dim", [1, 2, 5, 10])
def test_a_wall_is_foretold(dim):
    """On places that were not tried: Brier's score beside that of the share alone."""
    scores = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        normal = rng.standard_normal(dim)
        normal /= np.linalg.norm(normal)
        fails = lambda x, n=normal: x @ n > 0.2  # noqa: E731
        x, fresh = rng.uniform(-1, 1, (60, dim)), rng.uniform(-1, 1, (400, dim))
        labels, truth = labels_of(fails, x), labels_of(fails, fresh)
        place = find_place(Cloud(x), labels)
        assert place is not None
        p = np.clip(place.posterior(Cloud(x), labels, None).at(fresh)[0], 0, 1)
        plain = np.mean((labels.mean() - truth) ** 2)
        scores.append(np.mean((p - truth) ** 2) / plain)
    assert np.median(scores) < 0.6


def test_three_values_among_a_hundred_failures_are_a_place():
    """A ball around x0 works. A length for each coordinate would tell the three by chance."""
    rng = np.random.default_rng(3)
    x = np.concatenate([0.1 * rng.standard_normal((3, 10)), rng.uniform(-1, 1, (100, 10))])
    labels = np.repeat([0.0, 1.0], [3, 100])
    place = find_place(Cloud(x), labels)
    assert place is not None
    p = place.posterior(Cloud(x), labels, None)
    assert p.at(rng.uniform(-1, 1, (200, 10)))[0].min() > 0.7
    assert p.at(np.zeros((1, 10)))[0] < 0.3


def test_what_fails_is_learnt_while_no_value_comes():
    model = Model(2, None, np.zeros(2))
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 0, (12, 2))
    model.add(x, x, x.sum(axis=1), np.ones((12, 2), bool))
    beyond = rng.uniform(0.2, 1, (8, 2))
    assert model.belief.failing(beyond).max() == 0
    model.add(beyond, beyond, np.full(8, np.nan), np.ones((8, 2), bool))
    assert model.belief.failing(beyond).min() > 0.5


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(k, marks=pytest.mark.tier("runs")) for k in range(1, 5))]
)
@pytest.mark.few
@pytest.mark.parametrize("radius", [0.9, 0.6])
def test_a_start_in_a_small_ball_that_works(radius, seed):
    """In ten coordinates nearly all of the first box fails, and f falls towards the border."""

    def f(x):
        return 2 - x.sum() / np.sqrt(x.size) if np.linalg.norm(x) < radius else np.nan

    result = phenes.minimize(f, np.zeros(10), 0.3, 0.05, budget=150, seed=seed)
    assert result.nfev == 150
    realised = result.x + 0.05 * np.random.default_rng(0).standard_normal((2000, 10))
    failing = np.mean(np.linalg.norm(realised, axis=1) >= radius)
    priced = 2 - realised.sum(axis=1).mean() / np.sqrt(10) * (1 - failing) + 0.5 * failing
    assert priced < 2.05  # the start has 2; a failure counts as half of the ball's range more


def search_of(f, n):
    """A search of f in two coordinates from zero, after n evaluations without noise."""
    search = BayesianSearch(np.zeros(2), np.full(2, 0.5), np.zeros(2), seed=0)
    while search.evaluations < n:
        theta = search.ask(1)
        search.tell(theta, theta, np.array([f(each) for each in theta]))
    return search


def test_after_failures_improvements_are_sought_nearer_and_after_values_further_away():
    """Beyond the design: half of a halving for a failure, one back for a value."""
    search = search_of(lambda x: float(x @ x + x[0]), 8)
    region, far, step = search._region, [], []
    for worked in (True, False, False, False, False, False, True, True):
        u = search._region.to_u(search.ask(1))
        far.append(np.abs(u - search._best()).max() / np.max(region.high - region.low))
        step.append(search._retreat)
        value = 1.0 if worked else np.nan
        search.tell(search._region.to_theta(u), search._region.to_theta(u), np.array([value]))
    assert step == [0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 1.5]
    assert all(d <= 0.5 * 0.5**r + 1e-9 for d, r in zip(far, step, strict=True) if r)


def test_a_part_of_a_region_has_its_share_of_the_sides_and_all_choices():
    region = make_region(np.zeros(2), np.full(2, 0.25), np.full(2, -np.inf), np.full(2, np.inf))
    near = region.near(np.array([0.5, 0.9]), 0.5)
    np.testing.assert_allclose(near.low, [0.25, 0.65])
    np.testing.assert_allclose(near.high, [0.75, 1.0])
    space = phenes.Space(a=phenes.Real(0, 1), b=phenes.Choice("x", "y", "z"))
    lattice = space.lattice
    low, high = np.zeros(space.dim), np.ones(space.dim)
    mixed = make_region(low + 0.5, low + 0.25, low, high, lattice).near(low + 0.5, 0.1)
    assert mixed.high[0] - mixed.low[0] == pytest.approx(0.1)
    np.testing.assert_array_equal(mixed.high[1:] - mixed.low[1:], 1.0)


def test_failures_that_are_said_to_be_anywhere_have_no_place():
    """Few failures are taken to have one, unless who makes the model knows better."""
    x = np.random.default_rng(5).uniform(0, 1, (20, 2))
    f = np.where(np.arange(20) == 3, np.nan, np.sum(x**2, axis=1))
    told = []

    def anywhere(rows, failed):
        told.append(int(failed.sum()))
        return True

    placed, unplaced = (
        Model(2, np.full(2, 0.01), np.zeros(2), **options)
        for options in ({}, {"anywhere": anywhere})
    )
    for model in (placed, unplaced):
        model.add(x, x, f, np.ones(x.shape, bool))
    assert placed.belief.failures is not None
    assert unplaced.belief.failures is None
    assert told == [1]
