"""The model that chooses candidates is trusted only as far as it orders points it has not seen."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from phenes.adaptive import Adaptive, tuning
from phenes.adaptive.phases import Phase
from phenes.adaptive.policies.screening import learnt
from tests.adaptive.problems import descent, ellipsoid, fed

DIM = 8


def screened(cov, told=40, f=None, breadth=5.0):
    """Policy, state and generator of a descent with a surrogate of `told` samples."""
    rng = np.random.default_rng(0)
    one = descent(cov, mean=1.0, width=np.linspace(1.0, 4.0, DIM), bias=0.3)
    fed(one, told, f or ellipsoid(DIM, 100)[1], rng)
    screening = one.policies.screening
    screening.surrogate, screening.breadth = learnt(one.state), breadth
    return screening, one.state, rng


def test_the_most_promising_are_handed_out_and_the_others_kept():
    screening, state, rng = screened(np.full(DIM, 0.04))
    _, f = ellipsoid(DIM, 100)
    theta = screening.draw(state, 8, rng)
    assert theta.shape == (8, DIM)
    assert screening.pool.shape == (32, DIM)
    assert np.median(f(theta + state.coords.bias)) < np.quantile(f(screening.pool), 0.1)


def test_the_pool_is_bounded():
    screening, state, rng = screened(np.full(DIM, 0.04))
    for _ in range(100):
        screening.draw(state, 8, rng)
    assert len(screening.pool) == tuning.BROADEST * 8
    screening.forget()
    assert not screening.pool.size


def test_evaluated_and_not_evaluated_are_together_a_sample_of_the_marginal():
    """Selection looks at the intended theta only: with noise on the evaluated, all are N(m, M)."""
    cov = np.diag(np.tile([0.5, 1.0, 2.0, 0.1], 2))
    screening, state, rng = screened(cov)
    theta = screening.draw(state, 8000, rng)
    x = theta + state.coords.bias + rng.standard_normal(theta.shape) * np.sqrt(np.diag(cov))
    z = state.marginal.whiten(state.coords.to_y(np.concatenate([x, screening.pool])))
    # 40,000 points: means and covariances have standard errors of at most .007
    assert np.abs(z.mean(axis=0)).max() < 0.03
    assert np.allclose(np.cov(z.T), np.eye(DIM), atol=0.04)


def generations(f, count, breadth=2.0):
    screening, state, rng = screened(np.full(DIM, 0.04), f=f, breadth=breadth)
    for _ in range(count):
        x = screening.draw(state, 8, rng) + state.coords.bias
        state.archive.add(x, f(x))  # what the model is about to learn must not count as known
        screening.population(state, x, f(x))
    return screening


@pytest.mark.parametrize("turned", [None, 1])
def test_trust_grows_where_points_are_ordered(turned):
    """On ellipsoids along the axes, which suit the surrogate, and on turned ones."""
    _, quadratic = ellipsoid(DIM, 100, seed=turned)
    assert generations(quadratic, 6).breadth > 2
    assert generations(lambda x: np.sqrt(quadratic(x)), 6).breadth > 2


def test_trust_ends_where_points_are_not_ordered():
    values = np.random.default_rng(5)
    assert generations(lambda x: values.random(len(x)), 6).breadth == 1


def test_agreement_is_that_of_the_model_before_it_learns():
    screening, state, rng = screened(np.full(DIM, 0.04), told=24)
    x, f = screening.draw(state, 8, rng) + state.coords.bias, rng.random(8)
    correlation = stats.spearmanr(screening.surrogate.predict(x), f).statistic
    state.archive.add(x, f)
    screening.population(state, x, f)
    assert screening.agreement == pytest.approx(correlation * 8 / tuning.AGREEMENT_MEMORY)


def test_failed_evaluations_teach_nothing():
    screening, state, rng = screened(np.full(DIM, 0.04))
    theta = screening.draw(state, 8, rng)
    before = screening.agreement
    told = screening.population(state, theta, np.full(8, np.nan))
    assert screening.agreement == before
    assert told.y.shape == (8, DIM)
    assert np.isnan(told.f).all()


def test_values_of_the_pool_are_on_the_scale_of_f():
    """The surrogate's values are calibrated on the evaluated points; rates are of these only."""
    screening, state, rng = screened(np.full(DIM, 0.04))
    _, f = ellipsoid(DIM, 100)
    x = screening.draw(state, 8, rng) + state.coords.bias
    pool = screening.pool
    told = screening.population(state, x, 1000 * f(x))
    assert told.evaluated == 8
    assert told.f.size == 40
    assert np.corrcoef(told.f[8:], f(pool))[0, 1] > 0.9
    assert np.median(told.f[8:] / f(pool)) == pytest.approx(1000, rel=0.5)


def test_the_refinement_is_not_screened():
    """There the samples have to be those of the search distribution: averages are taken."""
    screening, state, rng = screened(np.full(DIM, 0.04))
    state.phase = Phase.REFINE
    theta = screening.draw(state, 8, rng)
    assert theta.shape == (8, DIM)
    # whole pairs: nothing was selected
    middle = state.coords.to_x(state.marginal.mean)
    assert np.allclose(theta.mean(axis=0) + state.coords.bias, middle)
    assert screening.pool.size == 0


def test_nothing_is_screened_where_x_is_not_measured():
    screening, state, rng = screened(np.zeros(DIM))
    state.coords = dataclasses.replace(state.coords, smooth=np.full(DIM, 0.1))
    theta = screening.draw(state, 8, rng)
    assert screening.pool.size == 0
    before = screening.breadth
    told = screening.population(state, theta, np.arange(8.0))
    assert len(told.y) == 8
    assert not told.paired
    assert screening.breadth == before


@pytest.mark.parametrize("sigma", [0.0, 0.1])
def test_screening_saves_evaluations(sigma):
    """A sharp ridge in ten dimensions, 5 seeds: evaluations until the mean is near its end."""

    def ridge(x):
        return x[:, 0] ** 2 + 100 * np.sqrt(np.sum(x[:, 1:] ** 2, axis=1))

    def needed(seed, without):
        world, start = np.random.default_rng(seed), np.full(10, 3.0)
        rng, cov = np.random.default_rng(seed), np.full(10, sigma**2)
        search = Adaptive(start, np.full(10, 2.0), cov, rng=rng, without=without)
        while ridge(search.mean[None])[0] > 10 and search.evaluations < 3000:
            theta = search.ask()
            x = theta + sigma * world.standard_normal(theta.shape)
            search.tell(theta, x, ridge(x))
        return search.evaluations

    seeds = range(5)
    # Newton steps alone gain as much on this function: they are left out of both
    alone = frozenset({"early_newton"})
    with_it = np.median([needed(seed, alone) for seed in seeds])
    without_it = np.median([needed(seed, alone | {"screening"}) for seed in seeds])
    assert without_it > 1.2 * with_it
