"""Risks from end to end: |x|^2 under Gaussian noise is a chi-square, with all risks least at 0."""

import numpy as np
import pytest
from scipy import stats

import phenes
from phenes import risk

NOISE = 0.3
LAW = stats.chi2(2, scale=NOISE**2)  # of |x|^2 at theta = 0
TRUTH = {
    risk.cvar(0.8): LAW.expect(lambda f: f, lb=LAW.ppf(0.8), ub=np.inf) / 0.2,
    risk.quantile(0.8): LAW.ppf(0.8),
    risk.mean_plus_std(2.0): LAW.mean() + 2 * LAW.std(),
    risk.std(): LAW.std(),
    risk.probability_below(0.2): LAW.cdf(0.2),
}


def square(x):
    return float(np.sum(x**2))


def solve(each, **options):
    start, width = np.array([0.6, -0.5]), 0.4
    return phenes.minimize(
        square, start, width, NOISE, objective=each, **{"budget": 50, "seed": 1, **options}
    )


@pytest.fixture(scope="module")
def few():
    """One run of each risk with a Gaussian process."""
    return {each: solve(each) for each in TRUTH}


@pytest.mark.tier("runs")
@pytest.mark.parametrize("each", TRUTH, ids=str)
def test_the_optimum_is_found_and_the_claim_covers(each, few):
    result = few[each]
    assert np.abs(result.x).max() < 0.1
    low, high = result.interval
    assert low <= TRUTH[each] * 1.05  # the risk at x is above that at 0, if anything
    assert high >= TRUTH[each]
    assert result.objective == each
    assert each.label() in str(result)
    assert each.label() in result._repr_html_() or "&lt;" in result._repr_html_()


@pytest.mark.parametrize("each", [risk.cvar(0.8), risk.quantile(0.8)], ids=str)
def test_the_evolution_strategy_finds_it_too(each):
    result = solve(each, engine="adaptive", budget=1200)
    assert np.abs(result.x).max() < 0.15
    assert result.interval[0] < TRUTH[each] * 1.1
    assert TRUTH[each] < result.interval[1]


@pytest.mark.tier("runs")
def test_to_maximise_is_to_minimise_the_contrary_of_the_other_tail(few):
    for each in (risk.cvar(0.8), risk.std(), risk.probability_below(0.2)):
        mirrored = risk.probability_below(-0.2) if "below" in str(each) else each
        found = phenes.maximize(
            lambda x: -square(x), [0.6, -0.5], 0.4, NOISE, objective=mirrored, budget=50, seed=1
        )
        assert np.array_equal(found.x, few[each].x)
        sign = -1.0 if each == risk.cvar(0.8) else 1.0
        assert found.fun == sign * few[each].fun
        assert np.array_equal(found.history["fun"], sign * few[each].history["fun"])


def test_the_mean_is_what_is_minimised_otherwise():
    plain, named = solve(None, budget=30), solve(risk.mean, budget=30)
    assert np.array_equal(plain.evaluations.theta, named.evaluations.theta)
    assert str(plain) == str(named)
    assert "E f(x)" in str(plain)


def test_a_tail_gets_the_draws_that_it_needs():
    """3 / 0.2 = 15 draws show the tail but in 4 % of cases, and three evaluations are aimed at what
    none has met; the mean gets a tenth, at least 8.
    """
    opt = phenes.Optimizer(np.zeros(2), 1.0, NOISE, budget=50, objective=risk.cvar(0.8))
    assert opt._state.ending.reserve == 18
    opt = phenes.Optimizer(np.zeros(2), 1.0, NOISE, budget=50)
    assert opt._state.ending.reserve == 8


def test_a_quantile_without_enough_draws_is_no_success():
    rng = np.random.default_rng(0)
    opt = phenes.Optimizer(
        np.zeros(12), 0.5, NOISE, budget=150, verify=20, objective=risk.quantile(0.95)
    )
    while not opt.stop():
        theta = opt.ask()
        x = theta + NOISE * rng.standard_normal(theta.shape)
        opt.tell(theta, np.sum((x - 2) ** 2, axis=1), realised=x)
    assert not opt.result.success
    assert "needs 72 or more" in opt.result.message


def test_a_target_is_in_the_units_of_the_objective():
    result = solve(risk.probability_below(1.0), target=0.5, budget=60)
    assert result.nfev < 60
    assert result.fun > 0.5


def test_saved_runs_and_checkpoints_know_their_objective(tmp_path):
    opt = phenes.Optimizer(np.ones(2), 0.5, NOISE, budget=20, objective=risk.cvar(0.8), seed=0)
    theta = opt.ask()
    opt.tell(theta, np.sum(theta**2, axis=1), realised=theta)
    opt.save(tmp_path / "run.phenes")
    again = phenes.Optimizer.load(tmp_path / "run.phenes")
    assert again.objective == risk.cvar(0.8)
    assert np.array_equal(again.ask(), opt.ask())
    options = {"budget": 12, "checkpoint": tmp_path / "run.db"}
    first = solve(risk.cvar(0.8), **options)
    assert solve(risk.cvar(0.8), **options).fun == first.fun
    with pytest.raises(ValueError, match="objective"):
        solve(risk.std(), **options)


def ledge(x):
    """Falls towards an edge at 0.5, behind which it rises steeply."""
    over = max(x[0] - 0.5, 0.0)
    return np.sum((x - 0.5) ** 2) + 20 * over**2 + 4 * over


def claimed_at_the_edge(each, seed):
    """A run with few evaluations, and the risk at its answer by 40,000 draws."""
    x0 = np.random.default_rng([seed, 7]).uniform(-2, 2, 2)
    options = {"bounds": (-2, 2), "budget": 35, "objective": each, "seed": seed}
    found = phenes.minimize(ledge, x0, 1.0, NOISE, **options)
    x = found.x + NOISE * np.random.default_rng(0).standard_normal((40_000, 2))
    over = np.maximum(x[:, 0] - 0.5, 0.0)
    return found, each.value(np.sum((x - 0.5) ** 2, axis=1) + 20 * over**2 + 4 * over)


def test_a_side_that_no_evaluation_has_met_is_visited_before_a_claim():
    """Without, the 90 % quantile was claimed to be 0.64 ± 0.03 where it is 1.41."""
    found, truth = claimed_at_the_edge(risk.quantile(0.9), 2)
    assert found.success
    assert found.interval[0] <= truth <= found.interval[1]
    assert truth < 1.0  # the edge was found, and the answer kept away from it
    aimed = found.evaluations.theta[found.evaluations.phase == "verify"]
    assert len(np.unique(aimed, axis=0)) >= 2


@pytest.mark.tier("runs")
@pytest.mark.parametrize("each", [risk.quantile(0.9), risk.cvar(0.9)], ids=str)
def test_claims_at_an_edge_hold_or_are_no_success(each):
    """Of 8 seeds none is off by three standard errors; before, 1 and 2."""
    found = [claimed_at_the_edge(each, seed) for seed in range(8)]
    assert sum(result.success for result, _ in found) >= 4
    off = [abs(each.fun - truth) / each.fun_se for each, truth in found if each.success]
    assert max(off) < 3


def test_a_quantile_of_steps_is_a_step():
    """Between the values that f takes a model has others, such as 0.2 ± 0.07 for 1."""
    options = {"bounds": (-2, 2), "budget": 35, "objective": risk.quantile(0.9), "seed": 1}
    found = phenes.minimize(
        lambda x: float(np.floor(2 * np.abs(x[0]))), [0.5, 0.5], 0.5, NOISE, **options
    )
    assert not found.success
    assert found.fun == round(found.fun)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_limit_that_nothing_met_is_no_success(maximize):
    """P is 0 at x as it is at the start: that it was verified says nothing for x."""
    solve = phenes.maximize if maximize else phenes.minimize
    sign = -1.0 if maximize else 1.0
    far = risk.probability_below(sign * 0.5)
    result = solve(
        lambda x: sign * (1 + np.sum(x**2)), np.full(3, 2.0), 0.3, 0.1, objective=far, budget=20
    )
    assert result.fun == 0
    assert not result.success
    assert "is 0 by all that is seen at x" in result.message
