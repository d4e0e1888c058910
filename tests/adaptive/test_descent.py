"""One descent: what each decision does to it, and the ways from phase to phase."""

import numpy as np
import pytest

from phenes.adaptive import tuning
from phenes.adaptive.descent import capacity
from phenes.adaptive.marginal import marginal_of
from phenes.adaptive.newton import Advice
from phenes.adaptive.phases import Claim, End, Enter, Phase, Return, Revert, Step, Widen
from phenes.adaptive.policies import failures, floor, plateau, refinement, stagnation, value_noise
from tests.adaptive.problems import (
    coordinates,
    descent,
    drawn,
    ellipsoid,
    fed,
    nearly_sphere,
    sphere,
)
from tests.adaptive.test_newton import a_fit


def advance(one, f, evaluations, rng, sigma=0.1):
    """Asks and tells whole populations up to this many evaluations of the descent."""
    while one.state.evaluations < evaluations:
        theta = one.ask(one.state.popsize, rng)
        x = theta + sigma * rng.standard_normal(theta.shape)
        one.tell(x, f(x))
    return one


def until(one, phase, f, rng, most=4000, sigma=0.1):
    while one.state.phase is not phase and one.state.evaluations < most:
        advance(one, f, one.state.evaluations + 1, rng, sigma)
    assert one.state.phase is phase, one.state
    return one


def broken(x):
    return np.full(len(x), np.nan)


def test_a_noisy_bowl_is_searched_refined_and_settled():
    rng = np.random.default_rng(0)
    one = until(descent(np.full(3, 0.01), mean=2.0, width=0.5), Phase.REFINE, sphere, rng)
    assert set(one._events.take()) <= {floor.AT_FLOOR, floor.NEAR}
    until(one, Phase.SETTLED, sphere, rng)
    assert one.state.why == refinement.RESOLVED
    assert np.abs(one.state.coords.intend(one.state.marginal.mean)).max() < 0.01
    advance(one, sphere, one.state.evaluations + 1000, rng)
    assert one.state.phase is Phase.SETTLED


def test_failures_send_a_refinement_back_to_search_and_one_that_settled_to_its_end():
    rng = np.random.default_rng(0)
    one = until(descent(np.full(3, 0.01), mean=2.0, width=0.5), Phase.REFINE, sphere, rng)
    due = one.policies.refinement.due
    best = one.state.archive.best()[0]
    until(one, Phase.SEARCH, broken, rng)
    assert failures.LOST in one._events.take()
    assert np.allclose(one.state.coords.to_x(one.state.marginal.mean), best)
    assert one.policies.early_newton.due >= due
    until(one, Phase.SETTLED, sphere, rng)
    until(one, Phase.ENDED, broken, rng, most=10_000)


def test_a_search_ends_on_a_plateau_and_says_so():
    rng = np.random.default_rng(0)
    one = descent(np.zeros(2))
    until(one, Phase.ENDED, lambda x: np.ones(len(x)), rng)
    assert one.state.why == plateau.FLAT
    assert one.state.claim.value == 1
    assert one.state.generation == tuning.LOST_GENERATIONS + 1


def test_a_search_that_only_fails_ends():
    one = until(descent(np.zeros(2)), Phase.ENDED, broken, np.random.default_rng(0))
    assert one.state.why == failures.FAILS
    assert one.state.evaluations == 3 * one.state.popsize
    assert np.isnan(one.state.claim.value)


def test_without_noise_a_search_ends_at_the_precision_there_is():
    one = descent(np.zeros(2), mean=1.0)
    until(one, Phase.ENDED, sphere, np.random.default_rng(0), 30_000, sigma=0.0)
    ends = {stagnation.NARROW, stagnation.EQUAL, stagnation.STAGNATES}
    assert one.state.why in ends
    assert one.state.claim.value < 1e-20


@pytest.mark.parametrize(("turned", "most", "value"), [(False, 32, 1e-10), (True, 64, 1e-2)])
def test_without_noise_the_minimum_of_an_exact_model_is_evaluated(turned, most, value):
    """Once each time, and neither ranked nor fitted: it is the mean, and no draw."""
    dim, rng = 8, np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0] if turned else np.eye(dim)
    scales = np.geomspace(1.0, 1e4 if turned else 1.0, dim)
    one = descent(np.zeros(dim), mean=1.0)
    popsize = one.state.popsize
    seen, found = 0, False
    while seen < most:
        mean = one.state.coords.intend(one.state.marginal.mean)
        theta = one.ask(popsize, rng)
        at_mean = np.all(theta == mean, axis=1)
        f = np.sum(scales * ((theta - 0.7) @ turn) ** 2, axis=1)
        assert not at_mean[1:].any()
        kept = one.state.archive.count
        one.tell(theta, f)
        assert one.state.archive.count == kept + popsize - at_mean[0]
        found |= bool(at_mean[0]) and f[0] < value
        seen += popsize
    assert one.state.generation == seen // popsize
    assert found


def test_noise_of_the_values_is_seen_and_looked_through():
    rng = np.random.default_rng(0)
    one = descent(np.zeros(2), mean=1.0)
    noisy = lambda x: sphere(x) + rng.standard_normal(len(x))  # noqa: E731
    until(one, Phase.REFINE, noisy, rng, 20_000, sigma=0.0)
    assert value_noise.SEEN in one._events.take()
    assert one.policies.value_noise.known == pytest.approx(1, abs=0.4)


def test_a_plateau_that_ends_a_search_at_the_floor_settles_it():
    """Both happen in one generation: ENDED by the plateau, SETTLED by the floor."""
    rng, one = np.random.default_rng(0), descent(np.ones(2))
    one.policies.plateau.flat, one.policies.plateau.ever = tuning.FLAT_GENERATIONS, True
    one.policies.early_newton.near, one.policies.early_newton.due = 2, 10**9
    x = drawn(one, one.state.popsize, rng)
    one.tell(x, np.zeros(len(x)))
    assert one.state.phase is Phase.SETTLED
    assert list(one._events.take()) == [plateau.FLAT, floor.NEAR]


def a_step(dim, move, factors, claim=None):
    advice = Advice(np.full(dim, move), np.full(dim, factors), move, 9.0)
    return Step(a_fit(np.ones(dim), np.ones(dim)), advice, claim)


def test_a_step_moves_mean_and_widths_and_clears_the_paths():
    one = fed(descent(np.zeros(2)), 20, sphere, np.random.default_rng(0))
    before = one.state.marginal
    one.state.paths = one.state.paths.__class__(np.ones(2), np.ones(2), 5)
    one._apply((a_step(2, 0.5, 4.0),))
    assert np.allclose(one.state.marginal.mean, before.mean + 0.5)
    assert np.allclose(one.state.marginal.cov, 4 * before.cov)
    assert not one.state.paths.s.any()
    assert one.state.generation == 0
    assert one.policies.reversal.kept is before


def test_a_step_of_the_refinement_is_a_generation_with_a_claim():
    one = fed(descent(np.zeros(2)), 20, sphere, np.random.default_rng(0))
    one.state.phase = Phase.REFINE
    one._apply((a_step(2, 0.5, 1.0, Claim(1.0, 0.1, 0.2)),))
    assert one.state.generation == 1
    assert one.state.claim == Claim(1.0, 0.1, 0.2)


def test_a_step_ends_at_the_bounds():
    one = fed(descent(np.zeros(2), upper=0.2), 20, sphere, np.random.default_rng(0))
    one._apply((a_step(2, 5.0, 1.0),))
    assert np.allclose(one.state.marginal.mean, 0.2)


def test_a_reversal_restores_the_distribution_and_gives_up_its_candidates():
    one = fed(descent(np.full(8, 0.04)), 40, sphere, np.random.default_rng(0))
    before = one.state.marginal
    one._apply((a_step(8, 0.5, 2.0),))
    one.policies.screening.pool = np.ones((4, 8))
    one._apply((Revert("why", before),))
    assert np.allclose(one.state.marginal.mean, before.mean)
    assert np.allclose(one.state.marginal.cov, before.cov)
    assert not one.policies.screening.pool.size
    assert one.policies.early_newton.failures == tuning.FAILURES_PER_REVERT


def test_a_return_goes_to_the_point_half_as_wide():
    one = descent(np.full(8, 0.04), width=1.0)
    one.policies.screening.pool = np.ones((4, 8))
    one.policies.screening.mirroring.unpaired = np.ones((1, 8))
    one.policies.early_newton.near = one.policies.floor.generations = 1
    before = one.state.marginal.search(one.state.coords.c)
    one._apply((Return("why", np.full(8, 0.7)),))
    assert np.allclose(one.state.coords.to_x(one.state.marginal.mean), 0.7)
    assert np.allclose(one.state.marginal.search(one.state.coords.c), before / 4)
    assert not one.policies.screening.pool.size
    assert not one.policies.screening.mirroring.unpaired.size
    assert one.policies.early_newton.near == one.policies.floor.generations == 0


def test_widening_keeps_mean_and_shape():
    one = descent(np.zeros(2), mean=0.3, width=np.array([1.0, 3.0]))
    before = one.state.marginal
    one._apply((Widen("why", before.log_width + np.log(5)),))
    assert np.allclose(one.state.marginal.cov, 25 * before.cov)
    assert np.array_equal(one.state.marginal.mean, before.mean)
    assert one._events.take() == {}  # the Enter that follows says why


def test_several_decisions_are_applied_in_their_order():
    one = descent(np.ones(2))
    one._apply((End("first"), End("second"), Enter("third")))
    assert one.state.phase is Phase.SETTLED
    assert one.state.why == "second"
    assert list(one._events.take()) == ["first", "second", "third"]


def test_half_of_a_generation_is_worth_an_update():
    rng, one = np.random.default_rng(0), descent(np.zeros(3))
    x = drawn(one, 8, rng)
    one.tell(x[:3], sphere(x[:3]))
    one.conclude()
    assert one.state.generation == 0
    one.tell(x[3:4], sphere(x[3:4]))
    one.conclude()
    assert one.state.generation == 1


def test_rows_without_x_move_nothing():
    rng, one = np.random.default_rng(0), descent(np.zeros(3))
    x = drawn(one, 8, rng)
    x[:, 0] = np.nan
    before = one.state.marginal.mean
    one.tell(x, np.arange(8.0))
    assert one.state.generation == 1
    assert np.array_equal(one.state.marginal.mean, before)


def test_the_estimate_is_computed_once_for_what_was_told(monkeypatch):
    from phenes.adaptive import estimate

    rng, one, fits = np.random.default_rng(0), descent(np.full(3, 0.04)), []
    found = estimate.anchored
    monkeypatch.setattr(estimate, "anchored", lambda *args: fits.append(1) or found(*args))
    fed(one, 60, nearly_sphere, rng)
    x = drawn(one, 8, rng)
    for change in (
        lambda: one.tell(x, nearly_sphere(x)),
        lambda: one.learn(x, nearly_sphere(x)),
        lambda: one.move(coordinates(np.full(3, 0.02))),
        lambda: (one.tell(x[:4], nearly_sphere(x[:4])), one.estimate(), one.conclude()),
    ):
        change()
        fits.clear()
        assert one.estimate() is one.estimate()
        assert len(fits) == 1


def test_the_local_model_is_that_of_the_samples_in_x():
    rng = np.random.default_rng(3)
    one, f = descent(np.full(4, 0.01)), ellipsoid(4, 10, seed=1)[1]
    x = rng.standard_normal((50, 4))
    for evaluations in (200, 1500):  # on the way, and after the last step of a refinement
        advance(one, f, evaluations, rng)
        np.testing.assert_allclose(one.local_model()(x), f(x), rtol=1e-5, atol=1e-5)
    one.move(coordinates(np.full(4, 0.04)))  # a function of x is the same in other coordinates
    np.testing.assert_allclose(one.local_model()(x), f(x), rtol=1e-5, atol=1e-5)


def test_a_descent_that_has_seen_too_little_has_no_local_model():
    one = descent(np.full(4, 0.01))
    assert one.local_model() is None
    advance(one, sphere, 4, np.random.default_rng(0))
    assert one.local_model() is None


@pytest.mark.parametrize("dim", [3, 201])
def test_another_noise_keeps_the_distribution_of_theta(dim):
    one = descent(np.full(dim, 0.04), mean=0.5, width=0.7)
    before = one.state.coords.std_x(one.state.marginal.search(one.state.coords.c))
    mean = one.state.coords.intend(one.state.marginal.mean)
    one.policies.reversal.kept = one.state.marginal
    new = coordinates(np.full(dim, 0.09), width=0.7, bias=0.2)
    one.move(new)
    assert np.allclose(new.std_x(one.state.marginal.search(new.c)), before)
    assert np.allclose(new.intend(one.state.marginal.mean), mean)
    assert one.policies.reversal.kept is None


@pytest.mark.parametrize("dim", [3, 201])
def test_theta_takes_over_from_noise_that_is_no_longer_measured(dim):
    """At the noise floor all theta are the same; with x unmeasured the models would see nothing."""
    one = descent(np.full(dim, 0.04), width=0.7)
    one.state.marginal = marginal_of(np.zeros(dim), one.state.coords.noise_matrix(), np.ones(dim))
    smooth = np.zeros(dim)
    smooth[1:] = 0.2  # the first coordinate is still measured, less noisy than was thought
    cov = np.zeros(dim)
    cov[0] = 0.01
    new = coordinates(cov, width=0.7, smooth=smooth)
    one.move(new)
    spread = new.std_x(one.state.marginal.search(new.c))
    assert spread[0] < 1e-6
    assert np.allclose(spread[1:], 0.2)


def test_a_step_that_made_everything_worse_is_taken_back():
    """The model sees a slope; behind it values are far worse."""
    rng, one = np.random.default_rng(0), descent(np.zeros(2))
    fed(one, 40, sphere, rng)
    before = one.state.marginal
    one._apply((a_step(2, 3.0, 1.0),))
    x = drawn(one, 8, rng)
    one.tell(x, 1e6 + sphere(x))
    assert np.allclose(one.state.marginal.mean, before.mean)
    assert one._events.take()


def test_what_is_kept_is_bounded():
    few, many = coordinates(np.ones(3)), coordinates(np.ones(201))
    assert capacity(few, 8) == tuning.KEPT_AT_LEAST
    assert capacity(few, 500) == 10_000
    assert capacity(few, 5000) == 20_000
    assert capacity(few, 50_000) == 100_000
    assert capacity(many, 8) == tuning.KEPT_AT_LEAST
    assert capacity(coordinates(np.ones(20)), 8) == 20 * 231


def test_the_steepest_function_of_the_tests_is_descended():
    """A sanity check of the parts together, without restarts."""
    matrix, f = ellipsoid(4, 1e3, seed=1)
    one = advance(descent(np.full(4, 0.01), mean=2.0, width=0.5), f, 1500, np.random.default_rng(0))
    mean = one.state.coords.intend(one.state.marginal.mean)
    assert mean @ matrix @ mean < 1e-4
