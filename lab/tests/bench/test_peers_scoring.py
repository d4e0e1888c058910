"""F with common random numbers, evaluations to targets, and verdicts on made-up results."""

import math

import jax
import numpy as np
import pytest
from phenes_lab.bench.peers import objective, results, scoring
from phenes_lab.bench.peers.settings import PeersSettings, Problem
from phenes_lab.contenders import OURS

from phenes import problems


def sphere(x):
    return np.sum(x**2, axis=1)


class TestObjective:
    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.tier("lab")), 33])
    def test_populations_of_any_size(self, n):
        f = objective.Objective(Problem(4, 0.1, 15, 3), PeersSettings())
        bbob = problems.bbob(15, 4, 3)
        x = np.random.default_rng(0).uniform(-4, 4, (n, 4))
        np.testing.assert_allclose(f(x), np.asarray(jax.vmap(bbob)(x)) - bbob.f_opt, rtol=1e-12)

    def test_one_program_serves_all_instances(self):
        objective._population.cache_clear()
        for instance in (1, 2, 5):
            objective.Objective(Problem(3, 0.1, 21, instance), PeersSettings())(np.zeros((5, 3)))
        assert objective._population(21, 3)._cache_size() == 1

    def test_smoothed_sphere_is_known(self):
        """E |x - o|^2 = |theta - o|^2 + d sigma^2; in antithetic pairs only the mean of |z|^2 errs,
        and not in differences.
        """
        f = objective.Objective(Problem(5, 0.3, 1, 4), PeersSettings(draws=4000))
        points = np.random.default_rng(1).uniform(-4, 4, (21, 5))
        exact = sphere(points - f.optimum) + 5 * 0.09
        se = 0.09 * math.sqrt(2 * 5 / 2000)
        error = f.smoothed(points) - exact
        assert abs(error[0]) < 4 * se
        np.testing.assert_allclose(error, error[0], atol=1e-10)
        difference, spread = f.compared(points, points[0])
        np.testing.assert_allclose(difference, exact - exact[0], atol=1e-10)
        assert np.all(spread < 1e-10)

    def test_the_standard_error_of_a_difference(self):
        """Over draws by 40 other seeds, the spread of the difference is the standard error that one
        of them states, within 30 %.
        """
        problem, points = Problem(3, 0.5, 15, 4), np.array([[0.5, 0.5, 0.5]])
        each = [
            objective.Objective(problem, PeersSettings(draws=512, seed=s)).compared(
                points, np.zeros(3)
            )
            for s in range(40)
        ]
        differences, se = np.array(each)[:, :, 0].T
        assert np.std(differences) == pytest.approx(np.mean(se), rel=0.3)

    def test_without_noise_it_is_f(self):
        f = objective.Objective(Problem(3, 0.0, 2, 1), PeersSettings())
        x = np.random.default_rng(0).uniform(-4, 4, (3, 3))
        np.testing.assert_allclose(f.smoothed(x), f(x), rtol=1e-12)
        assert np.all(f.compared(x, x[0])[1] == 0)


class TestCrossing:
    def test_straight_lines_in_logarithms(self):
        evaluations, gap = np.array([10, 100, 1000]), np.array([1.0, 1e-2, 1e-4])
        assert results.crossing(evaluations, gap, 1e-1) == pytest.approx(10**1.5)
        assert results.crossing(evaluations, gap, 1e-3) == pytest.approx(10**2.5)
        assert results.crossing(evaluations, gap, 1e-5) == math.inf
        assert results.crossing(evaluations, gap, 2.0) == 10

    def test_the_first_time_counts(self):
        assert results.crossing(
            np.array([10, 20, 40]), np.array([1.0, 1e-3, 1.0]), 1e-3
        ) == pytest.approx(20)

    def test_checkpoints_that_one_generation_passed(self):
        assert results.crossing(np.array([100, 100, 100]), np.array([0.01, 0.01, 0.01]), 0.1) == 100
        assert results.crossing(
            np.array([50, 100, 100]), np.array([1.0, 0.01, 0.01]), 0.1
        ) == pytest.approx(100 / math.sqrt(2))

    def test_the_reference_itself_and_what_diverged(self):
        assert 10 < results.crossing(np.array([10, 20]), np.array([1.0, 0.0]), 1e-2) < 20
        assert results.crossing(np.array([10, 20]), np.array([np.inf, 1e-3]), 1e-2) == 20


P = Problem(10, 0.1, 1, 4)


def made_up(curves, problem=P, **more):
    """Results in which F falls along given curves [checkpoints] at 10, 100, 1000, ... evaluations,
    from a start at 1 to a reference 0.
    """
    parts = {}
    for name, curve in curves.items():
        curve = np.atleast_2d(np.asarray(curve, float))
        evaluations = np.tile(10 ** np.arange(1, curve.shape[1] + 1), (len(curve), 1))
        each = {
            "F": curve,
            "evaluations": evaluations,
            "F_start": np.ones(len(curve)),
            "F_nominal": np.array(0.0),
        }
        parts[name] = {
            **each,
            "points": np.repeat(curve[..., None], problem.dim, axis=2),
            "overhead": np.ones(len(curve)),
        }
    return results.PeersResults(
        {"budget": 1000}, "0", {problem: parts}, {problem: dict.fromkeys(curves, 1)}, **more
    )


def duels(result):
    (verdict,) = scoring.table(result, scoring.groups(result)[0]).verdicts
    return {duel.target: duel for duel in verdict.duels}, verdict


class TestVerdicts:
    def test_a_mean_with_and_without_a_function(self):
        each = [
            scoring.Verdict(f, (scoring.Duel(Problem(3, 0.1, f, 4), 0, 1.0, r, "cmaes", r),), 0)
            for f, r in ((1, 100.0), (2, 1.0), (3, 4.0))
        ]
        table = scoring.Table(scoring.Group(3, 0.1, True), ("cmaes",), tuple(each))
        assert table.speedup == pytest.approx(400 ** (1 / 3))
        assert table.speedup_without(1) == pytest.approx(2.0)
        assert math.isnan(table.speedup_without(1, 2, 3))

    def test_the_best_rival_at_each_target(self):
        each, verdict = duels(
            made_up(
                {
                    OURS: [1, 1e-1, 1e-2, 1e-3],
                    "cmaes": [1, 1e-2, 1e-2, 1e-2],
                    "pycma": [1, 1, 1, 1e-3],
                }
            )
        )
        assert [each[k].who for k in range(3)] == ["cmaes", "cmaes", "pycma"]
        assert each[0].ratio == pytest.approx(10**-0.5)
        assert each[1].ratio == pytest.approx(0.1)
        assert each[2].ratio == pytest.approx(1.0)
        assert verdict.speedup == pytest.approx(10**-0.5)
        assert verdict.verdict == scoring.LOSS

    def test_what_only_one_reached_counts_with_twice_the_budget(self):
        each, _ = duels(made_up({OURS: [1, 1e-1, 1e-2], "cmaes": [1, 1e-1, 1e-1]}))
        assert (each[1].best, each[1].who) == (math.inf, "")
        assert each[1].ratio == pytest.approx(20_000 / 1000)
        each, _ = duels(made_up({OURS: [1, 1e-1, 1e-1], "cmaes": [1, 1e-1, 1e-2]}))
        assert each[1].ratio == pytest.approx(1000 / 20_000)
        assert 2 not in each

    def test_nothing_reached_is_no_verdict(self):
        _, verdict = duels(made_up({OURS: [1, 0.9], "cmaes": [1, 0.9]}))
        assert (verdict.duels, verdict.verdict) == ((), scoring.NONE)

    def test_the_median_over_seeds(self):
        ours = [[1, 1e-1, 1e-1], [1, 1e-1, 1e-1], [1e-1, 1e-1, 1e-1]]
        each, _ = duels(made_up({OURS: ours, "cmaes": [[1, 1e-1, 1e-1]] * 3}))
        assert each[0].ours == each[0].best == pytest.approx(100)

    def test_expected_running_time(self):
        """Two of three seeds reach 1e-1 with 100 and 1000 of 10 000 evaluations: 11 100 / 2; none
        reaches 1e-2, which costs all 30 000.
        """
        ours = [[1, 0.1, 0.1, 0.1], [1, 1, 0.1, 0.1], [1, 1, 1, 1]]
        result = made_up({OURS: ours, "cmaes": [[1, 1e-1, 1e-2, 1e-2]] * 3})
        (verdict,) = scoring.table(
            result, scoring.groups(result)[0], measure=scoring.EXPECTED
        ).verdicts
        each = {duel.target: duel for duel in verdict.duels}
        assert each[0].ours == pytest.approx(11_100 / 2)
        assert each[0].best == pytest.approx(100)
        assert each[1].ratio == pytest.approx(1000 / 30_000)

    @pytest.mark.parametrize(
        ("ratio", "said"),
        [(1.11, "win"), (1.09, "tie"), (1 / 1.09, "tie"), (0.9, "loss"), (math.nan, "none")],
    )
    def test_margins(self, ratio, said):
        assert scoring.outcome(ratio) == said

    def test_those_that_are_not_rivals_do_not_count(self):
        each, _ = duels(
            made_up(
                {
                    OURS: [1, 1e-1, 1e-2],
                    "phenes-theta": [1e-3, 1e-3, 1e-3],
                    "cmaes": [1, 1e-1, 1e-2],
                }
            )
        )
        assert each[0].ratio == pytest.approx(1.0)

    def test_targets_below_the_floor_are_dropped(self):
        curves = {OURS: [1, 1e-1, 1e-2, 1e-3], "cmaes": [1, 1e-1, 1e-2, 1e-3]}
        floors = {
            P: {
                "target": np.array([0, 1, 2, 2, 2]),
                "se": np.array([0.01, 0.0024, 0.001, 0.00026, 0.0]),
            }
        }
        result = made_up(curves, floors=floors)
        assert result.resolved(P).tolist() == [True, True, False, True, True, True]
        each, verdict = duels(result)
        assert sorted(each) == [0, 1]
        assert verdict.unresolved == 1

    def test_points_that_decide(self):
        result = made_up({OURS: [[1, 1e-1, 1e-2, 0.0]] * 2, "cmaes": [1, 1, 1, 1e-4]})
        reference, points, which = results.deciding(result, P)
        assert np.all(reference == 0)
        assert list(zip(points[:, 0].tolist(), which.tolist(), strict=True)) == [
            *[(1e-1, 0)] * 2,
            *[(1e-2, 1)] * 2,
            *[(1e-4, k) for k in range(4)],
        ]

    def test_reference_at_the_nominal_optimum(self):
        result = made_up({OURS: [1, 0.5], "cmaes": [1, 0.4]})
        np.testing.assert_array_equal(results.deciding(result, P)[0], problems.bbob(1, 10, 4).x_opt)

    def test_profile(self):
        result = made_up({OURS: [[1, 1e-1, 1e-2, 1e-3]], "cmaes": [1, 1, 1, 1]})
        group = scoring.groups(result)[0]
        share = scoring.solved(result, group, OURS, np.array([9.9, 10.1, 101, 1001]))
        np.testing.assert_allclose(share, np.array([0, 1, 2, 3]) / 6)
        assert np.all(scoring.solved(result, group, "cmaes", np.array([1e9])) == 0)
