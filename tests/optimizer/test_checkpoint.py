"""The checkpoint by itself: parts, what was sent, and which settings must be the same."""

import numpy as np
import pytest

import phenes
from phenes import store
from phenes.optimizer.checkpoint import Checkpoint, Part, settings
from phenes.optimizer.evaluations import Row


def rows(*numbers):
    return [Row(k, np.zeros(2), np.ones(2), float(k)) for k in numbers]


def opened(path, **options):
    given = {"x0": [0.0, 0.0], "noise": "0.1"}
    return Checkpoint(path, given, 100, **options)


@pytest.fixture
def opt():
    opt = phenes.Optimizer(np.zeros(2), 1.0, 0.1, budget=100)
    theta = opt.ask()
    opt.tell(theta, np.sum(theta**2, axis=1), realised=theta)
    return opt


def test_complete_parts_come_back_with_their_budget_and_the_rest_as_it_came(tmp_path, opt):
    path = tmp_path / "run.db"
    with opened(path) as kept:
        kept.arrived(rows(0, 1), 1)
        kept.arrived(rows(2), 0)
        kept.complete(opt)
        kept.arrived(rows(0), 3)
    with opened(path) as kept:
        ((first, budget),) = kept.replay()
        assert [row.index for row in first] == [0, 1, 2]
        assert budget == 100
        assert [row.index for row in kept.part.rows] == [0]
        assert (kept.part.number, kept.part.budget, kept.done) == (1, 100, 4)
        kept.arrived(rows(1), 0)
        kept.complete(opt)
    with opened(path) as kept:
        assert [[row.index for row in part] for part, _ in kept.replay()] == [[0, 1, 2], [0, 1]]
        assert kept.part == Part(2)
    with store.Store(path) as record:
        assert list(record.last("minimize")) == ["00000000", "00000001", "now"]


def test_what_must_not_be_made_twice_is_noted_before_it_goes(tmp_path):
    path = tmp_path / "run.db"
    with opened(path, once=True) as kept:
        kept.sending(0)
        kept.sending(1)
        kept.arrived(rows(0), 1)
    with opened(path, once=True) as kept:
        assert list(kept.replay()) == []
        assert kept.part.sent == [0, 1]
        assert [row.index for row in kept.part.rows] == [0]


def test_what_is_still_under_way_is_kept_for_the_next_part(tmp_path, opt):
    path = tmp_path / "run.db"
    with opened(path, once=True) as kept:
        for number in range(3):
            kept.sending(number)
        kept.arrived(rows(0, 2), 1)
        kept.complete(opt, 1)
        assert kept.part.sent == [1]
    with opened(path, once=True) as kept:
        assert len(list(kept.replay())) == 1
        assert kept.part.sent == [1]


def test_cheap_evaluations_are_not_written_one_by_one(tmp_path):
    with opened(tmp_path / "run.db", prompt=False) as kept:
        kept.written = np.inf
        kept.arrived(rows(0), 0)
        assert kept.part.stored == 0
        kept.written = -np.inf
        kept.arrived(rows(1), 0)
        assert kept.part.stored == 2


def test_a_run_that_raises_keeps_its_rows_and_has_failed(tmp_path):
    path = tmp_path / "run.db"

    def breaks():
        with opened(path, prompt=False) as kept:
            kept.written = np.inf
            kept.arrived(rows(0), 0)
            raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        breaks()
    with store.Store(path) as record:
        assert record.last("minimize").status == "failed"
        assert "00000000/000000" in record.last("minimize")


def test_no_path_keeps_nothing(opt):
    with opened(None, once=True) as kept:
        kept.sending(0)
        kept.arrived(rows(0), 0)
        kept.complete(opt)
        kept.finish()
        assert list(kept.replay()) == []
        assert kept.part.number == 1


def test_settings_tell_different_noises_apart_and_equal_ones_not():
    def of(noise=0.1, seed=0, popsize=None):
        return settings(np.zeros(2), 1.0, noise, None, popsize, None, seed, False)

    long = np.eye(20)
    assert of(long) == of(long.copy())
    assert of(long) != of(long + 1e-9 * np.eye(20))
    assert len(of(long)["noise"]) < 100
    assert of(popsize=np.int64(5), seed=np.int64(3)) == of(popsize=5, seed=3)
