"""Whether a theta meets constraints: by the model, by fresh draws, and where it would."""

import numpy as np
import pytest
from scipy import stats

import phenes
from phenes.evidence import Observations
from phenes.evidence.law import gaussian_law
from phenes.evidence.limits import Limits, worst_excess

NOISE = 0.1
A, B = np.array([1.0, 2.0]), 0.5
LENGTH = float(np.linalg.norm(A))


def law(theta):
    theta = np.asarray(theta, float)
    return gaussian_law(theta, np.zeros(2), np.full(2, NOISE**2), scale=np.ones(2))


def rows(n=40, c=lambda x: (x @ A - B)[:, None], at=None, names=("plane",)):
    rng = np.random.default_rng(0)
    seen = Observations(2)
    seen.name_limits(names)
    theta = rng.uniform(-1, 1, (n, 2)) if at is None else np.tile(at, (n, 1))
    x = theta + NOISE * rng.standard_normal(theta.shape)
    seen.add(theta, x, x, np.sum(x**2, axis=1), c=c(x))
    return seen


def exact(theta):
    return stats.norm.sf((B - A @ theta) / (NOISE * LENGTH))


@pytest.mark.parametrize("theta", [[0.0, 0.0], [0.0, 0.1], [0.2, -0.3]])
def test_the_model_knows_rare_violations_that_no_row_has_seen(theta):
    place = Limits(phenes.chance(0.99)).place(rows(), law(theta))
    assert place.standings[0].violation == pytest.approx(exact(np.array(theta)), rel=1e-3)
    assert place.met == (exact(np.array(theta)) <= 0.01)


def test_the_nearest_safe_place_is_at_the_analytic_distance():
    limits, start = Limits(phenes.chance(0.99)), np.array([0.3, 0.4])
    found = limits.safer(rows(), law, start, lambda theta: theta)
    k = stats.norm.isf(0.95 * 0.01)
    normal = A / LENGTH
    expected = start - normal * (normal @ start - (B / LENGTH - k * NOISE))
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert exact(found) <= 0.01


def test_failures_that_come_anywhere_come_here_too():
    """A quarter of all rows failed, wherever they were; six draws here without one say little."""
    rng, seen = np.random.default_rng(4), Observations(2)
    seen.name_limits(("plane",))
    theta = np.concatenate([rng.uniform(-1, 1, (74, 2)), np.zeros((6, 2))])
    x = theta + NOISE * rng.standard_normal(theta.shape)
    f, c = np.sum(x**2, axis=1), (x @ A - B)[:, None]
    f[rng.permutation(74)[:20]] = np.nan
    seen.add(theta, x, x, f, c=c)
    assert not seen.walled
    place = Limits(phenes.chance(0.9)).place(seen, law(np.zeros(2)))
    assert place.standings[0].violation == pytest.approx(0.25, abs=0.02)
    assert not place.met


def test_a_share_that_fails_is_added_to_what_the_model_says():
    """The model of the rows that have constraints says that they hold; a fifth here has none."""
    seen, at = rows(), np.zeros(2)
    x = at + NOISE * np.random.default_rng(1).standard_normal((10, 2))
    f, c = np.sum(x**2, axis=1), (x @ A - B)[:, None]
    f[:2], c[:2] = np.nan, np.nan
    seen.add(np.tile(at, (10, 1)), x, x, f, c=c)
    (standing,) = Limits(phenes.chance(0.9)).place(seen, law(at)).standings
    assert standing.violation == pytest.approx(0.2, abs=0.02)
    assert not standing.contradicted
    assert not standing.met


def test_all_together_count_what_violates_any_of_them():
    def two(x):
        return np.stack([x @ A - B, -x @ A - B], axis=1)

    seen = rows(c=two, names=("above", "below"))
    place = Limits(phenes.chance(0.9)).place(seen, law([0.0, 0.0]))
    once = stats.norm.sf(B / (NOISE * LENGTH))
    assert place.standings[0].violation == pytest.approx(2 * once, rel=0.05)
    assert place.each == pytest.approx((once, once), rel=1e-3)


def test_the_mean_alone():
    wish = Limits(phenes.on_average())
    assert wish.place(rows(), law([0.1, 0.15])).met  # half of the parts violate it nearly
    assert not wish.place(rows(), law([0.1, 0.25])).met


def test_fresh_draws_contradict_a_model():
    """A jump that the rows of the model do not show."""
    at = np.zeros(2)
    seen = rows()
    x = at + NOISE * np.random.default_rng(1).standard_normal((20, 2))
    seen.add(np.tile(at, (20, 1)), x, x, np.zeros(20), c=np.where(x[:, :1] > 0.05, 9.0, -9.0))
    (standing,) = Limits(phenes.chance(0.99)).place(seen, law(at)).standings
    assert standing.contradicted
    assert not standing.met


def test_failures_and_constraints_that_are_not_known_violate():
    seen = rows(1)
    theta = np.zeros((4, 2))
    f, c = np.array([np.nan, 1.0, 1.0, 1.0]), np.array([[-1.0], [np.nan], [-1.0], [0.0]])
    seen.add(theta, theta, theta, f, c=c)
    (standing,) = Limits(phenes.chance(0.5)).place(seen, law([0.0, 0.0])).standings
    assert (standing.draws, standing.violated) == (4, 2)
    assert np.isinf(worst_excess(seen.c)[1:3]).all()


def test_without_noise_one_evaluation_says_it():
    wish = Limits(phenes.chance(0.999))
    assert wish.place(rows(1, at=np.zeros(2)), law([0.0, 0.0]), exact=True).met
    assert not wish.place(rows(1, at=np.ones(2)), law([1.0, 1.0]), exact=True).met


def disc(x):
    return np.sum(x**2, axis=1, keepdims=True) - 1.0


@pytest.mark.parametrize("angle", [0.3, 1.2])
def test_a_mean_is_that_of_the_law_and_not_of_some_draws_of_it(angle):
    """E |x|^2 of a disc is exact: at its limit, half a per cent to either side is told apart."""
    edge = np.sqrt(1 - 2 * NOISE**2) * np.array([np.cos(angle), np.sin(angle)])
    wish, seen = Limits(phenes.on_average()), rows(c=disc)
    assert wish.place(seen, law(0.999 * edge)).met
    (standing,) = wish.place(seen, law(1.001 * edge)).standings
    assert standing.violation > 0
    assert not standing.met


def passes(x):
    return np.where(x[:, :1] > 0.3, 1.0, -1.0)


@pytest.mark.parametrize(("draws", "met"), [(8, False), (59, True)])
def test_of_pass_or_fail_only_draws_count(draws, met):
    """A model of -1 and 1 is sure of itself; 59 draws without a violation confirm 0.95."""
    seen, at = rows(c=passes), np.array([-0.2, 0.0])
    x = at + NOISE * np.random.default_rng(1).standard_normal((draws, 2))
    assert np.all(x[:, 0] <= 0.3)
    seen.add(np.tile(at, (draws, 1)), x, x, x[:, 0], c=passes(x))
    (standing,) = Limits(phenes.chance(0.95)).place(seen, law(at)).standings
    assert standing.unresolved == ("plane",)
    assert standing.expected
    assert standing.met == met


def test_a_mean_of_what_jumps_may_have_more_above_it_than_was_drawn():
    """Scrap that costs 100 was seen once: eight draws without it do not show its mean."""

    def scrap(x):
        return np.where(x[:, :1] > 0.9, 100.0, -1.0)

    seen, at = rows(c=scrap), np.array([0.5, 0.0])
    assert (seen.c > 0).any()
    x = at + NOISE * np.random.default_rng(1).standard_normal((8, 2))
    seen.add(np.tile(at, (8, 1)), x, x, x[:, 0], c=scrap(x))
    (standing,) = Limits(phenes.on_average()).place(seen, law(at)).standings
    assert not standing.met


def test_a_wall_of_failures_nearby_is_counted():
    """Beyond x = 0.2 there are no constraints: six draws without a failure do not show 0.95."""
    seen, at = rows(), np.zeros(2)
    seen._c[: seen.count][seen.point[:, 0] > 0.2] = np.nan
    x = at + NOISE * np.random.default_rng(2).standard_normal((6, 2))
    assert np.all(x[:, 0] < 0.2)
    seen.add(np.tile(at, (6, 1)), x, x, x[:, 0], c=(x @ A - B)[:, None])
    place = Limits(phenes.chance(0.95)).place(seen, law(at))
    assert place.expected
    assert not place.met
    assert Limits(phenes.chance(0.95)).place(seen, law(np.array([-0.6, 0.0]))).met


def test_draws_are_kept_where_they_may_confirm():
    wish = Limits(phenes.chance(0.95))
    assert wish.kept_draws(rows(), 100) == 0
    assert Limits(phenes.chance(0.95)).kept_draws(rows(c=passes), 100) == 59
    assert Limits(phenes.chance(0.95)).kept_draws(rows(c=passes), 50) == 0


def test_a_constraint_that_is_missing_says_nothing_of_the_others():
    """A fifth of the draws lacks the second constraint: the first holds all the same.

    Rows nearby, which have it, weigh as much as two more draws.
    """
    at, rng = np.zeros(2), np.random.default_rng(1)

    def two(x):
        return np.stack([x @ A - B, x[:, 0] - 1], axis=1)

    seen = rows(c=two, names=("plane", "gap"))
    x = at + NOISE * rng.standard_normal((10, 2))
    c = two(x)
    c[:2, 1] = np.nan
    seen.add(np.tile(at, (10, 1)), x, x, np.sum(x**2, axis=1), c=c)
    place = Limits(phenes.chance(plane=0.98, gap=0.98)).place(seen, law(at))
    assert place.each[0] == pytest.approx(exact(at), rel=0.05)
    assert place.each[1] == pytest.approx(2 / 12, abs=0.02)
    assert [one.met for one in place.standings] == [True, False]


def test_a_mean_hangs_on_where_a_high_jump_is():
    """c jumps by 6 between rows: the model's mean is sure of one edge, and below 0."""

    def jumps(x):
        over = x @ A > B
        return np.where(over, 5 + x[:, 0], -0.5 + 0.1 * x[:, 1])[:, None]

    seen, at = rows(c=jumps), np.array([-0.1, 0.1])
    x = at + NOISE * np.random.default_rng(2).standard_normal((6, 2))
    x = x[x @ A <= B]
    seen.add(np.tile(at, (len(x), 1)), x, x, np.sum(x**2, axis=1), c=jumps(x))
    (standing,) = Limits(phenes.on_average()).place(seen, law(at)).standings
    assert standing.violation < 0
    assert standing.unresolved == ("plane",)
    assert not standing.met


def test_draws_that_are_all_alike_do_not_confirm_a_mean():
    """A hinge, of which the draws met the flat part only; other rows say how far it rises."""

    def hinge(x):
        return (8 * np.maximum(x @ A - B, 0) - 0.3 + 0.01 * x[:, 1])[:, None]

    seen, at = rows(c=hinge), np.array([0.0, 0.0])
    x = at + 0.1 * NOISE * np.random.default_rng(2).standard_normal((8, 2))
    seen.add(np.tile(at, (8, 1)), x, x, np.sum(x**2, axis=1), c=hinge(x))
    (standing,) = Limits(phenes.on_average()).place(seen, law(at)).standings
    assert not standing.confirmed
    assert not standing.contradicted


def lacking_at_random(n=60, share=7):
    """Rows anywhere, of which each seventh lacks a constraint, though f has a value."""
    seen = rows(n)
    seen._c[: seen.count][::share] = np.nan
    return seen


def test_a_constraint_that_is_missing_anywhere_is_missing_here():
    """None of six draws lacks it, but each seventh of all rows does, wherever they are."""
    seen, at = lacking_at_random(), np.array([-0.3, 0.0])
    x = at + NOISE * np.random.default_rng(2).standard_normal((6, 2))
    seen.add(np.tile(at, (6, 1)), x, x, x[:, 0], c=(x @ A - B)[:, None])
    (standing,) = Limits(phenes.chance(0.8)).place(seen, law(at)).standings
    share = 9 / 66
    assert standing.violation == pytest.approx(share + exact(at), abs=1e-3)
    assert standing.bound == pytest.approx(1 - stats.beta.ppf(0.05, 57, 10) + exact(at), abs=1e-3)
    assert standing.reached == 0


def test_a_safe_place_leaves_room_for_what_fails_anywhere():
    """With the error of that, if something is left; without, if that is too much."""
    start = np.array([0.3, 0.4])
    for level, fails in ((0.7, 1 - stats.beta.ppf(0.05, 51, 10)), (0.8, 9 / 60)):
        limits = Limits(phenes.chance(level))
        found = limits.safer(lacking_at_random(), law, start, lambda theta: theta)
        room = (0.95 * (1 - level) - fails) / (1 - fails)
        assert exact(found) == pytest.approx(room, rel=0.02)


def test_what_no_evaluation_has_met_is_said():
    seen, at = rows(), np.zeros(2)
    (none_failed,) = Limits(phenes.chance(0.9)).place(seen, law(at)).standings
    assert none_failed.reached == seen.count
    far = np.full((1, 2), 5.0)
    seen.add(far, far, far, np.array([np.nan]))
    (one_far_away,) = Limits(phenes.chance(0.9)).place(seen, law(at)).standings
    near = np.linalg.norm(law(at).z(seen.point), axis=1)
    reach = np.linalg.norm(law(at).draws, axis=1).max()
    assert 0 < one_far_away.reached == int(np.sum(near <= reach)) < seen.count
    seen.add(at[None], at[None], at[None], np.array([np.nan]))
    (here,) = Limits(phenes.chance(0.9)).place(seen, law(at)).standings
    assert here.reached == 0


def failed_at(places, n=60):
    """Rows anywhere, and some failures."""
    seen = rows(n)
    for at in places:
        at = np.array([at])
        seen.add(at, at, at, np.array([np.nan]))
    return seen


@pytest.mark.parametrize(
    ("places", "anywhere"),
    [
        ([(0.4, 0.3)], True),
        ([(0.5, 0.3), (-0.9, 0.6), (0.1, -0.9)], True),
        ([(3.0, 0.0)], False),
        ([(0.95, 0.9), (0.9, 0.96), (0.97, 0.85), (0.99, 0.99)], False),
    ],
    ids=["one", "three", "one-far-away", "a-corner"],
)
def test_few_failures_may_be_anywhere_until_they_are_shown_not_to_be(places, anywhere):
    """They are expected nowhere near this place, but what is claimed of it allows for them."""
    at = np.array([-0.3, -0.3])
    (standing,) = Limits(phenes.chance(0.8)).place(failed_at(places), law(at)).standings
    assert standing.expected
    n, k = 60 + len(places), len(places)
    most = 1 - stats.beta.ppf(0.05, n - k, k + 1)
    if anywhere:
        assert standing.bound == pytest.approx(most + exact(at), abs=1e-3)
        assert standing.reached == 0
    else:
        assert standing.bound < 0.5 * most
        assert standing.reached > 0


def test_a_safe_place_leaves_room_for_few_failures_that_may_be_anywhere():
    start, seen = np.array([0.3, 0.4]), failed_at([(-0.6, -0.2), (-0.2, -0.7)], 30)
    found = Limits(phenes.chance(0.9)).safer(seen, law, start, lambda theta: theta)
    fails = 2 / 32  # with the error of that nothing is left
    assert exact(found) == pytest.approx((0.95 * 0.1 - fails) / (1 - fails), rel=0.02)


def test_where_failures_leave_nothing_the_limits_add_little():
    """The proposal lay at the limit as if nothing failed."""
    start = np.array([0.3, 0.4])
    found = Limits(phenes.chance(0.9)).safer(lacking_at_random(), law, start, lambda theta: theta)
    assert 0.9 * 0.2 * 0.1 <= exact(found) <= 0.2 * 0.1  # the model has an error


def test_good_may_be_zero():
    """0 is as good as -1: with 0 and 1 a model has all good rows at the limit, half beyond."""
    at, wish = np.array([-0.3, -0.3]), phenes.chance(0.9)
    zero_one = rows(c=lambda x: 1.0 * (x @ A > B)[:, None])
    signs = rows(c=lambda x: np.where(x @ A > B, 1.0, -1.0)[:, None])
    (found,) = Limits(wish).place(zero_one, law(at)).standings
    (same,) = Limits(wish).place(signs, law(at)).standings
    assert found.unresolved == same.unresolved == ("plane",)
    assert found.violation == pytest.approx(same.violation, abs=1e-3)
    assert found.expected
