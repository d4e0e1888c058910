"""Which limits a model resolves: those that do not jump, for all that rows show."""

import numpy as np
import pytest

from phenes.evidence import Observations
from phenes.evidence.resolution import jumping, unresolved
from phenes.gp.limits import LimitModel


def rows(c, n=40):
    rng, seen = np.random.default_rng(1), Observations(2)
    seen.name_limits(("g",))
    x = rng.uniform(-1.5, 1.5, (n, 2))
    seen.add(x, x, x, np.sum(x**2, axis=1), c=c(x[:, 0], x[:, 1])[:, None])
    return seen


SMOOTH = {
    "plane": lambda a, b: a + 0.3 * b - 0.5,
    "disc": lambda a, b: a**2 + b**2 - 1,
    "rounded finely": lambda a, b: np.round(20 * (a + b - 0.5)) / 20,
    "clipped below": lambda a, b: np.maximum(a - 0.5, -0.3),
    "excess": lambda a, b: np.maximum(a - 0.5, 0.0),
}
JUMPS = {
    "pass or fail": lambda a, b: np.where(a > 0.4, 1.0, -1.0),
    "scrap": lambda a, b: np.where(np.abs(b) > 0.6, 5.0, a - 0.9),
    "always the same": lambda a, b: -np.ones_like(a),
}
STEP = {"step on a slope": lambda a, b: 0.3 * a - 0.6 + 0.7 * (a > 0.3)}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_margin_does_not_jump(name):
    assert not jumping(rows(SMOOTH[name])).any()


@pytest.mark.parametrize("name", JUMPS)
def test_few_values_that_are_apart_are_a_jump(name):
    assert jumping(rows(JUMPS[name])).all()


def test_repeats_of_a_place_are_no_jump():
    seen = rows(SMOOTH["plane"], 3)
    seen.add(seen.theta, seen.x, seen.point, seen.f, c=seen.c)
    assert not jumping(seen).any()


@pytest.mark.parametrize(
    ("c", "wanted"),
    [(SMOOTH["plane"], False), (SMOOTH["disc"], False), *[(STEP[k], True) for k in STEP]],
)
def test_what_jumps_between_two_rows_is_not_resolved(c, wanted):
    """All values are different; of a step on a slope none is near the limit."""
    seen = rows(c)
    model = LimitModel(seen.point, seen.c, np.zeros(2), np.full(2, 0.09))
    assert not jumping(seen).any()
    assert unresolved(seen, model).all() == wanted


def test_the_first_rows_alone():
    seen = rows(SMOOTH["plane"])
    seen.add(seen.theta, seen.x, seen.point + 1, seen.f, c=np.where(seen.c > 0, 9.0, -9.0))
    assert not jumping(seen, 32).any()
