"""The world realises, counts and remembers; points are recorded when they were known."""

import math

import numpy as np
import pytest
from phenes_lab.simulator import Exhausted, Record, World, gaussian, known_within


def sphere(x):
    return np.sum(x**2, axis=1)


class TestWorld:
    def test_realises_and_counts(self):
        world = World(gaussian(sphere, 0.5, np.random.default_rng(0)), 2000)
        theta = np.full((1000, 2), 3.0)
        x, f = world(theta)
        assert np.std(x - theta) == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(2 * 2000))
        np.testing.assert_array_equal(f, sphere(x))
        assert world.count == 1000
        world(theta)
        with pytest.raises(Exhausted):
            world(theta[:1])
        assert world.count == 2000

    def test_recent_values(self):
        world = World(gaussian(lambda x: x[:, 0], 0.0, np.random.default_rng(0)), 100)
        for value in (1.0, 2.0, 3.0):
            world(np.full((4, 1), value))
        assert world.recent(8) == (2.5, 12)
        assert world.recent(100) == (2.0, 12)
        world.forget()
        assert world.recent(8) == (math.inf, 0)

    def test_record_takes_the_first_point_at_or_after_each_checkpoint(self):
        record = Record(np.array([10, 20, 30, 100]), np.zeros(1))
        for evaluations, point in ((8, 1.0), (24, 2.0), (30, 3.0), (40, 4.0)):
            record.see(evaluations, lambda point=point: np.array([point]))
        record.close(96, np.array([5.0]))
        assert record.evaluations.tolist() == [24, 24, 30, 96]
        assert record.points[:, 0].tolist() == [2.0, 2.0, 3.0, 5.0]


def test_what_was_known_within_a_number_of_evaluations():
    when, points = known_within([3, 10, 25], [10, 20], [[1.0], [2.0]], np.zeros(1))
    assert when.tolist() == [0, 10, 20]
    assert points[:, 0].tolist() == [0.0, 1.0, 2.0]
