"""Nothing evaluated is lost, and memory has a bound."""

import itertools

import numpy as np
import pytest

from phenes.evidence import observations
from phenes.evidence.observations import Observations


def test_rows_come_back_as_they_were_told():
    rng, seen = np.random.default_rng(0), Observations(3)
    theta, x, f = rng.normal(size=(700, 3)), rng.normal(size=(700, 3)), rng.normal(size=700)
    f[5], f[6] = np.inf, np.nan
    for k in range(0, 700, 7):
        seen.add(theta[k : k + 7], x[k : k + 7], x[k : k + 7], f[k : k + 7])
    found = seen.arrays(-1.0)
    np.testing.assert_array_equal(found.theta, theta)
    np.testing.assert_array_equal(found.x, x)
    np.testing.assert_array_equal(found.f, np.where(np.isfinite(f), -f, np.nan))
    assert (seen.lowest, seen.highest) == (f[np.isfinite(f)].min(), f[np.isfinite(f)].max())


def test_long_runs_keep_their_beginning_and_their_end(monkeypatch):
    monkeypatch.setattr(observations, "KEPT", 400)
    monkeypatch.setattr(observations, "START", 50)
    seen = Observations(1)
    for k in range(3000):
        row = np.full((1, 1), float(k))
        seen.add(row, row, row, row[0])
    assert seen.count + seen.dropped == 3000
    assert seen.count < 1100
    np.testing.assert_array_equal(seen.f[:50], np.arange(50))
    assert seen.f[-1] == 2999
    assert (seen.lowest, seen.highest) == (0, 2999)


def test_the_price_of_a_failure_is_of_the_beginning():
    seen = Observations(1)
    rows = np.zeros((5, 1))
    seen.add(rows, rows, rows, np.array([1.0, 3.0, np.nan, 2.0, 1e9]))
    assert seen.price(4) == 2 * 3 - 2
    seen = Observations(1)
    seen.add(rows, rows, rows, np.full(5, np.nan))
    assert np.isnan(seen.price(4))
    assert seen.flat


def test_flat_is_no_difference_ever():
    seen, rows = Observations(1), np.zeros((2, 1))
    seen.add(rows, rows, rows, np.array([1.0, 1.0]))
    assert seen.flat
    seen.add(rows, rows, rows, np.array([1.0, 1.5]))
    assert not seen.flat


def test_ties_are_equal_values_of_different_theta():
    seen = Observations(2)
    rows = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])

    def add(theta, *f):
        seen.add(theta, theta, theta, np.array(f))
        return seen.tied

    assert not add(rows, 1.0, 2.0, 1.0)  # the same theta again
    assert not add(rows[:1] + 5, np.nan)
    assert not add(rows[:1] + 6, np.nan)
    assert add(rows[:1] + 7, 2.0)
    assert add(rows[:1] + 8, 9.0)


def test_rows_at_a_theta_agree_in_every_coordinate():
    seen = Observations(2)
    theta = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 1.0], [3.0, 1.0]])
    seen.add(theta, theta, theta, np.zeros(4))
    assert seen.at(np.array([0.0, 1.0])).tolist() == [True, False, True, False]


def test_rows_are_known_by_what_they_were_made_for():
    seen = Observations(1)
    for phase in ("search", "verify", "search"):
        seen.add(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), np.ones(2), phase)
    np.testing.assert_array_equal(seen.made_for("verify"), [False, False, True, True, False, False])
    assert not seen.made_for("design").any()


def test_what_fails_at_random_is_told_from_a_wall_by_more_draws():
    """An answer is looked at after each draw, and one in five draws fails wherever they are made.

    Looked at so often, the draws at some time fail more often than the others by chance. In 200
    runs of 300 draws each, that must not be what is believed at the end: at 5 %, 10 +- 3 runs.
    """
    rng = np.random.default_rng(0)
    first, last = 0, 0
    for _ in range(200):
        seen, answer = Observations(2), np.zeros(2)
        theta = np.concatenate([rng.standard_normal((200, 2)), np.tile(answer, (300, 1))])
        f = np.where(rng.random(500) < 0.2, np.nan, 1.0)
        ever = False
        for rows in (slice(0, 200), *(slice(k, k + 10) for k in range(200, 500, 10))):
            seen.add(theta[rows], theta[rows], theta[rows], f[rows])
            seen.compare_failures(answer)
            ever |= seen._differs(answer, np.isnan(seen.f))
        first += ever
        last += seen._differs(answer, np.isnan(seen.f))
    assert first > 25
    assert last <= 19  # 3 standard errors


def test_of_many_places_one_fails_most_by_chance():
    """Each place has its share of the significance level: 20 designs are not 20 chances."""
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(200):
        seen, places = Observations(1), np.arange(20.0)[:, None]
        theta = np.repeat(places, 20, axis=0)
        seen.add(theta, theta, theta, np.where(rng.random(400) < 0.2, np.nan, 1.0))
        for place in places:
            seen.compare_failures(place)
        failed = np.isnan(seen.f)
        found += any(seen._differs(place, failed) for place in places)
    assert found <= 19


def test_a_place_where_fewer_fail_shows_that_failures_depend_on_theta():
    """Seven in ten fail where the search is, in many coordinates without a side: none of 20 do at
    the start.
    """
    rng = np.random.default_rng(2)
    seen, start = Observations(150), np.full(150, 5.0)
    theta = np.concatenate([rng.standard_normal((400, 150)), np.tile(start, (20, 1))])
    f = np.where(np.append(rng.random(400) < 0.7, np.zeros(20, bool)), np.nan, 1.0)
    at_random = rng.permutation(420)
    seen.add(theta, theta[at_random], theta[at_random], f)
    assert not seen.walled
    seen.compare_failures(start)
    assert seen.walled


def test_chance_is_counted():
    """All ways in which 3 failures fall among 7 rows: at least 2 of the first 4."""
    ways = [sum(k < 4 for k in three) >= 2 for three in itertools.combinations(range(7), 3)]
    assert observations.chance(2, 4, 3, 7) == pytest.approx(np.mean(ways))
    assert observations.chance(1, 4, 5, 7) == pytest.approx(1.0)
