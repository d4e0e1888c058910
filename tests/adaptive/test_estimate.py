"""F at the mean: honest errors, also where a quadratic is too simple, and what the noise costs."""

import dataclasses

import numpy as np
import pytest

from phenes.adaptive import estimate
from phenes.adaptive.phases import Claim, Phase
from tests.adaptive.problems import descent, drawn, ellipsoid, fed, sphere

SIGMA = 0.5


def quartic(x):
    return np.sum(x**4, axis=1)


def smooth_quartic(mean):
    """E (m + sigma z)^4 = m^4 + 6 m^2 sigma^2 + 3 sigma^4 in each coordinate."""
    return float(np.sum(mean**4 + 6 * mean**2 * SIGMA**2 + 3 * SIGMA**4))


@pytest.mark.parametrize("mean", [0.0, 0.5])
def test_the_error_is_honest_where_the_model_is_too_simple(mean):
    """The rest that the quadratic misses is averaged over the noise: (value - F) / error."""
    scores = []
    for seed in range(20):
        one = descent(np.full(2, SIGMA**2), mean=mean, width=0.7)
        fed(one, 400, quartic, np.random.default_rng(seed))
        claim = estimate.smoothed(
            one.state, *_model(one.state), *estimate.rows(one.state, 400, np.inf)
        )
        scores.append((claim.value - smooth_quartic(np.full(2, mean))) / claim.error)
    # of 20 honest scores the root mean square is 1 +- .16; the quadratic alone is off by 3 or more
    assert 0.5 < np.sqrt(np.mean(np.square(scores))) < 1.6


def _model(state):
    model, _, _ = estimate.rich_model_of(state, 400)
    assert model is not None
    return model, np.zeros(state.coords.dim)


def test_without_noise_the_model_is_corrected_by_the_nearest_samples():
    """f = |x|: no quadratic knows that it is 0 at 0."""
    one = descent(np.zeros(2), width=1.0)
    fed(one, 400, lambda x: np.sqrt(sphere(x)), np.random.default_rng(0))
    model, u = _model(one.state)
    z, f = estimate.rows(one.state, 400, np.inf)
    claim = estimate.smoothed(one.state, model, u, z, f)
    alone = model.value(u, np.zeros(2))
    assert abs(claim.value) < alone
    assert abs(claim.value) < 2 * claim.error


@pytest.mark.parametrize("dim", [1, 3, 8])
def test_the_noise_costs_what_it_adds(dim):
    """On a sphere with C = c I: d c, whatever the mean."""
    c = 0.3
    one = descent(np.full(dim, c), mean=1.0, width=0.5)
    claim = estimate.current(fed(one, 300, sphere, np.random.default_rng(0)).state)
    assert claim.noise_cost == pytest.approx(dim * c, rel=1e-3)
    assert claim.value == pytest.approx(dim * (1 + c), rel=1e-3)


def test_what_a_step_or_an_end_claimed_is_kept():
    state = fed(descent(np.ones(2)), 100, sphere, np.random.default_rng(0)).state
    state.claim = Claim(1.0, 0.1, 0.2)
    for phase in (Phase.REFINE, Phase.SETTLED, Phase.ENDED):
        state.phase = phase
        assert estimate.current(state) is state.claim
    state.phase = Phase.SEARCH
    assert estimate.current(state).value != 1.0
    state.phase, state.claim = Phase.REFINE, Claim()  # before the first step
    assert np.isfinite(estimate.current(state).value)


def test_few_values_are_averaged_and_none_are_nothing():
    one = descent(np.ones(3))
    assert np.isnan(estimate.current(one.state).value)
    assert estimate.current(one.state).error == np.inf
    one.state.archive.add(np.zeros((1, 3)), np.array([2.0]))
    assert estimate.current(one.state) == Claim(2.0, np.inf, 0.0)
    one.state.archive.add(np.zeros((1, 3)), np.array([4.0]))
    assert estimate.current(one.state) == Claim(3.0, 1.0, 0.0)


def test_rows_from_elsewhere_do_not_count():
    one = fed(descent(np.ones(2)), 50, sphere, np.random.default_rng(0))
    one.state.archive.add(np.full((10, 2), 100.0), np.zeros(10))
    z, _ = estimate.rows(one.state, 60, estimate.horizon(2))
    assert len(z) <= 50
    assert np.all(np.sum(z**2, axis=1) < 18)


def test_in_many_dimensions_the_axes_suffice_where_they_explain_nearly_everything():
    """d = 30: a sphere needs no products of coordinates, a turned valley does."""
    rng = np.random.default_rng(0)
    one = descent(np.ones(30))
    model, _, _ = estimate.rich_model_of(fed(one, 1200, sphere, rng).state, 1200)
    assert model.turn is None
    other = descent(np.ones(30))
    valley = lambda x: np.sum(x, axis=1) ** 2  # noqa: E731
    model, _, _ = estimate.rich_model_of(fed(other, 1200, valley, rng).state, 1200)
    assert model.turn is not None


def test_on_the_way_a_model_serves_for_half_as_many_rows_as_it_has_features():
    """On a quadratic what it says where the mean has moved to is exact."""
    one = descent(np.full(4, 0.04), mean=1.0, width=0.5)
    state = fed(one, 60, sphere, np.random.default_rng(0)).state  # 15 features
    _, anchor = estimate.anchored(state, None)
    assert anchor is not None
    state.marginal = dataclasses.replace(state.marginal, mean=state.marginal.mean * 0.5)
    state.archive.total += 6
    claim, same = estimate.anchored(state, anchor)
    assert same is anchor
    assert claim.value == pytest.approx(4 * (0.25 + 0.04), rel=1e-4)
    state.archive.total += 1
    assert estimate.anchored(state, anchor)[1] is not anchor


def _counted(monkeypatch, name):
    """Calls of a function of `estimate`, as a list that grows."""
    calls, known = [], getattr(estimate, name)

    def counting(*args, **options):
        calls.append(name)
        return known(*args, **options)

    monkeypatch.setattr(estimate, name, counting)
    return calls


def test_rows_of_the_verification_are_no_reason_for_a_new_model_until_they_are_many(monkeypatch):
    """Each batch of them had made a new one, the dearest part of a run in 520 coordinates."""
    rng = np.random.default_rng(0)
    one = fed(descent(np.full(4, 0.04), mean=1.0, width=0.5), 60, sphere, rng)
    one.estimate()
    fits = _counted(monkeypatch, "fit")
    for _ in range(3):  # of 7 rows, half as many as features
        x = drawn(one, 2, rng)
        one.learn(x, sphere(x))
        one.estimate()
    assert fits == []
    x = drawn(one, 1, rng)
    one.learn(x, sphere(x))
    one.estimate()
    assert fits == ["fit"]


def test_rows_too_few_for_any_model_are_not_turned(monkeypatch):
    one = fed(descent(np.full(40, 0.04), mean=1.0), 90, sphere, np.random.default_rng(0))
    turned = _counted(monkeypatch, "rows")
    assert np.isfinite(estimate.current(one.state).value)
    assert estimate.full_model_of(one.state, 1000) is None
    assert turned == []


def test_a_quadratic_explains_a_bowl_and_not_a_rugged_function():
    rng = np.random.default_rng(0)
    rugged = lambda x: sphere(x) + 5 * np.sum(np.cos(30 * x), axis=1)  # noqa: E731
    assert estimate.explained(fed(descent(np.full(3, 0.01)), 200, sphere, rng).state) > 0.999
    assert estimate.explained(fed(descent(np.full(3, 0.01)), 200, rugged, rng).state) < 0.5
    assert np.isnan(estimate.explained(fed(descent(np.full(3, 0.01)), 5, sphere, rng).state))


def from_afar(near):
    """A search that has become ten times narrower: 40 of 60 rows are beyond its horizon, d = 5."""
    one = descent(np.full(5, 1e-4), width=10.0)
    rng = np.random.default_rng(0)
    fed(one, 40, ellipsoid(5, 100, seed=1)[1], rng)
    narrow = descent(np.full(5, 1e-4), width=1.0).state.marginal
    one.state.marginal = narrow
    fed(one, 20, near, rng)
    return one.state


def test_rows_far_away_help_where_f_is_the_same_function():
    """21 features need more than the 20 rows at hand: all 60 make the model exact."""
    state = from_afar(ellipsoid(5, 100, seed=1)[1])
    z, _ = estimate.rows(state, 60, estimate.horizon(5))
    assert len(z) < 24
    model = estimate.model_of(state, 60)
    assert model.n == 60
    assert model.crossed
    assert 1 - model.r2 < 1e-6


def test_rows_far_away_do_not_count_where_f_is_another_function():
    state = from_afar(lambda x: np.sum(np.abs(x - 0.3), axis=1))
    model = estimate.model_of(state, 60)
    assert model is None or not model.crossed


def test_the_coordinates_of_x_are_found_in_z():
    """Correlated noise and an oblong search: columns of length 1, x = z axes times widths."""
    one = descent(np.array([[0.5, 0.2], [0.2, 0.3]]), width=2.0)
    marginal = one.state.marginal
    axes = estimate.separable_axes(one.state)
    z = np.random.default_rng(0).standard_normal((50, 2))
    x = one.state.coords.to_x(marginal.unwhiten(z))
    assert np.allclose(np.linalg.norm(axes, axis=0), 1)
    ratio = x / (z @ axes)
    assert np.allclose(ratio, ratio[0])
