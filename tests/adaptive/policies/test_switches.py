"""Every policy can be switched off by its name, and only those there are."""

import numpy as np
import pytest

from phenes.adaptive import Adaptive
from phenes.adaptive.policies import SWITCHES, make_policies
from tests.adaptive.problems import run, sphere


def test_an_unknown_policy_is_an_error():
    with pytest.raises(ValueError, match=r"without must be of mirroring, .* got moonlight"):
        make_policies(frozenset({"moonlight"}))


def test_nothing_is_off_unless_it_is_named():
    policies = make_policies(frozenset())
    named = (policies.screening, policies.screening.mirroring, policies.failures, policies.plateau)
    others = (policies.reversal, policies.value_noise, policies.early_newton, policies.floor)
    assert all(policy.on for policy in (*named, *others, policies.stagnation))


@pytest.mark.parametrize("name", SWITCHES)
def test_the_search_arrives_without_any_one_policy(name):
    """On a bowl in nine dimensions under noise; nothing depends on one policy to be safe."""
    start, cov = np.full(9, 2.0), np.full(9, 0.01)
    search = run(sphere, start, 0.5, cov, 1500, without=frozenset({name}))
    assert sphere(search.mean[None])[0] < 0.1


def test_without_refinement_it_stays_a_search():
    without = frozenset({"refinement"})
    search = run(sphere, np.ones(2), 0.5, np.full(2, 0.01), 1000, without=without)
    assert "newton" not in search.phase
    search = run(sphere, np.ones(2), 0.5, np.zeros(2), 3000, value_noise=1.0, without=without)
    assert "newton" not in search.phase


def test_without_restarts_there_is_one_descent():
    both = [
        run(sphere, np.ones(2), 0.5, np.full(2, 0.01), 3000, without=frozenset(off))
        for off in ([], ["restarts"])
    ]
    assert both[0].restarts > 0
    assert both[1].restarts == 0
    assert isinstance(both[1], Adaptive)
