"""Constraints from f to the answer: what may be told, where it is kept, and what is recommended."""

import csv

import numpy as np
import pytest
from scipy import stats

import phenes
from phenes.optimizer.loops.shared import OTHER

NOISE, LIMIT = 0.1, 0.5
NORMAL = np.array([0.6, 0.8])


def bowl(x):
    """The least value is beyond the limit."""
    return float(np.sum((x - NORMAL) ** 2)), {"plane": float(NORMAL @ x) - LIMIT}


def solve(f=bowl, budget=40, wish=None, **options):
    """In batches of four: a Gaussian process is then fitted a fourth as often."""
    options = {"popsize": 4, "constraints": phenes.chance(0.9) if wish is None else wish} | options
    return phenes.minimize(f, np.zeros(2), 0.5, NOISE, budget=budget, **options)


def exact(theta):
    """P(the plane holds)."""
    return stats.norm.cdf((LIMIT - NORMAL @ theta) / NOISE)


def expected(p):
    """Where the best theta is: k_p standard deviations from the limit."""
    return NORMAL * (LIMIT - stats.norm.ppf(p) * NOISE)


@pytest.mark.few
class TestAnswer:
    @pytest.mark.parametrize("p", [0.9, pytest.param(0.99, marks=pytest.mark.tier("runs"))])
    def test_it_is_at_the_analytic_distance_from_a_plane(self, p):
        result = solve(wish=phenes.chance(p))
        assert exact(result.x) >= p
        np.testing.assert_allclose(result.x, expected(p), atol=0.02)
        assert result.success
        held = result.constraints
        assert held["plane"].binding
        assert held["plane"].draws == result.verified
        assert f"{held['plane'].lower:.4%}" in str(result)
        assert "plane" in result._repr_html_()

    @pytest.mark.tier("runs")
    @pytest.mark.parametrize(("p", "engine"), [(0.9, "adaptive"), (0.99, "relay")])
    def test_an_evolution_strategy_finds_it_too(self, p, engine):
        result = solve(budget=600, wish=phenes.chance(p), engine=engine)
        assert exact(result.x) >= p
        np.testing.assert_allclose(result.x, expected(p), atol=0.02)
        assert result.success

    @pytest.mark.tier("runs")
    def test_two_limits_at_once(self):
        """A corridor around the best value: each side takes half of what may violate."""

        def corridor(x):
            across = float(x[0])
            return (across - 0.3) ** 2 + x[1] ** 2, {"right": across - 0.25, "left": -across - 0.25}

        result = solve(corridor, wish=phenes.chance(0.97))
        z = np.array([0.25 - result.x[0], 0.25 + result.x[0]]) / NOISE
        assert stats.norm.sf(z).sum() <= 0.03
        assert result.constraints.all.met
        assert result.constraints["right"].binding

    @pytest.mark.tier("runs")
    def test_the_largest_value_too(self):
        result = phenes.maximize(
            lambda x: (-bowl(x)[0], bowl(x)[1]),
            np.zeros(2),
            0.5,
            NOISE,
            budget=40,
            popsize=4,
            constraints=phenes.chance(plane=0.9),
        )
        assert exact(result.x) >= 0.9
        np.testing.assert_allclose(result.x, expected(0.9), atol=0.02)

    @pytest.mark.tier("runs")
    def test_in_the_mean_the_limit_itself_is_reached(self):
        result = solve(wish=phenes.on_average())
        assert result.x @ NORMAL == pytest.approx(LIMIT, abs=0.02)
        assert result.x @ NORMAL <= LIMIT + 1e-6

    @pytest.mark.tier("runs")
    def test_where_nothing_meets_them_the_least_violating_one_and_why(self):
        def never(x):
            return bowl(x)[0], {"plane": bowl(x)[1]["plane"], "never": 1.0 + np.sum(x**2)}

        result = solve(never, budget=30, wish=phenes.chance(plane=0.5, never=0.9))
        assert not result.success
        assert "never holds in 0 of" in result.message
        assert "plane" not in result.message
        assert np.linalg.norm(result.x) < 0.3

    @pytest.mark.tier("runs")
    def test_failures_and_what_is_not_known_violate_everything(self):
        def sometimes(x):
            value, held = bowl(x)
            return (np.nan if x[0] > 0.3 else value), held | {"plane": held["plane"]}

        result = solve(sometimes, wish=phenes.chance(0.9))
        all_hold = result.constraints.all
        own = result.evaluations
        here = np.all(own.theta == result.x, axis=1)
        assert all_hold.draws == here.sum()
        good = np.isfinite(own.f[here]) & (own.constraints["plane"][here] <= 0)
        assert all_hold.violated == np.sum(~good)

    @pytest.mark.tier("runs")
    def test_without_noise_the_best_point_that_meets_them(self):
        result = phenes.minimize(
            bowl, np.zeros(2), 0.5, budget=60, popsize=4, constraints=phenes.chance(0.999)
        )
        assert result.x @ NORMAL <= LIMIT
        assert result.fun == pytest.approx(0.25, abs=0.01)
        assert result.constraints.confirmed


class TestKept:
    def test_columns_by_name_and_in_a_file(self, tmp_path):
        space = phenes.Space(width=phenes.Real(-1, 1, noise=NOISE), depth=phenes.Real(-1, 1))
        result = phenes.minimize(
            lambda width, depth: (width**2, {"f": width - 1, "deep": depth}),
            space,
            budget=12,
            constraints=phenes.chance(0.9),
        )
        result.evaluations.to_csv(tmp_path / "all.csv")
        with (tmp_path / "all.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert float(rows[3]["deep"]) == float(rows[3]["x_depth"])
        assert float(rows[3]["constraint_f"]) == float(rows[3]["x_width"]) - 1
        assert len(result.evaluations.to_pandas()["deep"]) == 12

    @pytest.mark.tier("runs")
    def test_a_run_that_is_cut_off_goes_on_bit_for_bit(self, tmp_path):
        whole = solve(budget=24, checkpoint=tmp_path / "whole.db")
        seen = []

        def dies(x):
            seen.append(x)
            if len(seen) == 15:
                raise KeyboardInterrupt
            return bowl(x)

        with pytest.raises(KeyboardInterrupt):
            solve(dies, budget=24, checkpoint=tmp_path / "cut.db")
        again = solve(budget=24, checkpoint=tmp_path / "cut.db", resume="anyway")
        np.testing.assert_array_equal(again.evaluations.x, whole.evaluations.x)
        np.testing.assert_array_equal(
            again.evaluations.constraints["plane"], whole.evaluations.constraints["plane"]
        )
        np.testing.assert_array_equal(again.x, whole.x)
        with pytest.raises(ValueError, match="constraints"):
            solve(budget=24, checkpoint=tmp_path / "cut.db", wish=phenes.chance(0.5))

    def test_a_saved_optimizer_goes_on_bit_for_bit(self, tmp_path):
        opt = phenes.Optimizer(
            np.zeros(2), 0.5, NOISE, budget=30, constraints=phenes.chance(plane=0.9)
        )
        rng = np.random.default_rng(0)

        def run(opt, rounds):
            for _ in range(rounds):
                theta = opt.ask(3)
                x = theta + NOISE * rng.standard_normal(theta.shape)
                opt.tell(
                    theta,
                    np.sum(x**2, axis=1),
                    realised=x,
                    constraints=[x @ NORMAL - LIMIT]
                    if len(x) == 1
                    else {"plane": x @ NORMAL - LIMIT},
                )

        run(opt, 4)
        opt.save(tmp_path / "lab.phenes")
        loaded = phenes.Optimizer.load(tmp_path / "lab.phenes")
        assert loaded.wanted == opt.wanted
        assert loaded.constraint_names == ("plane",)
        np.testing.assert_array_equal(loaded.ask(2), opt.ask(2))
        np.testing.assert_array_equal(
            loaded.evaluations.constraints["plane"], opt.evaluations.constraints["plane"]
        )

    @pytest.mark.parametrize(
        "options",
        [
            pytest.param({"workers": 2}, marks=pytest.mark.tier("runs")),
            {"vectorized": True},
            {"realises": True},
        ],
    )
    def test_the_run_does_not_depend_on_how_f_is_called(self, options):
        def rows(x):
            return np.sum((x - NORMAL) ** 2, axis=1), {"plane": x @ NORMAL - LIMIT}

        def lab(theta):
            return theta, *bowl(theta)

        f = {"workers": bowl, "vectorized": rows, "realises": lab}[next(iter(options))]
        found = solve(f, budget=16, **options)
        if "realises" in options:
            assert found.evaluations.constraints["plane"] == pytest.approx(
                found.evaluations.theta @ NORMAL - LIMIT
            )
        else:
            plain = solve(budget=16)
            np.testing.assert_allclose(
                found.evaluations.constraints["plane"], plain.evaluations.constraints["plane"]
            )


class TestBadInput:
    def test_given_but_not_returned(self):
        with pytest.raises(RuntimeError, match="f returned no constraints, which constraints="):
            solve(lambda x: float(np.sum(x**2)))

    def test_returned_but_not_given(self):
        with pytest.raises(RuntimeError, match=r"give constraints=phenes.chance\(0.95\)"):
            phenes.minimize(bowl, np.zeros(2), 0.5, NOISE, budget=20)

    def test_names_that_chance_does_not_have(self):
        with pytest.raises(RuntimeError, match="constraints must be named stress"):
            solve(wish=phenes.chance(stress=0.9))

    def test_sometimes_missing_or_named_otherwise_violates_and_is_said(self):
        """The value is kept, also on file; the message says what was expected and what came."""
        calls = []

        def moody(x):
            calls.append(x)
            value, held = bowl(x)
            if len(calls) % 5 == 0:
                return value
            return value, ({"other": 1.0} if len(calls) % 7 == 0 else held)

        result = solve(moody, budget=20)
        assert result.failed == 0
        assert np.isfinite(result.evaluations.f).all()
        assert np.isnan(result.evaluations.constraints["plane"]).sum() == 4 + 2
        expected = OTHER.format("plane", "none")
        assert f"6 evaluations count as violating the constraints: {expected}" in result.message
        assert result.errors == (expected, OTHER.format("plane", "other"))
        assert expected in str(result)

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_a_key_that_is_missing_sometimes(self, asynchronous, tmp_path):
        """Those that came are kept, that which did not is not known; also after a resume."""

        def moody(x):
            value, held = bowl(x)
            both = {**held, "gap": -x[0] - 5}
            return value, (both if x[1] < 0.1 else held)

        def run(budget):
            return phenes.minimize(
                moody,
                [-0.5, -0.5],
                0.5,
                NOISE,
                budget=budget,
                constraints=phenes.chance(plane=0.9, gap=0.9),
                workers=phenes.Workers(asynchronous=asynchronous),
                checkpoint=tmp_path / "run",
            )

        run(12)
        result = run(20)
        plane, gap = (result.evaluations.constraints[name] for name in ("plane", "gap"))
        assert np.isfinite(plane).all()
        assert np.isfinite(result.evaluations.f).all()
        lacking = int(np.isnan(gap).sum())
        assert 0 < lacking < 20
        noun = "1 evaluation counts" if lacking == 1 else f"{lacking} evaluations count"
        assert f"{noun} as violating the constraints: " in result.message
        assert OTHER.format("plane, gap", "plane") in result.message

    def test_told_without_or_unasked(self):
        opt = phenes.Optimizer(np.zeros(2), 0.5, NOISE, constraints=phenes.chance(0.9))
        theta = opt.ask(2)
        with pytest.raises(ValueError, match="constraints must be told with each evaluation"):
            opt.tell(theta, [1.0, 2.0])
        opt.tell(theta, [np.nan, np.nan])  # what has failed has none
        assert opt.nfev == 2
        with pytest.raises(ValueError, match="constraint a must have one value"):
            opt.tell(theta, [1.0, 2.0], constraints={"a": [1.0]})
        assert opt.nfev == 2
        opt.tell(theta, [1.0, 2.0], constraints={"a": [1.0, 2.0]})
        with pytest.raises(ValueError, match="must be named a"):
            opt.tell(theta, [1.0, 2.0], constraints={"b": [1.0, 2.0]})
        plain = phenes.Optimizer(np.zeros(2), 0.5, NOISE)
        with pytest.raises(ValueError, match=r"give it constraints=phenes.chance\(0.95\)"):
            plain.tell(theta, [1.0, 2.0], constraints={"a": [1.0, 2.0]})

    def test_what_is_no_wish(self):
        with pytest.raises(ValueError, match=r"constraints must be phenes\.chance"):
            solve(wish=0.9)


@pytest.mark.tier("runs")
@pytest.mark.few
def test_a_risk_within_constraints_by_name():
    """CVaR of a parabola beyond a plane: the limit decides, and is said once."""
    space = phenes.Space(
        width=phenes.Real(50, 300, unit="mm", noise=4.0), height=phenes.Real(1, 40, noise=0.5)
    )

    def f(width, height):
        return (width - 120) ** 2 / 100 + (height - 7) ** 2, {"wide": 125 - width}

    result = phenes.minimize(
        f,
        space,
        objective=phenes.risk.cvar(0.9),
        constraints=phenes.chance(0.99),
        budget=40,
        popsize=4,
        seed=0,
    )
    least = 125 + 4 * stats.norm.ppf(0.99)
    assert least <= result.x["width"] < least + 1.5
    assert abs(result.x["height"] - 7) < 0.3
    draws = np.random.default_rng(1).standard_normal((200_000, 2)) * [4.0, 0.5]
    aim = np.array([result.x["width"], result.x["height"]])
    values = f(*(draws + aim).T)[0]
    worst = np.sort(values)[-20_000:].mean()
    assert result.interval[0] <= worst <= result.interval[1]
    assert "CVaR 90 % of f(x)" in str(result)
    assert result.message.count("by the model") == 1


@pytest.mark.few
class TestPassOrFail:
    """Constraints of 0 and 1: where a better design is easy to find, one is found."""

    @staticmethod
    def ball(x):
        """0 within a ball that holds the best value, 1 beyond."""
        return float((x[0] - 0.5) ** 2 + np.sum(x[1:] ** 2)), {"ok": float(np.linalg.norm(x) > 1.5)}

    @staticmethod
    def half(x):
        """The best value is beyond a plane."""
        across = float(np.sum(x)) / np.sqrt(len(x))
        return float(np.sum((x - 1 / np.sqrt(len(x))) ** 2)), {"ok": float(across > 0)}

    @staticmethod
    def solve(f, x0, budget, seed):
        return phenes.minimize(
            f, x0, 0.5, NOISE, budget=budget, seed=seed, constraints=phenes.chance(0.9)
        )

    def test_a_start_that_holds_is_left(self):
        result = self.solve(self.ball, [-0.8, 0.0], 30, 0)
        assert result.constraints.all.probability == 1
        assert result.fun < 0.2  # 1.70 at the start
        # few draws of pass or fail confirm little, and that is what is said
        assert not result.success
        assert "only draws at x count" in result.message

    @pytest.mark.tier("runs")
    def test_draws_that_would_confirm_it_are_not_shared_with_what_is_hardly_better(self):
        """29 of 30 are needed: three places, of the same value to nine digits, had 4, 4 and 22."""
        result = self.solve(self.ball, [-0.8, 0.0], 300, 0)
        assert result.success
        assert result.verified >= 29

    @pytest.mark.tier("runs")
    @pytest.mark.parametrize("dim", [2, 5])
    @pytest.mark.parametrize("start", [-2.0, 1.5], ids=["holds", "violates"])
    def test_beside_a_plane(self, dim, start):
        """P is exact here; E f is 9 at the start that holds, at best 1.5 for what may be used."""
        for seed in range(2):
            result = self.solve(self.half, np.full(dim, start / np.sqrt(dim)), 100, seed)
            assert stats.norm.cdf(-np.sum(result.x) / np.sqrt(dim) / NOISE) >= 0.9
            assert result.fun < 5
            assert result.success <= (result.constraints.all.lower >= 0.9)

    @pytest.mark.tier("runs")
    @pytest.mark.parametrize("dim", [2, 5])
    def test_few_evaluations_are_never_worse_than_the_start_and_mostly_better(self, dim):
        better = 0
        for seed in range(4):
            result = self.solve(self.half, np.full(dim, -2 / np.sqrt(dim)), 30, seed)
            assert stats.norm.cdf(-np.sum(result.x) / np.sqrt(dim) / NOISE) >= 0.9
            assert not result.success
            better += result.fun < 5  # 9 at the start
        assert better >= 3
