"""The model that chooses candidates: exact where it can be, trusted only as far as it orders points
it has not seen.
"""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from phenes.adaptive import Adaptive, screen, steps, surrogate
from phenes.adaptive import run as runs
from phenes.adaptive.space import make_space
from phenes.adaptive.surrogate import learn
from tests.adaptive.problems import ellipsoid

DIM = 8
NO_BOX = {"bias": np.full(DIM, 0.3), "lower": np.full(DIM, -np.inf), "upper": np.full(DIM, np.inf)}


def a_run(cov, told=40, f=None):
    """A run with a surrogate of `told` samples of an ellipsoid."""
    space = make_space(cov, np.linspace(1.0, 4.0, DIM), **NO_BOX)
    run = runs.start(space, np.ones(DIM), 1.0, 8)
    rng = np.random.default_rng(0)
    x = space.to_x(run.normal.mean + run.normal.unwhiten(rng.standard_normal((told, DIM))))
    run.archive.add(x, (f or ellipsoid(DIM, 100)[1])(x))
    run.surrogate = screen._learn(run, space)
    run.breadth = 5.0
    return run, space, rng


@pytest.mark.parametrize("cov", [np.full(DIM, 0.04), np.diag(np.ones(DIM)) + 0.5])
def test_a_quadratic_in_the_axes_of_the_search_is_learnt_exactly(cov):
    """And holds anywhere, whatever the search does afterwards."""
    run, space, rng = a_run(cov)
    quadratic = lambda x: np.sum(  # noqa: E731
        (1 + run.normal.whiten(space.to_y(x))) ** 2 * np.geomspace(1, 1000, DIM), axis=1
    )
    x, mean = 10 * rng.standard_normal((20, DIM)), run.normal.mean
    truth = quadratic(x)
    model = learn(run.archive.x[:40], quadratic(run.archive.x[:40]), space, run.normal)
    run.normal.mean = mean + 1
    assert np.allclose(model.predict(x), truth, rtol=1e-4)
    assert not learn(x[:10], truth[:10], space, run.normal)  # too few rows for any model
    assert not learn(x, np.ones(20), space, run.normal)  # nothing to learn


def test_good_points_weigh_more(monkeypatch):
    """The worse half of the values is random: the model follows the better half more closely than
    plain least squares do.
    """
    run, space, rng = a_run(np.full(DIM, 0.04))
    x = space.to_x(run.normal.mean + run.normal.unwhiten(rng.standard_normal((400, DIM))))
    truth = ellipsoid(DIM, 1)[1](x)
    good = truth < np.median(truth)
    f = np.where(good, truth, truth * rng.uniform(1, 3, truth.size))
    weighted = learn(x, f, space, run.normal).predict(x[good])
    monkeypatch.setattr(surrogate, "BEST_OVER_WORST", 1.0)
    plain = learn(x, f, space, run.normal).predict(x[good])
    assert np.mean((weighted - truth[good]) ** 2) < 0.7 * np.mean((plain - truth[good]) ** 2)


def test_the_most_promising_are_handed_out_and_the_others_kept():
    run, space, rng = a_run(np.full(DIM, 0.04))
    _, f = ellipsoid(DIM, 100)
    theta = screen.draw(run, space, 8, rng)
    assert theta.shape == (8, DIM)
    assert run.pool.shape == (32, DIM)
    assert np.median(f(theta + space.bias)) < np.quantile(f(run.pool), 0.1)


def test_the_pool_is_bounded_and_given_up_with_its_search():
    run, space, rng = a_run(np.full(DIM, 0.04))
    for _ in range(100):
        screen.draw(run, space, 8, rng)
    assert len(run.pool) == screen.BROADEST * 8
    run.kept_mean, run.kept_cov, run.bar = run.normal.mean.copy(), run.normal.cov.copy(), 0.0
    assert steps.taken_back(run, space, np.ones(8))
    assert len(run.pool) == 0


def test_evaluated_and_not_evaluated_are_together_a_sample_of_the_marginal():
    """Selection looks at the intended theta only: with the noise of the world on the evaluated
    ones, all are N(mean, marginal).
    """
    cov = np.diag(np.tile([0.5, 1.0, 2.0, 0.1], 2))
    run, space, rng = a_run(cov)
    theta = screen.draw(run, space, 8000, rng)
    x = theta + space.bias + rng.standard_normal(theta.shape) * np.sqrt(np.diag(cov))
    z = run.normal.whiten(space.to_y(np.concatenate([x, run.pool])))
    # 40,000 points: means and covariances have standard errors of at most .007
    assert np.abs(z.mean(axis=0)).max() < 0.03
    assert np.allclose(np.cov(z.T), np.eye(DIM), atol=0.04)


def test_trust_follows_the_order_of_points_not_yet_seen():
    _, right = ellipsoid(DIM, 100)
    for f, grows in (
        (right, True),
        (lambda x: np.sqrt(right(x)), True),
        (lambda x: np.random.default_rng(5).random(len(x)), False),
    ):
        run, space, rng = a_run(np.full(DIM, 0.04))
        run.breadth = 2.0
        for _ in range(6):
            x = screen.draw(run, space, 8, rng) + space.bias
            run.archive.add(x, f(x))  # what the model is about to learn must not count as known
            screen.population(run, space, x, f(x))
        assert run.breadth > 2 if grows else run.breadth == 1


def test_agreement_is_that_of_the_model_before_it_learns():
    run, space, rng = a_run(np.full(DIM, 0.04), told=24)
    x, f = screen.draw(run, space, 8, rng) + space.bias, rng.random(8)
    expected = stats.spearmanr(run.surrogate.predict(x), f).statistic * 8 / screen.MEMORY
    run.archive.add(x, f)
    screen.population(run, space, x, f)
    assert run.agreement == pytest.approx(expected)


def test_failed_evaluations_teach_nothing():
    run, space, rng = a_run(np.full(DIM, 0.04))
    theta = screen.draw(run, space, 8, rng)
    before = run.agreement
    x, f = screen.population(run, space, theta, np.full(8, np.nan))
    assert run.agreement == before
    assert x.shape == (8, DIM)
    assert np.isnan(f).all()


def test_the_final_phase_is_not_screened():
    """There the samples have to be those of the search distribution: averages are taken of them."""
    run, space, rng = a_run(np.full(DIM, 0.04))
    run.phase = "newton"
    theta = screen.draw(run, space, 8, rng)
    assert theta.shape == (8, DIM)
    # whole pairs: nothing was selected
    assert np.allclose(theta.mean(axis=0) + space.bias, space.to_x(run.normal.mean))
    assert run.pool.size == 0


def test_nothing_is_screened_or_mirrored_where_x_is_not_measured():
    run, space, rng = a_run(np.zeros(DIM))
    space = dataclasses.replace(space, smooth=np.full(DIM, 0.1))
    theta = screen.draw(run, space, 8, rng)
    assert np.abs(theta.mean(axis=0) + space.bias - space.to_x(run.normal.mean)).max() > 1e-3
    assert run.pool.size == 0
    before = run.breadth
    x, _ = screen.population(run, space, theta, np.arange(8.0))
    assert len(x) == 8
    assert run.breadth == before
    assert screen.mirrors(
        make_space(np.ones(8), np.ones(8), np.zeros(8), np.full(8, -np.inf), np.full(8, np.inf))
    )
    assert not screen.mirrors(
        make_space(np.ones(7), np.ones(7), np.zeros(7), np.full(7, -np.inf), np.full(7, np.inf))
    )


def test_draws_come_in_mirrored_pairs_however_they_are_asked_for():
    run, _, _ = a_run(np.full(DIM, 0.04))
    parts = [screen.mirrored(run, n, DIM, np.random.default_rng(n)) for n in (1, 1, 3, 4, 1, 5, 1)]
    rows = np.concatenate(parts)
    assert np.array_equal(rows[::2], -rows[1::2])
    assert len(np.unique(np.abs(rows[:, 0]))) == 8
    many = screen.mirrored(run, 40_000, DIM, np.random.default_rng(0))
    # each entry has a standard error of .01
    assert np.allclose(np.cov(many.T), np.eye(DIM), atol=0.04)


@pytest.mark.parametrize("sigma", [0.0, 0.1])
def test_screening_saves_evaluations(sigma, monkeypatch):
    """A sharp ridge in ten dimensions, 5 seeds: evaluations until the mean is near its end, without
    screening / with it.
    """

    def needed(seed):
        world, engine = (
            np.random.default_rng(seed),
            Adaptive(np.full(10, 3.0), 2.0, np.full(10, sigma**2), rng=np.random.default_rng(seed)),
        )
        ridge = lambda x: x[:, 0] ** 2 + 100 * np.sqrt(np.sum(x[:, 1:] ** 2, axis=1))  # noqa: E731
        while ridge(engine.mean[None])[0] > 10 and engine.evaluations < 3000:
            theta = engine.ask()
            x = theta + sigma * world.standard_normal(theta.shape)
            engine.tell(theta, x, ridge(x))
        return engine.evaluations

    screened = np.median([needed(seed) for seed in range(5)])
    monkeypatch.setattr(screen, "BROADEST", 1.0)
    assert np.median([needed(seed) for seed in range(5)]) > 1.2 * screened
