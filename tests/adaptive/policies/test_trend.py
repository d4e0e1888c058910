"""A restart by the trend: steps by values of a wide search, which ripples do not mislead."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.descent import Descent, Start
from phenes.adaptive.model.features import features_of
from phenes.adaptive.phases import Phase, Recentre
from phenes.adaptive.policies import trend
from phenes.adaptive.policies.trend import Trend
from tests.adaptive.problems import coordinates, descent, fed, sphere

DIM = 4
ROWS = 10 * features_of(DIM)


def rastrigin(x):
    """A bowl with its bottom at 1.2 in every coordinate, and ripples, three high and one long."""
    return np.sum((x - 1.2) ** 2 - 3 * np.cos(2 * np.pi * (x - 1.2)), axis=1)


def begun(f=rastrigin, rows=ROWS, n=0, cov=None, **sides):
    """A descent that begins with the trend, at 0 and 1.5 wide, after n draws."""
    coords = coordinates(np.full(DIM, 0.01) if cov is None else cov, **sides)
    one = Descent(coords, Start(np.zeros(DIM), 1.5, 8, trend=rows))
    return fed(one, n, f, np.random.default_rng(0)) if n else one


def play(one, f, until, seed=0):
    rng = np.random.default_rng(seed)
    while one.state.evaluations < until:
        theta = one.ask(8, rng)
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        one.tell(x, f(x))
    return one


def away(one):
    return np.abs(one.state.coords.to_x(one.state.marginal.mean) - 1.2).max()


def test_it_finds_the_bottom_below_the_ripples():
    """Where ripples end a descent by ranks in most of the runs, one long or more away."""
    ends = [away(play(begun(rows=2 * ROWS), rastrigin, 2 * ROWS + 20, seed)) for seed in range(5)]
    assert np.median(ends) < 0.35


def test_then_the_search_goes_on_there():
    one = play(begun(rows=2 * ROWS), rastrigin, 2 * ROWS + 20)
    assert not one.policies.trend.active
    assert one.state.phase is Phase.SEARCH
    width = one.state.coords.std_x(one.state.marginal.search(one.state.coords.c))
    assert width.min() > 0.02
    assert width.max() < 0.6
    assert list(one._events.take()) == [trend.FOUND]


def test_no_model_before_there_are_rows_for_products_and_the_next_after_as_many_as_features():
    p = features_of(DIM)
    one = begun(n=p)
    policy = Trend(ROWS)
    assert policy.decide(one.state) == ()
    assert policy.due == 2 * p
    fed(one, p - 1, rastrigin, np.random.default_rng(1))
    assert policy.decide(one.state) == ()
    fed(one, 1, rastrigin, np.random.default_rng(2))
    (step,) = policy.decide(one.state)
    assert isinstance(step, Recentre)
    assert step.why == ""
    assert policy.active


def test_at_its_last_row_it_ends_even_without_a_model():
    one = begun(lambda x: np.zeros(len(x)), n=ROWS)
    policy = Trend(ROWS)
    (step,) = policy.decide(one.state)
    assert step.why == trend.FOUND
    np.testing.assert_array_equal(step.mean, one.state.marginal.mean)
    np.testing.assert_array_equal(step.cov, one.state.marginal.cov)
    assert not policy.active


def test_on_a_bowl_it_is_there_at_once():
    one = play(begun(sphere), sphere, ROWS + 10)
    assert sphere(one.state.coords.to_x(one.state.marginal.mean)[None])[0] < 1e-3


def test_it_stays_within_the_bounds():
    one = play(begun(lower=-1.0, upper=0.5), rastrigin, ROWS + 20)
    assert np.all(one.state.coords.to_x(one.state.marginal.mean) <= 0.5)


def test_a_descent_has_none_unless_it_is_asked_for():
    assert not descent(np.full(DIM, 0.01)).policies.trend.active


def test_nothing_but_failures_end_it():
    one = begun()
    rng = np.random.default_rng(0)
    for _ in range(4):
        x = one.ask(8, rng)
        f = np.full(8, np.nan) if one.state.evaluations else sphere(x)
        one.tell(x, f)
    assert not one.policies.trend.active


def test_it_keeps_all_of_its_draws():
    assert begun(rows=5000).state.archive.capacity >= 5000


def a_step(last):
    """On a bowl in the first coordinate, with noise of the values."""
    noise = np.random.default_rng(0).standard_normal(400)
    one = begun(lambda x: 3 * x[:, 0] ** 2 + noise[: len(x)], n=400)
    (step,) = Trend(400 if last else 4000).decide(one.state)
    return np.diag(step.cov) / np.diag(one.state.marginal.cov)


def test_it_narrows_only_where_the_bottom_is_known():
    ratio = a_step(last=False)
    assert ratio[0] == pytest.approx(tuning.TREND_SHRINK, abs=0.01)
    np.testing.assert_allclose(ratio[1:], 1, atol=0.01)


def test_at_last_it_is_as_narrow_as_the_error_of_the_bottom():
    """Where the curvature is not known, it is taken to be what errors of the model may make."""
    ratio = a_step(last=True)
    assert ratio[0] < 0.002
    np.testing.assert_allclose(ratio[1:], 1 / (4 * DIM), rtol=0.1)
