"""What a descent keeps of its samples, and what failures mean."""

import numpy as np
import pytest

from phenes.adaptive.archive import Archive, clusters, have_a_place, may_be_anywhere


def test_the_archive_keeps_the_newest():
    archive = Archive(2, 300)
    for k in range(100):
        archive.add(np.full((10, 2), k), np.full(10, k))
    x, f = archive.newest(200)
    assert f.shape == (200,)
    assert f[-1] == 99
    assert np.array_equal(x[:, 0], f)
    assert archive.total == 1000
    assert archive.f.size < 1000


@pytest.mark.parametrize("shape", ["side", "hole"])
def test_failures_that_have_a_place_count_as_the_worst_kept(shape):
    rng = np.random.default_rng(0)
    for dim in (1, 3, 8):
        x = rng.standard_normal((300, dim))
        bad = x[:, 0] > 0.5 if shape == "side" else np.sum(x**2, axis=1) < 0.7 * dim
        archive = Archive(dim, 300)
        archive.add(x, np.where(bad, np.nan, x[:, 0]))
        assert archive.walled
        _, f = archive.newest(300)
        assert np.array_equal(f, np.where(bad, x[~bad, 0].max(), x[:, 0]))


def test_failures_that_happen_anywhere_are_left_out():
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(200):
        x = rng.standard_normal((200, 3))
        bad = rng.random(200) < 0.2
        archive = Archive(3, 300)
        archive.add(x, np.where(bad, np.nan, x[:, 0]))
        wrong += archive.walled
        if not archive.walled:
            assert np.array_equal(archive.newest(50)[0], x[~bad][-50:])
    assert wrong < 20  # two tests of about one in forty each


def test_an_archive_of_failures_has_no_rows():
    archive = Archive(2, 300)
    archive.add(np.ones((20, 2)), np.full(20, np.nan))
    assert archive.newest(10)[1].size == 0
    assert archive.best() is None
    archive.add(
        np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [9.0, 9.0]]), np.array([1.0, 1.0, 1.0, 2.0])
    )
    x, value = archive.best()  # of the three best the one in their midst
    assert value == 1.0
    np.testing.assert_array_equal(x, [1.0, 0.0])


def test_rows_whose_x_is_not_known_are_not_kept():
    archive = Archive(2, 300)
    archive.add(np.array([[1.0, np.nan], [1.0, 2.0]]), np.array([0.0, np.inf]))
    assert archive.count == 1
    assert np.isnan(archive.raw(5)).all()


@pytest.mark.parametrize(("n", "d", "share"), [(40, 2, 0.3), (60, 10, 0.7)])
def test_failures_at_random_are_said_to_cluster_by_chance_only(n, d, share):
    """2.3 % of 4,000 orders of the labels, for a normal law of the count: error 0.24 %.

    Rows of several widths: in ten coordinates a few in the middle are neighbours of most.
    """
    rng = np.random.default_rng(0)
    z = rng.standard_normal((n, d)) * np.exp(rng.uniform(-2, 0, (n, 1)))
    failed = np.arange(n) < share * n
    found = []
    for _ in range(4000):
        rng.shuffle(failed)
        found.append(clusters(z, failed))
    assert 0.012 < np.mean(found) < 0.036


@pytest.mark.parametrize(("n", "d"), [(40, 2), (100, 5), (100, 10)])
def test_a_ball_that_works_is_a_place_although_failures_have_all_directions(n, d):
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.standard_normal((n, d)) * np.exp(rng.uniform(-2, 0, (n, 1)))
        away = np.linalg.norm(x, axis=1)
        assert have_a_place(x, away > np.quantile(away, 0.4))


@pytest.mark.parametrize(("n", "d"), [(60, 2), (150, 5)])
def test_few_failures_at_random_are_told_from_few_on_one_side(n, d):
    """Both are taken to have a place: of these the former may as well be anywhere."""
    rng, doubted, shown = np.random.default_rng(3), 0, 0
    for _ in range(100):
        x = rng.standard_normal((n, d))
        failed = np.zeros(n, bool)
        failed[rng.permutation(n)[:3]] = True
        side = np.zeros(n, bool)
        side[np.argsort(-x[:, 0])[:4]] = True
        assert have_a_place(x, failed)
        doubted += may_be_anywhere(x, failed)
        shown += not may_be_anywhere(x, side)
    assert doubted >= 92  # 4 % by chance, with an error of 2 %
    assert shown >= 95


def test_one_failure_may_be_anywhere_and_none_or_many_are_no_question():
    x = np.random.default_rng(4).standard_normal((40, 2))
    one = np.arange(40) == 7
    assert may_be_anywhere(x, one)
    assert not may_be_anywhere(x, np.zeros(40, bool))
    assert not may_be_anywhere(x, np.arange(40) % 3 == 0)
