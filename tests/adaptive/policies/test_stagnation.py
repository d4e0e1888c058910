"""A search that does not improve ends, but not too early."""

import numpy as np
import pytest

from phenes.adaptive.marginal import marginal_of
from phenes.adaptive.phases import End, Enter
from phenes.adaptive.policies.stagnation import (
    EQUAL,
    NARROW,
    RESTING,
    STAGNATES,
    Stagnation,
    patience,
)
from phenes.adaptive.policies.value_noise import SEEN, ValueNoise
from tests.adaptive.problems import descent, fed, sphere, whys


@pytest.mark.parametrize(
    ("dim", "popsize", "evaluations"), [(1, 4, 180), (10, 10, 3960), (10, 60, 7920), (3, 30, 600)]
)
def test_patience_is_sixty_evaluations_for_each_feature(dim, popsize, evaluations):
    """More for large populations: 60 p max(1, n / 30)."""
    assert patience(descent(np.ones(dim), popsize=popsize).state) == evaluations


def resting(cov, f=sphere, n=100):
    """A state whose best median was seen just as long ago as patience allows."""
    one = fed(descent(cov, popsize=8), n, f, np.random.default_rng(0))
    policy = Stagnation(best_median=-1.0)
    one.state.evaluations = int(patience(one.state))
    return policy, one.state


def test_a_search_ends_only_after_its_patience():
    policy, state = resting(np.zeros(2))
    assert policy.decide(state, ValueNoise()) == ()
    state.evaluations += 1
    assert policy.decide(state, ValueNoise()) == (End(STAGNATES),)


def test_a_better_median_counts_anew():
    policy, state = resting(np.zeros(2))
    policy.best_median = 1e9
    state.evaluations += 1
    assert policy.decide(state, ValueNoise()) == ()
    assert policy.best_at == state.evaluations


def test_with_noise_values_may_tell_more():
    policy, state = resting(np.ones(2))
    state.evaluations += 1
    assert policy.decide(state, ValueNoise()) == (Enter(RESTING),)
    policy.refines = False
    assert policy.decide(state, ValueNoise()) == (End(STAGNATES),)


def test_a_search_that_sees_only_noise_looks_through_it():
    rng = np.random.default_rng(0)
    policy, state = resting(np.zeros(2), lambda x: rng.standard_normal(len(x)))
    policy.best_median = -9.0
    state.evaluations += 1
    assert whys(policy.decide(state, ValueNoise())) == [SEEN, SEEN]
    assert policy.decide(state, ValueNoise(on=False)) == (End(STAGNATES),)


def equal(values):
    state = descent(np.zeros(2), popsize=8).state
    state.archive.add(np.arange(2.0 * len(values)).reshape(-1, 2), np.array(values))
    state.evaluations = len(values)
    return state


def test_values_that_no_longer_differ_at_the_best_there_is():
    state = equal([5.0] * 10 + [1.0] * 25)
    assert Stagnation().decide(state, ValueNoise()) == (End(EQUAL),)


@pytest.mark.parametrize(
    "values",
    [
        [5.0] * 10 + [1.0] * 19,  # too few of them
        [0.5] + [1.0] * 30,  # there was something better
        [1.0] * 40,  # they never differed: a plateau, not convergence
        [5.0] * 10 + [1.0] * 24 + [1.0 + 1e-12],
    ],
)
def test_other_equal_values_are_no_end(values):
    assert Stagnation().decide(equal(values), ValueNoise()) == ()


def test_a_search_as_narrow_as_double_precision_ends():
    policy, state = resting(np.zeros(2))
    state.marginal = marginal_of(np.full(2, 10.0), 1e-30 * np.eye(2), state.coords.c)
    assert policy.decide(state, ValueNoise()) == (End(NARROW),)


def test_of_several_reasons_the_last_counts():
    policy, state = Stagnation(best_median=-1.0), equal([5.0] * 10 + [1.0] * 25)
    state.evaluations = 10**6
    state.marginal = marginal_of(np.zeros(2), 1e-40 * np.eye(2), state.coords.c)
    decided = policy.decide(state, ValueNoise(on=False))
    assert whys(decided) == [EQUAL, STAGNATES, NARROW]


def test_switched_off_it_says_nothing():
    _, state = resting(np.zeros(2))
    state.evaluations = 10**9
    assert Stagnation(on=False).decide(state, ValueNoise()) == ()
