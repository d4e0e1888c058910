"""Which kernel explains values, and from how many starts it is sought."""

import numpy as np
import pytest

from phenes.gp import fit, tuning
from phenes.gp.cloud import Cloud
from phenes.gp.likelihood import prior
from phenes.gp.posterior import Posterior

STEPS = tuning.CHOICE_STEPS


def wave(n):
    x = np.random.default_rng(0).random((n, 2))
    return Cloud(x), np.sin(6 * x[:, 0]) + np.abs(x[:, 1] - 0.4)


@pytest.fixture
def refined(monkeypatch):
    """Names of the kernels that are refined."""
    names = []
    refine = fit.refine

    def counted(shape, *rest):
        names.append(shape.name)
        return refine(shape, *rest)

    monkeypatch.setattr(fit, "refine", counted)
    return names


def test_few_values_have_several_starts_for_each_kernel(refined):
    known = fit.choose(*wave(20), None, STEPS)
    assert len(refined) == 2 * len(fit.shapes(2))
    fit.choose(*wave(30), known, STEPS)
    assert len(refined) == 4 * len(fit.shapes(2)) + 1


def test_many_values_have_one_start_for_each_kernel_and_end_as_low(refined):
    many = wave(tuning.SEVERAL_STARTS + 10)
    known = fit.choose(*wave(tuning.SEVERAL_STARTS), None, STEPS)
    refined.clear()
    found = fit.choose(*many, known, STEPS)
    assert known.shape.effects
    # main effects have several maxima: they begin anew, twice, beside what is known
    names = [each.name for each in fit.shapes(2)]
    assert sorted(refined) == sorted([known.shape.name, known.shape.name, *names])
    assert found.cost <= fit.choose(*many, None, STEPS).cost + 0.1


def test_a_sum_of_functions_of_each_coordinate_is_known_from_few_values():
    """Six coordinates, 60 values: products of so many would take thousands."""
    rng = np.random.default_rng(2)
    x, fresh = rng.random((60, 6)), rng.random((200, 6))

    def f(x):
        return np.sin(7 * x).sum(axis=1)

    found = fit.choose(Cloud(x), f(x), None, STEPS)
    assert found.shape.effects
    for shape in fit.shapes(6):
        one = (
            found if shape.effects else fit.refine(shape, prior(shape, 6).mean, Cloud(x), f(x), 40)
        )
        predicted = Posterior(one.kernel, one.eta, Cloud(x), f(x), None).at(fresh)[0]
        missed = np.std(predicted - f(fresh)) / np.std(f(fresh))
        assert missed < 0.01 if shape.effects else missed > 0.5


def test_main_effects_have_to_gain_more_than_their_odds(monkeypatch):
    """Of a function that any kernel explains the plainest is chosen."""
    x = np.random.default_rng(3).random((20, 3))
    y = (x**2).sum(axis=1)
    assert not fit.choose(Cloud(x), y, None, STEPS).shape.effects


def test_more_rows_than_a_choice_needs_choose_by_some_of_them(refined, monkeypatch):
    n = 3 * tuning.CHOICE_ROWS
    sizes = []
    refine = fit.refine
    monkeypatch.setattr(fit, "refine", lambda *a: sizes.append(a[3].size) or refine(*a))
    fit.choose(*wave(n), None, STEPS)
    assert sizes[-1] == n
    assert set(sizes[:-1]) == {tuning.CHOICE_ROWS}


def test_a_coordinate_that_is_not_measured_has_no_main_effect(refined):
    """A sum of squares of which one coordinate is known up to 0.1: scatter, not a short length."""
    rng = np.random.default_rng(4)
    x = rng.random((60, 3))
    y = np.sum((x - 0.4) ** 2, axis=1)
    cov = np.zeros((60, 3))
    cov[:, 2] = 0.01
    aimed = x + np.sqrt(cov) * rng.standard_normal((60, 3))
    found = fit.choose(Cloud(aimed, cov, each=True), y, None, STEPS)
    assert not any("main effects" in name for name in refined)
    assert found.shape.quadratic
