"""Whole numbers and choices, from the space to the answer."""

import numpy as np
import pytest

import phenes
from phenes import Choice, Integer, Real, Space
from phenes.optimizer import engines, relay
from phenes.optimizer.noise.state import NoiseState
from phenes.optimizer.setup import make_setup

SPACE = Space(a=Real(-5, 5), n=Integer(0, 20), kind=Choice("A", "B"))


def cost(a, n, kind):
    """Every kind has its best place; that of B is better."""
    return (
        (a - 2) ** 2 + 0.1 * (n - 5) ** 2 + 1 if kind == "A" else (a + 3) ** 2 + 0.1 * (n - 15) ** 2
    )


@pytest.mark.few
def test_the_engine_depends_on_the_space_and_the_budget():
    assert phenes.Optimizer(SPACE, budget=200).engine == "gp"
    assert phenes.Optimizer(SPACE, budget=2000).engine == "relay"
    assert phenes.Optimizer(SPACE, budget=2000, engine="adaptive").engine == "adaptive"
    assert phenes.Optimizer(SPACE, budget=20_000).engine == "relay"
    assert phenes.Optimizer(Space(a=Real(0, 1)), budget=20_000).engine == "adaptive"
    many = Space({f"n{k}": Integer(0, 3) for k in range(11)})
    assert phenes.Optimizer(many, budget=200).engine == "adaptive"
    # a choice is one parameter, however many options it has
    options = Space(a=Real(0, 1), kind=Choice(*range(30)))
    assert phenes.Optimizer(options, budget=200).engine == "gp"


def test_the_second_goes_on_where_the_first_was(monkeypatch):
    monkeypatch.setattr(relay, "HAND_OVER", 30)
    monkeypatch.setattr(relay, "MOST_TIMES", 1.0)  # as many in four coordinates
    setup = make_setup(SPACE, None, None, None, None)
    noise = NoiseState(setup.noise, setup.x0)
    both = engines.make_search("relay", setup, noise, None, 0, 600)
    first = both._leg
    while both._leg is first:
        theta = both.ask(3)
        f = np.array([cost(**SPACE.decode(row)) for row in theta])
        both.tell(theta, theta, f)
        assert first.evaluations <= 30
    assert np.allclose(both.mean, first.mean)
    assert SPACE.decode(both.mean)["kind"] == "B"
    assert relay.HANDED_OVER in both.take_events()
    assert both.phase == "search"
    asked = [SPACE.decode(row) for row in both.ask(40)]
    assert np.mean([point["kind"] == "B" for point in asked]) > 0.5
    assert abs(np.mean([point["a"] for point in asked]) + 3) < 1


@pytest.mark.tier("runs")
def test_spaces_with_noise_are_verified(monkeypatch):
    space = Space(a=Real(-5, 5, noise=0.1), n=Integer(0, 20), kind=Choice("A", "B"))
    for engine, budget in (("gp", 40), ("adaptive", 800)):
        result = phenes.minimize(cost, space, budget=budget, engine=engine, seed=1)
        assert result.x["kind"] == "B"
        assert result.x["n"] == 15
        assert result.success, result.message
        # E f = 0.01 at the optimum
        assert result.interval[0] < 0.01 + (result.x["a"] + 3) ** 2 < result.interval[1]
        assert result.fun < 0.05


def test_the_same_seed_is_the_same_run():
    runs = [phenes.minimize(cost, SPACE, budget=300, engine="adaptive", seed=2) for _ in range(2)]
    assert np.array_equal(*(np.asarray(run.evaluations.theta) for run in runs))


def test_the_model_asks_for_points_of_the_lattice():
    result = phenes.minimize(cost, SPACE, budget=30, engine="gp")
    rows = np.asarray(result.evaluations.theta)
    assert np.array_equal(SPACE.lattice.snap(rows), rows)
    assert (result.x["kind"], result.x["n"]) == ("B", 15)
    assert result.fun < 1e-3


def test_what_is_exact_is_not_asked_for_ever():
    """A rugged function of whole numbers, which a model takes for noise."""
    seen = []

    def teeth(first, second, third, fourth):
        seen.append((first, second, third, fourth))
        return float(np.log10(1e-9 + (1 / 6.931 - first * second / (third * fourth)) ** 2))

    names = ("first", "second", "third", "fourth")
    gears = phenes.Space({name: phenes.Integer(12, 60) for name in names})
    phenes.minimize(teeth, gears, budget=140, seed=1, engine="gp")
    searched = seen[100:126]  # 14 of the others verify the answer
    assert len(set(searched)) > 10  # 3, if nothing was ever told enough
