"""The learning curve: put together from chunks, taken apart again, and read."""

import numpy as np
import pytest

from phenes.rl.curve import Curve, Report


def chunk(n, first=0.0, size=1.0, second=2.0):
    counts = np.arange(n)
    return Report(
        first + counts,
        first + counts + 1,
        counts,
        counts,
        counts,
        *(np.full(n, v) for v in (size, second)),
    )


@pytest.fixture
def curve():
    begun = Curve.start().extended([chunk(3)], 3.0).evaluated([(3, 7.0)])
    return begun.extended([chunk(2, 10.0)], 4.0).evaluated([(5, 8.0)])


def test_chunks_follow_each_other(curve):
    assert curve.generations == 5
    np.testing.assert_array_equal(curve.mean, [0, 1, 2, 10, 11])
    np.testing.assert_allclose(curve.seconds, [1, 2, 3, 3.5, 4])
    np.testing.assert_array_equal(curve.at, [3, 5])
    assert curve.at.dtype == np.int64
    np.testing.assert_array_equal(curve.deterministic, [7, 8])


def test_what_is_new_and_what_was_before_make_the_whole(curve):
    before = Curve.start().extended([chunk(3)], 3.0).evaluated([(3, 7.0)])
    new = curve.since(before)
    assert new.generations == 2
    for whole, joined in zip(curve, Curve.joined([before, new]), strict=True):
        np.testing.assert_array_equal(whole, joined)
        assert whole.dtype == joined.dtype


def test_the_first_generation_at_a_target(curve):
    assert curve.first(2.0) == 3
    assert curve.first(2.5) == 4
    assert curve.first(99.0) is None


def test_signal_is_a_ratio_of_means_over_a_window():
    sizes, seconds = [chunk(1, size=s, second=2.0) for s in (1.0, 0.0, 2.0)], 1.0
    curve = Curve.start().extended(sizes, seconds)
    np.testing.assert_allclose(curve.signal(2), [0.5, 0.25, 0.5])
    assert np.isnan(
        Curve.start().extended([chunk(2, size=np.nan, second=np.nan)], 1.0).signal()
    ).all()
