"""Which kernel explains values, and from how many starts it is sought."""

import numpy as np
import pytest

from phenes.gp import fit, tuning
from phenes.gp.cloud import Cloud

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
    several = [shape.name for shape in fit.shapes(2) if shape.effects]
    one = {shape.name for shape in fit.shapes(2)} - {known.shape.name} - set(several)
    assert sorted(refined) == sorted([known.shape.name, *one, *several, *several])
    assert found.cost <= fit.choose(*many, None, STEPS).cost + 0.1
