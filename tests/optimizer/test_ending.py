"""When a search ends: the target with confidence, the reserve, and a budget that changes."""

import numpy as np
import pytest

import phenes
from phenes.optimizer.ending import Wishes


@pytest.mark.parametrize(
    ("sign", "target", "fun", "se", "reached"),
    [
        (1.0, 0.06, 0.05, 0.02, False),
        (1.0, 0.06, 0.05, 0.004, True),
        (1.0, 0.06, 0.07, 0.0, False),
        (-1.0, 4.5, -4.6, 0.04, True),
        (-1.0, 4.5, -4.6, 0.06, False),
        (-1.0, 4.5, 4.6, 0.0, False),
        (1.0, None, -1e9, 0.0, False),
        (1.0, 0.0, np.nan, np.inf, False),
    ],
)
def test_a_target_is_reached_by_two_standard_errors(sign, target, fun, se, reached):
    """fun is as minimised: to maximise, E f is -fun."""
    assert Wishes(target, sign, None, None).reached(fun, se) is reached


@pytest.mark.tier("runs")
def test_a_target_below_the_optimum_is_not_claimed():
    """E f is 0.03 at best; values scatter by 0.3, so that single estimates fall below 0.02."""
    reached = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        result = phenes.minimize(
            lambda x, rng=rng: np.sum(x**2) + 0.3 * rng.standard_normal(),
            np.full(3, 0.3),
            0.2,
            0.1,
            budget=200,
            target=0.02,
            seed=seed,
        )
        reached += "target" in result.message
    assert reached <= 1


def test_maximize_stops_at_its_target():
    result = phenes.maximize(
        lambda x: 5 - np.sum(x**2), np.full(3, 1.5), 0.5, 0.1, target=4.5, seed=0
    )
    assert "target" in result.message
    assert result.fun > 4.5
    assert result.nfev > 50, "not after the first generation: the start is worth -1.75"


def drive(opt, rng):
    while not opt.stop():
        theta = opt.ask()
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        opt.tell(theta, np.sum(x**2, axis=1), realised=x)


def test_the_last_tenth_of_the_budget_verifies():
    opt = phenes.Optimizer(np.ones(3), 0.5, 0.1, budget=400, seed=0)
    drive(opt, np.random.default_rng(0))
    assert set(opt.stop()) == {"budget"}
    assert opt.result.verified >= 20
    assert len(np.unique(opt.result.evaluations.theta[-20:], axis=0)) < 5, "draws, no search"


def test_a_converged_search_ends_before_its_budget():
    def f(x):
        return np.sum(x**2, axis=1)

    opt = phenes.Optimizer(np.ones(2), 0.5, budget=5000, seed=0)
    while not opt.stop():
        theta = opt.ask()
        opt.tell(theta, f(theta), realised=theta)
    assert "converged" in opt.stop()
    assert opt.nfev < 5000


def test_the_budget_is_validated_when_it_is_changed():
    opt = phenes.Optimizer(np.ones(3), 0.5, 0.1, budget=50, seed=0)
    opt.budget = 1e2
    assert opt.budget == 100
    with pytest.raises(ValueError, match="budget must be a whole number of at least 1, got nan"):
        opt.budget = np.nan


@pytest.mark.parametrize("engine", ["gp", "adaptive"])
def test_what_was_found_before_a_search_is_lost_is_verified(engine):
    """Values come for 40 evaluations, then failures only, until the answer is to be verified."""
    rng = np.random.default_rng(0)
    opt = phenes.Optimizer(np.full(2, 0.6), 0.3, noise=0.02, budget=1000, seed=0, engine=engine)
    while not opt.stop():
        theta = opt.ask()
        x = theta + 0.02 * rng.standard_normal(theta.shape)
        works = opt.nfev < 40 or opt._state.ending.reason == "failing"
        opt.tell(theta, np.sum(x**2, axis=1) if works else np.full(len(x), np.nan), realised=x)
    assert set(opt.stop()) == {"failing"}
    result = opt.result
    assert opt.nfev < 600
    assert result.verified >= 8
    assert result.fun == pytest.approx(np.sum(result.x**2) + 2 * 0.02**2, abs=2 * result.fun_se)
    assert not result.success
    assert "no finite value in the last" in result.message


def test_without_verification_a_lost_search_ends_at_once():
    rng = np.random.default_rng(0)
    opt = phenes.Optimizer(np.full(2, 0.6), 0.3, noise=0.02, budget=1000, seed=0, verify=0)
    while not opt.stop():
        theta = opt.ask()
        works = opt.nfev < 40
        x = theta + 0.02 * rng.standard_normal(theta.shape)
        opt.tell(theta, np.sum(x**2, axis=1) if works else np.full(len(x), np.nan), realised=x)
    assert set(opt.stop()) == {"failing"}
    assert result_is_not_verified(opt.result)


def result_is_not_verified(result):
    return not result.success and "lost where f fails" in result.message
