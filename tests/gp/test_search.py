"""The search by a Gaussian process, from outside: answers, batches, failures, flat starts."""

import numpy as np
import pytest
from scipy import stats

from phenes.gp import BayesianSearch, tuning

NOISE = 0.1
IN_FULL = pytest.mark.tier("runs")


def branin(x):
    a, b = x[:, 0], x[:, 1]
    bowl = (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def bowl(x):
    return np.sum((x - 0.3) ** 2, axis=1)


def make(dim=2, noise=NOISE, seed=0, **options):
    return BayesianSearch(
        np.ones(dim), np.full(dim, 0.5), np.full(dim, noise**2), seed=seed, **options
    )


def run(search, f, budget, noise=NOISE, batch=None, hide=0.0, seed=0):
    """Ask, realise and tell; hide: the share of coordinates that are not measured."""
    world = np.random.default_rng(seed)
    while search.evaluations < budget:
        theta = search.ask(min(batch or search.popsize, budget - search.evaluations))
        x = theta + noise * world.standard_normal(theta.shape)
        measured = world.random(x.shape) >= hide
        search.tell(theta, np.where(measured, x, theta), f(x), measured)
    return search


@pytest.mark.parametrize("dim", [3, *(pytest.param(d, marks=IN_FULL) for d in (1, 8))])
def test_a_quadratic_is_known_after_a_few_rows_more_than_it_has_features(dim):
    search = run(make(dim), bowl, 3 * (dim + 2) + 8)
    assert search.mean == pytest.approx(np.full(dim, 0.3), abs=0.02)
    value, error = search.estimate
    assert value == pytest.approx(dim * NOISE**2, abs=max(3 * error, 1e-3))
    assert search.noise_cost == pytest.approx(dim * NOISE**2, rel=0.1, abs=1e-3)


def wells(x):
    """A wide well at -1, and a narrow one at 1 of twice its depth."""
    wide, narrow = (np.sum((x - at) ** 2, axis=1) for at in (-1, 1))
    return -0.6 * np.exp(-wide / 0.8) - 1.2 * np.exp(-narrow / 0.15)


class TestElsewhere:
    """Where the answer is known, half of the points are sought away from it."""

    def found(self):
        """Of three seeds, those that end in the narrow well after 135 evaluations."""
        box = {"lower": np.full(3, -2.0), "upper": np.full(3, 2.0), "budget": 150}
        start = np.full(3, -0.8), np.full(3, 0.7), np.full(3, 0.01)
        ends = [
            run(BayesianSearch(*start, **box, seed=seed), wells, 135, seed=seed).mean
            for seed in (0, 3, 5)
        ]
        return sum(np.allclose(end, 1, atol=0.1) for end in ends)

    @pytest.mark.tier("runs")
    def test_a_narrow_basin_far_from_the_answer_is_found_more_often(self, monkeypatch):
        """Of seeds 0 to 5, by five instead of three."""
        monkeypatch.setattr(tuning, "ELSEWHERE_FROM", 0)
        assert self.found() >= 1
        monkeypatch.setattr(tuning, "ELSEWHERE", 10**6)
        assert self.found() == 0

    def away(self, f, first, monkeypatch):
        """Of twelve points after so many, those further from the answer than the noise."""
        monkeypatch.setattr(tuning, "EXPLORE", 1000)  # so that no point is one of those
        monkeypatch.setattr(tuning, "ELSEWHERE_FROM", 0)
        search, away = run(make(3), f, first), 0
        for _ in range(12):
            theta = search.ask(1)
            away += int(np.linalg.norm(theta - search.mean) > 2 * NOISE)
            search.tell(theta, theta, f(theta))
        return away

    def test_half_of_the_points_are_away_once_nothing_is_promised(self, monkeypatch):
        assert 5 <= self.away(wells, 60, monkeypatch) <= 8

    def test_where_f_has_one_basin_none_is(self, monkeypatch):
        """A quadratic changes over the whole box: nothing lies beyond a length of it."""
        assert self.away(bowl, 30, monkeypatch) == 0

    def test_while_something_is_promised_none_is(self, monkeypatch):
        monkeypatch.setattr(tuning, "EXPLORE", 1000)
        monkeypatch.setattr(tuning, "RESOLVED", 1e-12)
        monkeypatch.setattr(tuning, "ELSEWHERE_FROM", 0)
        search = run(make(3), wells, 20)
        asked = search.ask(8)
        monkeypatch.setattr(tuning, "ELSEWHERE", 10**6)
        np.testing.assert_array_equal(run(make(3), wells, 20).ask(8), asked)

    def test_nor_before_there_are_many(self, monkeypatch):
        asked = run(make(3), wells, 80).ask(8)
        monkeypatch.setattr(tuning, "ELSEWHERE", 10**6)
        np.testing.assert_array_equal(run(make(3), wells, 80).ask(8), asked)


@pytest.mark.tier("runs")
def test_the_best_basin_is_found():
    """Three optima of equal f; E f is least in one of them for noise of 1. Three seeds."""
    lower, upper = np.array([-5.0, 0.0]), np.array([10.0, 15.0])
    for seed in range(3):
        start = np.random.default_rng(seed).uniform(lower, upper)
        search = BayesianSearch(
            start, np.full(2, 3.75), np.ones(2), seed=seed, lower=lower, upper=upper
        )
        run(search, branin, 45, noise=1.0, seed=seed)
        assert search.mean == pytest.approx([3.35, 2.7], abs=0.5), seed


@pytest.mark.tier("runs")
def test_without_bounds_the_region_grows_with_the_answer():
    far = np.array([30.0, -20.0])
    search = run(make(), lambda x: np.sum((x - far) ** 2, axis=1), 40)
    assert search.mean == pytest.approx(far, abs=0.1)


def test_the_answer_stays_within_the_bounds():
    lower, upper = np.full(2, 0.6), np.full(2, 3.0)
    search = make(lower=lower, upper=upper)
    world = np.random.default_rng(0)
    while search.evaluations < 24:
        theta = search.ask()
        assert np.all((theta >= lower) & (theta <= upper))
        x = theta + NOISE * world.standard_normal(theta.shape)
        search.tell(theta, x, bowl(x))
    assert search.mean == pytest.approx(lower, abs=1e-6)


class TestBatches:
    def test_a_batch_goes_to_several_places(self):
        """While more than one promises something: at least three of six, a noise's width apart."""
        lower, upper = np.array([-5.0, 0.0]), np.array([10.0, 15.0])
        search = BayesianSearch(
            np.array([0.0, 10.0]), np.full(2, 3.75), np.ones(2), seed=0, lower=lower, upper=upper
        )
        run(search, branin, 10, noise=1.0)
        places = []
        for theta in search.ask(6):
            if all(np.linalg.norm(theta - other) > 1.0 for other in places):
                places.append(theta)
        assert len(places) >= 3

    @pytest.mark.tier("runs")
    def test_a_batch_promises_no_more_than_its_points(self):
        """Rows that are nearly equal make a singular matrix: no promises may come of that."""
        lower, upper = np.array([-5.0, 0.0]), np.array([10.0, 15.0])
        search = BayesianSearch(
            np.array([0.0, 10.0]), np.full(2, 3.75), np.ones(2), seed=0, lower=lower, upper=upper
        )
        run(search, branin, 60, noise=1.0)
        assert search.expected_gain(12) < 12.5 * search.expected_gain(1) < 1.0

    def test_values_come_in_any_order(self):
        """What was asked stays under way until it is told."""
        search = run(make(), bowl, 8)
        first, second = search.ask(2), search.ask(2)
        assert not np.any(np.all(first[:, None] == second[None], axis=2))
        search.tell(second[1:], second[1:], bowl(second[1:]))
        search.tell(first, first, bowl(first))
        assert search.evaluations == 11
        assert len(search._pending) == 1

    @pytest.mark.tier("runs")
    def test_by_itself_it_asks_for_the_design_and_then_for_small_batches(self):
        search = make(3)
        assert search.popsize == len(search.ask()) == tuning.DESIGN[1] * 4
        run(search, bowl, 20)
        assert search.popsize == 1
        run(search, bowl, 64)
        assert search.popsize == tuning.LARGEST_BATCH


class TestFailures:
    def wall(self, x):
        """Everything beyond x_1 = 0.5 fails; the optimum is 0.2 before it."""
        return np.where(x[:, 0] > 0.5, np.nan, bowl(x))

    @pytest.mark.tier("runs")
    def test_the_answer_keeps_away_from_a_wall(self):
        search = run(make(), self.wall, 60)
        belief = search._model.belief
        assert float(belief.failing(search._best()[None])[0]) < 0.1
        share = np.mean(
            search.mean[0] + NOISE * np.random.default_rng(1).standard_normal(999) > 0.5
        )
        assert share < 0.1
        assert search.mean[0] > 0.05

    @pytest.mark.tier("runs")
    def test_failures_anywhere_move_nothing(self):
        coin = np.random.default_rng(5)

        def sometimes(x):
            return np.where(coin.random(len(x)) < 0.2, np.nan, bowl(x))

        search = run(make(), sometimes, 50)
        assert search.mean == pytest.approx(np.full(2, 0.3), abs=0.05)
        assert any("fail" in text for text in search.take_events())

    def test_nothing_but_failures(self):
        search = run(make(), lambda x: np.full(len(x), np.nan), 20)
        assert np.array_equal(search.mean, search.x0)
        assert search.estimate[1] == np.inf


@pytest.mark.tier("runs")
def test_where_all_values_are_equal_it_looks_all_over():
    """A yield of zero nearly everywhere; three seeds."""

    def passes(x):
        return -np.all(np.abs(x + 0.2) < 0.5, axis=1).astype(float)

    for seed in range(3):
        search = run(make(seed=seed), passes, 60, seed=seed)
        assert np.all(np.abs(search.mean + 0.2) < 0.35), seed


def test_the_longer_all_values_are_equal_the_further_out_it_looks():
    """Every other point, from x0 = 1 with sigma0 0.5, and never beyond the bounds."""

    def flat(x):
        return np.zeros(len(x))

    early, late = (np.abs(run(make(), flat, n).ask(8) - 1).max(axis=1) for n in (8, 200))
    box = tuning.REACH * 0.5
    assert early.max() < 2 * box
    assert late.max() > 2 * box
    assert np.sum(late <= box) >= 4
    sides = {"lower": np.full(2, -1.0), "upper": np.full(2, 3.0)}
    assert np.abs(run(make(**sides), flat, 200).ask(20) - 1).max() <= 2


def test_while_all_values_are_equal_all_of_the_box_is_filled():
    """Every other point of a Sobol sequence lies in one half of some coordinate."""
    asked = run(make(dim=5), lambda x: np.zeros(len(x)), 400).ask(200)
    inner = asked[np.abs(asked - 1).max(axis=1) <= tuning.REACH * 0.5]
    assert len(inner) > 90
    assert np.abs(inner.mean(axis=0) - 1).max() < 0.2  # of a box of 1 +- 2


def test_while_all_values_are_equal_every_fourth_point_is_a_draw_around_x0():
    """As wide as two sigma0; in many coordinates nearly all of a box is further away than that."""
    search = run(make(dim=5), lambda x: np.zeros(len(x)), 400)
    drawn = search.ask(240)[::4]  # 60, whose mean would scatter by 0.13 if they were independent
    np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=0.1)
    np.testing.assert_allclose(drawn.std(axis=0), tuning.FLAT_WIDTH * 0.5, rtol=0.1)
    sides = {"lower": np.full(5, 0.5), "upper": np.full(5, 9.0)}
    drawn = run(make(dim=5, **sides), lambda x: np.zeros(len(x)), 400).ask(240)[::4]
    half = stats.truncnorm(-0.5, 8.0, 1.0, tuning.FLAT_WIDTH * 0.5)
    np.testing.assert_allclose(np.median(drawn, axis=0), half.median(), atol=0.1)
    assert np.min(drawn) >= 0.5


def test_constant_values_are_no_model():
    search = run(make(), lambda x: np.ones(len(x)), 20)
    assert search.phase == "design"
    assert search.expected_gain() == np.inf
    assert any("equal" in text for text in search.take_events())


class TestWhatIsNotMeasured:
    @pytest.mark.tier("runs")
    def test_some_coordinates(self):
        search = run(make(), bowl, 50, hide=0.3)
        assert search.mean == pytest.approx(np.full(2, 0.3), abs=0.1)

    @pytest.mark.parametrize(("budget", "away"), [(20, 0.3), pytest.param(50, 0.25, marks=IN_FULL)])
    def test_nothing(self, budget, away):
        search = run(make(), bowl, budget, hide=1.1)
        assert search.mean == pytest.approx(np.full(2, 0.3), abs=away)


@IN_FULL
def test_value_noise_is_found_by_the_fit():
    coin = np.random.default_rng(2)
    search = run(make(), lambda x: bowl(x) + 0.1 * coin.standard_normal(len(x)), 60)
    fitted, y = search._model.fitted, search._model.rows.f
    share = fitted.eta * search._model.belief.values.variance
    assert 0.03**2 < share < 0.3**2, (share, np.var(y))
    assert search.mean == pytest.approx(np.full(2, 0.3), abs=0.25)


def test_better_knowledge_of_the_noise_changes_the_answer_and_not_the_rows():
    """f = |x| + x: with more noise, E f grows and its minimum moves."""

    def hinge(x):
        return np.where(x[:, 0] > 0, 5 * x[:, 0], -x[:, 0])

    search = run(make(1), hinge, 40)
    before, rows = search.mean, search._model.rows.x.copy()
    search.update_noise(np.array([0.16]), np.zeros(1))
    assert search.mean[0] < before[0] - 0.05
    assert np.array_equal(search._model.rows.x, rows)
    search.update_noise(np.array([0.01]), np.array([0.5]))
    assert search.mean == pytest.approx(before - 0.5, abs=0.05)


def test_the_same_seed_and_values_give_the_same_run():
    one, two = (run(make(), bowl, 12) for _ in range(2))
    assert np.array_equal(one.mean, two.mean)
    assert not np.array_equal(one.mean, run(make(seed=1), bowl, 12).mean)


def test_the_expected_gain_falls():
    search = run(make(), bowl, 10)
    before = search.expected_gain()
    assert 0 <= run(search, bowl, 30).expected_gain() < before


@pytest.mark.tier("runs")
def test_a_law_that_is_not_gaussian_decides_by_its_draws():
    """Steep on one side, and draws that are skewed to that side: the answer keeps further away."""

    def hinge(x):
        return np.where(x[:, 0] > 0, 5 * x[:, 0], -x[:, 0])

    rng = np.random.default_rng(0)
    skewed = 0.1 * (rng.exponential(1.0, (512, 1)) - 1) * 3
    plain, exact = (run(make(1, draws=draws), hinge, 40) for draws in (_none, lambda _: skewed))

    def truth(theta):
        return float(hinge(theta + skewed).mean())

    assert truth(exact.mean) < truth(plain.mean)


def _none(theta):
    return None


@pytest.mark.parametrize(
    ("dim", "budget", "rows"), [(2, 20, 3), (6, 30, 7), (6, 45, 10), (6, 60, 14), (6, None, 14)]
)
def test_with_few_evaluations_fewer_are_spread_first(dim, budget, rows):
    search = BayesianSearch(np.zeros(dim), np.ones(dim), np.ones(dim), seed=0, budget=budget)
    assert search.popsize == rows
    assert len(search.ask()) == rows


def test_rows_that_were_not_measured_tell_less_than_the_same_rows_measured():
    theta = np.random.default_rng(0).uniform(-1, 3, (14, 2))
    errors = []
    for measured in (np.ones((14, 2), bool), np.zeros((14, 2), bool)):
        search = make(noise=0.3)
        search.tell(theta, theta, bowl(theta), measured)
        errors.append(search.predict(theta)[1].mean())
    assert errors[1] > 2 * errors[0]


def test_a_slope_that_ends_in_failures_is_not_followed_beyond_them():
    """f falls towards a wall behind which all fails, and there are no bounds."""
    search = make(dim=1, noise=0.06)
    run(search, lambda x: np.where(x[:, 0] > -1, x[:, 0], np.nan), 30, noise=0.06)
    assert np.isfinite(search._model.rows.f).sum() > 12  # 4 where each failure leads further out
    assert -1 < search.mean[0] < -0.6


def test_every_theta_is_predicted_under_its_own_law():
    """A bias that changes from place to place: x = theta / 2, and f is exact at x."""
    theta = np.linspace(-2, 2, 9)[:, None]
    search = BayesianSearch(
        np.zeros(1),
        np.ones(1),
        np.full(1, 1e-6),
        seed=0,
        bias=np.ones(1),
        draws=lambda at: np.tile(-0.5 * at, (8, 1)),
    )
    search.tell(theta, theta / 2, np.sin(theta[:, 0] / 2))
    at = np.array([[-1.5], [0.3], [1.7]])
    np.testing.assert_allclose(search.predict(at)[0], np.sin(at[:, 0] / 2), atol=1e-3)
