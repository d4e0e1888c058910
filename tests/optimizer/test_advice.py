"""What the next batch is worth."""

import numpy as np
import pytest

import phenes
from phenes.optimizer.advice import advise

pytestmark = pytest.mark.few


@pytest.mark.parametrize(
    ("gain", "cost", "n", "stop", "words"),
    [
        (0.5, 0.1, 4, False, "may gain 0.5 and cost 0.4: go on"),
        (0.4, 0.1, 4, False, "go on"),
        (0.39, 0.1, 4, True, "the next 4 evaluations may gain 0.39 and cost 0.4: stop"),
        (0.0, 0.0, 1, False, "the next 1 evaluation may gain 0 and cost 0: go on"),
        (np.inf, 1e9, 4, False, "no two values differ yet"),
        (np.nan, 1.0, 4, False, "does not say"),
    ],
)
def test_a_batch_must_gain_what_it_costs(gain, cost, n, stop, words):
    advice = advise(gain, cost, n)
    assert advice.stop is stop
    assert words in advice.text


@pytest.mark.tier("runs")
def test_of_an_optimizer():
    """Early there is much to gain, later next to nothing; asking changes nothing."""
    rng = np.random.default_rng(0)
    opt, other = (
        phenes.Optimizer(np.ones(2), 0.5, 0.1, popsize=4, budget=60, seed=0) for _ in range(2)
    )
    assert opt.suggest_stop(cost=1e9).gain == np.inf
    gains = []
    for _ in range(6):
        theta = opt.ask()
        assert np.array_equal(theta, other.ask())
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        for each in (opt, other):
            each.tell(theta, np.sum(np.cos(3 * x) + x**2, axis=1), realised=x)
        gains.append(opt.suggest_stop().gain)
    known = [gain for gain in gains if np.isfinite(gain)]
    assert known[-1] < known[0]
    assert opt.suggest_stop(cost=10 * known[-1]).stop
    assert not opt.suggest_stop(cost=0).stop


def test_the_evolution_strategy_does_not_say():
    assert np.isnan(phenes.Optimizer(np.ones(2), 0.5, budget=5000).suggest_stop(1.0).gain)


@pytest.mark.parametrize("cost", [-1.0, np.nan, np.inf, "much", True])
def test_bad_costs_are_refused(cost):
    with pytest.raises(ValueError, match="cost must be"):
        phenes.Optimizer(np.ones(2), 0.5, budget=50).suggest_stop(cost)
