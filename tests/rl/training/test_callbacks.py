"""Who is told of a training, when, and who ends it."""

import numpy as np
import pytest

import phenes
from phenes.rl import training
from phenes.rl.training import SaveBest, StopAt, StopWithoutImprovement
from tests.rl.training.small import as_optax_needs_it, same, short, table  # noqa: F401

accumulator = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator",
    reason="TensorBoard is not installed: pip install 'phenes[tensorboard]'",
)


@pytest.mark.parametrize("learn", [pytest.param(short, marks=pytest.mark.tier("rl")), table])
def test_a_plain_function_sees_the_training_and_ends_it(learn):
    seen = []

    def callback(moment):
        seen.append((moment.done, moment.total, moment.value, moment.curve.generations))
        assert moment.trained.kind == learn(generations=1).kind
        return moment.done >= 5

    out = learn(generations=60, callback=callback)
    assert [row[0] for row in seen] == [out.curve.generations]
    assert seen[0] == (out.curve.generations, 60, out.curve.deterministic[-1], seen[0][0])
    assert out.curve.generations < 60
    same(out, learn(generations=out.curve.generations))  # being told changes nothing


def test_stop_iteration_ends_it_too_and_all_are_told():
    heard = []

    def raises(moment):
        raise StopIteration

    assert short(callback=[raises, heard.append]).curve.generations == 5
    assert len(heard) == 1


def test_what_a_callback_returns_beside_true_does_not_end_it():
    assert short(callback=lambda moment: 1).curve.generations == 10


def test_an_error_in_a_callback_is_the_callers():
    def breaks(moment):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        short(callback=breaks)


class FakeMoment:
    """A curve that was looked at every five generations."""

    def __init__(self, *looks):
        n = 5 * len(looks)
        per = np.zeros(n)
        at = np.arange(5, n + 1, 5)
        self.curve = training.Curve(*(per,) * 8, at, np.array(looks, float))
        self.done = n


def test_stop_at_asks_for_looks_in_a_row():
    assert StopAt(3.0)(FakeMoment(1, 3))
    assert not StopAt(3.0)(FakeMoment(3, 2))
    assert not StopAt(3.0, looks=2)(FakeMoment(4, 2, 3))
    assert StopAt(3.0, looks=2)(FakeMoment(1, 4, 3))
    assert not StopAt(3.0, looks=3)(FakeMoment(4, 4))


def test_stop_without_improvement_waits():
    stop = StopWithoutImprovement(10)
    assert not stop(FakeMoment(5, 1))  # not yet long enough
    assert stop(FakeMoment(5, 1, 4))
    assert stop(FakeMoment(5, 5, 5))  # as good is not better
    assert not stop(FakeMoment(5, 1, 6))
    assert stop(FakeMoment(5, 1, 6, 2, 3))
    assert StopWithoutImprovement(10, least=2)(FakeMoment(5, 1, 6))


def test_stop_without_improvement_ends_a_training_where_it_would_have_after_a_resume(tmp_path):
    stop = StopWithoutImprovement(25)
    whole = table(generations=200, callback=stop)
    assert whole.curve.generations < 200
    table(generations=25, checkpoint=tmp_path / "c", callback=stop)
    same(whole, table(generations=200, checkpoint=tmp_path / "c", callback=stop))


@pytest.mark.parametrize("learn", [short, table])
def test_save_best_has_the_best_of_all_looks(learn, tmp_path):
    """The file is the policy at the look that was better than all before."""
    path, kept = tmp_path / "best.phenes", {}

    def keep(moment):
        kept[moment.done] = moment.trained

    out = learn(generations=60 if learn is table else 20, callback=[SaveBest(path), keep])
    best = phenes.rl.load(path)
    looked = {done: trained.about["value"] for done, trained in kept.items()}
    first = min(done for done, value in looked.items() if value == max(looked.values()))
    same(best, kept[first])
    assert best.about["value"] == max(looked.values())
    assert best.name == out.name


def test_tensor_board_as_a_callback_is_read_back(tmp_path):
    board = phenes.watch.TensorBoard(tmp_path)
    out = short(callback=board)
    board.close()
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    rows = [(event.step, event.value) for event in events.Scalars("return/mean policy")]
    assert [step for step, _ in rows] == out.curve.at.tolist()
    np.testing.assert_allclose([v for _, v in rows], out.curve.deterministic, rtol=1e-6)
    means = [event.value for event in events.Scalars("return/population")]
    np.testing.assert_allclose(means, out.curve.mean, rtol=1e-6)


def test_wrong_arguments(tmp_path):
    for wrong in (3, [print, "x"]):
        for learn in (short, table):
            with pytest.raises(ValueError, match="callback must be"):
                learn(callback=wrong)
    with pytest.raises(ValueError, match="target must be"):
        StopAt(float("nan"))
    with pytest.raises(ValueError, match="looks must be"):
        StopAt(1.0, 0)
    with pytest.raises(ValueError, match="generations must be"):
        StopWithoutImprovement(0)
    with pytest.raises(ValueError, match="least must not be negative"):
        StopWithoutImprovement(5, -1)
    with pytest.raises(ValueError, match="path must be in a folder that is there"):
        SaveBest(tmp_path / "none" / "best.phenes")
