"""A Gaussian process begins, an evolution strategy goes on."""

import numpy as np
import pytest

import phenes
from phenes.optimizer import relay

pytestmark = pytest.mark.few
STD = 0.3


def wells(x):
    """A wide shallow well at -2, where x0 is, and a deeper one at 2 that a descent does not see."""
    return float(-np.exp(-np.sum((x + 2) ** 2) / 2) - 2 * np.exp(-np.sum((x - 2) ** 2)))


SETTINGS = {"sigma0": 1.5, "noise": STD, "bounds": (-4, 4), "budget": 300, "seed": 0}


@pytest.fixture(scope="module", autouse=True)
def early():
    """The change comes after 60 evaluations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relay, "HAND_OVER", 60)
        yield


def run(engine):
    return phenes.minimize(wells, np.full(2, -2.0), **SETTINGS, engine=engine)


@pytest.fixture(scope="module")
def result(early):
    return run("relay")


@pytest.mark.tier("runs")
def test_the_first_leg_sees_what_a_descent_does_not(result):
    assert result.success, result.message
    assert np.abs(result.x - 2).max() < 0.02
    assert run("adaptive").fun > result.fun + 0.2


@pytest.mark.tier("runs")
def test_both_legs_are_in_the_history(result):
    phase, nfev = result.history["phase"], result.history["nfev"]
    first = np.isin(phase, ["design", "model"])
    assert nfev[first].max() < relay.HAND_OVER + 10
    assert nfev[~first].min() >= relay.HAND_OVER
    assert result.nfev == 300


@pytest.mark.tier("runs")
def test_the_same_seed_gives_the_same_run(result):
    again = run("relay")
    assert np.array_equal(again.x, result.x)
    assert again.fun == result.fun


def test_as_long_as_all_values_are_equal_the_first_leg_fills_the_space():
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1, budget=600, seed=0)
    rng = np.random.default_rng(0)
    asked = opt.ask(relay.HAND_OVER + 40)
    opt.tell(asked, np.zeros(len(asked)), realised=asked + 0.1 * rng.standard_normal(asked.shape))
    assert opt.phase == "design"
    more = opt.ask(relay.HAND_OVER)
    opt.tell(
        more, np.arange(float(len(more))), realised=more + 0.1 * rng.standard_normal(more.shape)
    )
    assert opt.phase not in {"design", "model"}


def test_nothing_told_is_lost_at_the_change():
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1, budget=600, seed=0)
    assert opt.engine == "relay"
    rng = np.random.default_rng(0)
    theta = rng.uniform(-1, 1, (relay.HAND_OVER + 7, 2))
    x = theta + 0.1 * rng.standard_normal(theta.shape)
    opt.tell(theta, np.sum(x**2, axis=1), realised=x)
    assert opt.phase not in {"design", "model"}
    assert opt._state.search._second.evaluations == len(theta)
    assert np.abs(opt.mean).max() < 0.05
