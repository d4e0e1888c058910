"""What each policy gains, from settings to rows."""

import io
import json

import numpy as np
import pytest
from phenes_lab.bench import ablate
from phenes_lab.bench.ablate import CASES, COMPLETE, AblateSettings, Curve, Task
from rich.console import Console

TINY = AblateSettings(
    cases=("ellipsoid-noise", "stairs-exact"),
    policies=("early_newton", "restarts"),
    seeds=3,
    budget=60,
)


@pytest.fixture(scope="module")
def rows(inline_module):
    calls = []
    rows = ablate.run(TINY, lambda done, total: calls.append((done, total)))
    assert calls[-1] == (18, 18)
    return rows


@pytest.mark.tier("lab")
def test_every_policy_on_every_case(rows):
    assert [(row.case, row.policy) for row in rows] == [
        (case, policy) for case in TINY.cases for policy in TINY.policies
    ]
    for row in rows:
        assert row.evaluations[0] <= row.evaluations[1] <= row.evaluations[2]
        assert 0 <= row.reached <= 1


@pytest.mark.tier("lab")
def test_early_newton_steps_gain_on_an_ellipsoid(rows):
    assert rows[0].evaluations[1] > 1.2
    assert rows[0].regret[1] > 1


def test_the_target_is_what_the_complete_search_has_after_half_of_its_evaluations():
    settings = AblateSettings(
        cases=("stairs-exact",), policies=("plateau",), seeds=2, budget=25
    )  # 100 evaluations in four dimensions
    at = np.array([10, 50, 100])
    curves = {}
    for seed, last in ((0, 1.0), (1, 3.0)):
        curves[Task("stairs-exact", COMPLETE, seed)] = Curve(at, np.array([9.0, last, 0.5]))
        curves[Task("stairs-exact", "plateau", seed)] = Curve(at, np.array([9.0, 4.0, 2.0]))
    row = ablate.compared(settings, "stairs-exact", "plateau", curves)
    assert row.target == 2.0
    # 100 over 50 and, where the complete search needs all of them, 100 over 100
    assert row.evaluations == (1.0 + 0.25, 1.5, 2.0 - 0.25)
    assert row.regret == (4.0, 4.0, 4.0)
    assert row.reached == 1.0


def test_a_run_that_does_not_reach_the_target_counts_with_all_of_its_evaluations():
    curve = Curve(np.array([10, 20]), np.array([5.0, 4.0]))
    assert curve.needed(3.0, 100) == 100
    assert curve.needed(5.0, 100) == 10
    assert curve.at(9) == curve.at(15) == 5.0
    assert curve.at(99) == 4.0


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.noise])
def test_e_f_is_exact(name):
    """Beside 200,000 draws, at a place off the optimum; 4 standard errors."""
    case, rng = CASES[name], np.random.default_rng(0)
    theta = rng.uniform(-0.2, 0.5, case.dim)
    draws = case.f(theta + case.noise * rng.standard_normal((200_000, case.dim)))
    # of a quadratic, E f is f up to a constant
    middle = np.full((1, case.dim), 0.3)
    around = case.f(middle + case.noise * rng.standard_normal((200_000, case.dim)))
    difference = draws.mean() - around.mean()
    error = np.sqrt((draws.var() + around.var()) / 200_000)
    exact = case.smooth(theta[None])[0] - case.smooth(middle)[0]
    assert abs(difference - exact) < 4 * error


def test_the_floor_is_the_least_there_is():
    rng = np.random.default_rng(0)
    for case in CASES.values():
        tried = case.smooth(rng.uniform(-0.2, 1.2, (2000, case.dim)))
        assert case.floor() <= tried.min()


@pytest.mark.tier("lab")
def test_json_and_table(rows):
    data = ablate.as_json(rows)
    assert data["benchmark"] == "ablate"
    assert set(data["gain"]) == {"early_newton", "restarts"}
    assert json.loads(json.dumps(data)) == data
    text = io.StringIO()
    Console(file=text, width=160).print(ablate.table(rows))
    assert "early_newton" in text.getvalue()


@pytest.mark.parametrize(
    ("change", "words"),
    [({"cases": ("x",)}, "cases"), ({"policies": ("x",)}, "policies"), ({"seeds": 0}, "seeds")],
)
def test_misuse_is_one_clear_sentence(change, words):
    with pytest.raises(ValueError, match=words):
        AblateSettings(**change)
