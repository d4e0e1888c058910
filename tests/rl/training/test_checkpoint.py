"""Trainings in the run record: resumed exactly after a kill, and seen by runs, show and watch."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from phenes.rl.training.checkpoint import curve_of
from phenes.store import Store
from tests.cli.calling import call
from tests.rl.training.small import as_optax_needs_it, same, short, table  # noqa: F401


class Stop(Exception):
    pass


def stop_at(generation):
    def stop(done, total, curve):
        if done == generation:
            raise Stop

    return stop


@pytest.fixture(scope="module")
def network():
    return short(seed=3)


@pytest.fixture(scope="module")
def lake():
    return table(seed=3, generations=50)


def test_an_interrupted_run_goes_on_exactly(network, tmp_path):
    file, begun = tmp_path / "runs.db", []
    with pytest.raises(Stop):
        short(seed=3, checkpoint=file, progress=stop_at(5))
    with Store(file) as store:
        assert store[1].status == "failed"
    same(network, short(seed=3, checkpoint=file))
    same(network, short(seed=3, checkpoint=file, progress=lambda done, *_: begun.append(done)))
    assert begun == [10]
    with Store(file) as store:
        assert [(run.id, run.status) for run in store.runs()] == [(1, "done")]
        np.testing.assert_array_equal(curve_of(store[1]).mean, network.curve.mean)


def test_a_table_goes_on_exactly(lake, tmp_path):
    with pytest.raises(Stop):
        table(seed=3, generations=50, checkpoint=tmp_path / "c", progress=stop_at(25))
    again = table(seed=3, generations=50, checkpoint=tmp_path / "c")
    same(lake, again)
    assert again.score == lake.score
    assert again.steps == lake.steps


def test_a_longer_run_follows_a_shorter_one(network, tmp_path):
    short(seed=3, generations=5, checkpoint=tmp_path / "c")
    same(network, short(seed=3, checkpoint=tmp_path / "c"))


def test_other_settings_are_refused_and_begin_anew_without_resume(network, tmp_path):
    short(seed=3, generations=5, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match=r"other settings .* seed was 3 and is now 4"):
        short(seed=4, checkpoint=tmp_path / "c")
    begun = []
    short(
        seed=4,
        generations=5,
        checkpoint=tmp_path / "c",
        resume=False,
        progress=lambda done, *_: begun.append(done),
    )
    assert begun == [0, 5]
    table(checkpoint=tmp_path / "c")
    with Store(tmp_path / "c") as store:
        names = [run.experiment for run in store.runs()]
    assert names == ["train CartPole-v1", "train CartPole-v1", "train FrozenLake-v1"]


def test_two_trainings_do_not_write_one_run(network, tmp_path):
    """The second is told so while the first goes on, and adds nothing to its run."""
    file, refused = tmp_path / "c", []

    def meanwhile(done, total, curve):
        if done == 5:
            with pytest.raises(ValueError, match=r"run 1 .* is being written by process") as said:
                short(seed=3, checkpoint=file)
            refused.append(said)

    same(network, short(seed=3, checkpoint=file, progress=meanwhile))
    assert len(refused) == 1
    with Store(file) as store:
        assert [(run.id, run.status) for run in store.runs()] == [(1, "done")]
        assert sorted(store[1].keys()) == ["00000005", "00000010", "state"]


def test_another_precision_is_refused(tmp_path):
    import jax

    table(checkpoint=tmp_path / "c")
    with jax.enable_x64(False), pytest.raises(ValueError, match="another precision"):
        table(checkpoint=tmp_path / "c")


def test_files_of_others_are_refused(tmp_path):
    (tmp_path / "text").write_text("nothing of ours, and long enough to be looked at" * 40)
    with pytest.raises(ValueError, match="cannot be opened as a record"):
        table(checkpoint=tmp_path / "text")


KILLED = """
import sys, time
import jax
jax.config.update("jax_enable_x64", True)
from tests.rl.training.small import short
def wait(done, total, curve):
    if done == 5:
        print("ready", flush=True)
        time.sleep(60)
short(seed=3, checkpoint=sys.argv[1], progress=wait)
"""


@pytest.mark.machine
@pytest.mark.tier("rl")
def test_a_killed_run_goes_on_exactly(network, tmp_path):
    """And is watched while it runs: its last part is on disk before anybody is told of it."""
    root = Path(__file__).parents[3]
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "c")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    with child:
        assert child.stdout.readline() == "ready\n"
        with Store(tmp_path / "c") as store:
            assert store[1].status == "running"
            assert curve_of(store[1]).generations == 5
        os.kill(child.pid, signal.SIGKILL)
    with Store(tmp_path / "c") as store:
        assert store[1].status == "interrupted"
    same(network, short(seed=3, checkpoint=tmp_path / "c"))


def test_runs_show_and_watch_see_a_training(network, lake, tmp_path, capsys):
    file = tmp_path / "runs.db"
    short(seed=3, checkpoint=file)
    table(seed=3, generations=50, checkpoint=file)
    code, out, _ = call(capsys, "runs", file)
    assert code == 0
    assert "train CartPole-v1" in out
    assert "train FrozenLake-v1" in out
    for number, trained, names in (
        (1, network, "signal in the gradient"),
        (2, lake, "generations"),
    ):
        picture = tmp_path / f"{number}.png"
        code, out, _ = call(capsys, "show", f"{file}:{number}", "--out", picture)
        assert code == 0
        assert names in out
        assert f"{trained.episodes} done, 0 failed" in out
        assert f"{trained.curve.deterministic[-1]:.6g}" in out
        assert picture.read_bytes()[:4] == b"\x89PNG"
        code, out, _ = call(capsys, "watch", f"{file}:{number}")
        assert code == 0
        assert "return of the mean policy" in out
    code, _, err = call(capsys, "show", f"{file}:1", "--export", tmp_path / "e.csv")
    assert code
    assert "only optimisations are tables of evaluations" in err.replace("\n", " ")


def test_watch_follows_a_training_part_by_part(tmp_path):
    from phenes.watch.snapshot import Reader

    file, seen = tmp_path / "runs.db", []

    def look(done, total, curve):
        with Store(file) as store:
            snapshot = Reader(store[1]).snapshot()
            seen.append((snapshot["status"], snapshot["generations"], snapshot["done"]))
            assert len(snapshot["curve"]["mean"]) == done

    short(seed=3, checkpoint=file, progress=look)
    assert seen == [("running", 0, 0), ("running", 5, 30), ("running", 10, 60)]
    with Store(file) as store:
        assert Reader(store[1]).snapshot()["status"] == "done"
