"""Which search a run has, and answers with few evaluations as users get them."""

import numpy as np
import pytest

import phenes
from phenes.optimizer import engines

pytestmark = pytest.mark.few


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


@pytest.mark.parametrize(
    ("dim", "budget", "engine"),
    [
        (1, 20, "gp"),
        (10, 500, "gp"),
        (10, 501, "relay"),
        (2, 2000, "relay"),
        (2, 2001, "adaptive"),
        (15, 500, "gp"),
        (15, 501, "relay"),
        (16, 100, "adaptive"),
    ],
)
def test_chosen_by_dimension_and_budget(dim, budget, engine):
    opt = phenes.Optimizer(np.zeros(dim), 0.5, 0.1, budget=budget)
    assert opt.engine == engine
    for word in ("gp", "relay", "adaptive"):
        asked = phenes.Optimizer(np.zeros(dim), 0.5, 0.1, budget=budget, engine=word)
        assert asked.engine == word


def test_the_default_budget_has_the_evolution_strategy():
    assert phenes.Optimizer(np.zeros(2), 0.5).engine == "adaptive"


@pytest.mark.parametrize("word", ["cma", "", None, 3, "GP"])
def test_other_words_are_refused(word):
    with pytest.raises(
        ValueError, match="engine must be one of 'auto', 'gp', 'relay', 'adaptive', got"
    ):
        phenes.Optimizer(np.zeros(2), 0.5, engine=word)


def test_the_budget_may_change_before_the_first_row():
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1, budget=1000)
    opt.budget = 40
    assert opt.engine == "gp"
    opt.ask()
    opt.budget = 5000
    assert opt.engine == "gp"


@pytest.mark.parametrize(
    "noise",
    [0.1, *(pytest.param(n, marks=pytest.mark.tier("runs")) for n in (None, [0.1, 0.2, 0.05]))],
)
def test_thirty_evaluations_solve_a_quadratic(noise):
    result = phenes.minimize(bowl, np.ones(3), 0.5, noise, budget=30, seed=0)
    cost = 0.0 if noise is None else float(np.sum(np.broadcast_to(noise, 3) ** 2))
    assert result.success, result.message
    assert result.nfev == 30
    assert bowl(result.x) < 1e-3
    assert abs(result.fun - (bowl(result.x) + cost)) <= 2 * result.fun_se + 1e-9
    assert set(result.history["phase"]) <= {"design", "model"}


@pytest.mark.tier("runs")
def test_beside_the_evolution_strategy_with_as_many_evaluations():
    """Sines with noise, 40 evaluations, five seeds: E f by the grid, medians."""
    z = np.random.default_rng(9).standard_normal((2000, 2))

    def f(x):
        return float(np.sum(np.sin(3 * x) + 0.3 * (x - 0.5) ** 2))

    def expected(theta):
        x = theta + 0.1 * z
        return float(np.mean(np.sum(np.sin(3 * x) + 0.3 * (x - 0.5) ** 2, axis=1)))

    def median(engine):
        runs = [
            phenes.minimize(
                f, np.ones(2), 1.0, 0.1, bounds=(-3, 3), budget=40, engine=engine, seed=seed
            )
            for seed in range(5)
        ]
        return float(np.median([expected(run.x) for run in runs]))

    assert median("gp") < median("adaptive")


@pytest.mark.tier("runs")
def test_a_killed_run_goes_on_and_ends_as_it_would_have(tmp_path):
    """Also with another budget, which would have had another engine."""
    path = tmp_path / "run.phenes"
    settings = {"x0": np.ones(2), "sigma0": 0.5, "noise": 0.1, "seed": 0}
    phenes.minimize(bowl, **settings, budget=30, checkpoint=path, callback=lambda r: r.nfev >= 12)
    resumed = phenes.minimize(bowl, **settings, budget=30, checkpoint=path)
    whole = phenes.minimize(bowl, **settings, budget=30)
    assert np.array_equal(resumed.x, whole.x)
    assert resumed.nfev == 30


@pytest.mark.tier("runs")
def test_asynchronous_workers():
    result = phenes.minimize(
        bowl, np.ones(2), 0.5, 0.1, budget=24, workers=2, asynchronous=True, seed=0
    )
    assert result.nfev == 24
    assert bowl(result.x) < 0.01


@pytest.mark.tier("runs")
def test_a_lab_with_batches_that_learns_its_noise():
    world = np.random.default_rng(3)
    opt = phenes.Optimizer(np.ones(2), 0.5, "learn", popsize=8, budget=48, seed=0)
    while not opt.stop():
        theta = opt.ask()
        x = theta + 0.1 * world.standard_normal(theta.shape)
        x[world.random(x.shape) < 0.1] = np.nan
        seen = np.where(np.isnan(x), theta, x)
        opt.tell(theta, [bowl(row) for row in seen], realised=x)
    assert opt.result.nfev == 48
    assert bowl(opt.result.x) < 0.02
    assert opt.noise_std == pytest.approx([0.1, 0.1], rel=0.5)


@pytest.mark.tier("runs")
def test_a_law_that_is_not_gaussian():
    law = phenes.inputs.StudentTNoise(0.1, df=4.0)
    result = phenes.minimize(bowl, np.ones(2), 0.5, law, budget=30, seed=0)
    assert bowl(result.x) < 0.01


def test_constants_are_those_of_the_documentation():
    assert (engines.FEW_EVALUATIONS, engines.FEW_COORDINATES) == (500, 15)
    assert engines.OPINION_COORDINATES == 10
    assert engines.SOME_EVALUATIONS == 2000
