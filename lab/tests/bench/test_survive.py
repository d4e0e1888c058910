"""A few kills of workers and programs on processes; `phenes bench survive` makes it 200, on Dask
and Ray as well.
"""

import json
import signal
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from phenes_lab.bench import survive
from phenes_lab.bench.endurance.kill_test import program, rounds

pytestmark = pytest.mark.machine


def test_a_run_survives():
    done = survive.run(survive.Settings(kills=3, engines=("loky",), budget=120, pause=0.2, seed=0))
    assert sum(r.kills for r in done) == 3
    assert sum(r.of_program for r in done) >= 1
    for r in done:
        assert r.same, "the same final state as undisturbed"
        assert (r.lost, r.doubled, r.repeated) == (0, 0, 0)
    assert survive.as_json(done)["survived"]
    assert survive.table(done).row_count == 1


def test_the_judge_sees_what_was_evaluated_again(tmp_path):
    path, log = tmp_path / "run.db", tmp_path / "log"
    program.solve(1, 48, str(log), checkpoint=path)
    lines = rounds._lines(log)
    fine = rounds._judge(rounds.Round("loky", 1), path, lines, 48)
    assert fine.survived
    points = {line.split()[2] for line in lines}
    assert (
        rounds._judge(
            rounds.Round("loky", 1, kept=[(len(lines), points)]), path, [*lines, lines[0]], 48
        ).repeated
        == 1
    )
    other = rounds._judge(rounds.Round("loky", 1), path, lines, 60)
    assert other.lost == 12
    assert not other.same, (
        "a run that was verified at its end and goes on is not the run that had the longer budget"
        " from the start"
    )


def test_the_judge_sees_what_was_lost(tmp_path):
    """Although the run that it compares with evaluates again what is missing."""
    path, log = tmp_path / "run.db", tmp_path / "log"
    program.solve(1, 48, str(log), checkpoint=path)
    with sqlite3.connect(path) as file:  # the third generation never came to the file
        file.execute("DELETE FROM parts WHERE key >= '00000002'")
    short = rounds._judge(rounds.Round("loky", 1), path, rounds._lines(log), 48)
    assert (short.lost, short.same, short.survived) == (24, True, False)


def test_only_the_process_that_was_seen_is_killed(tmp_path):
    """The number of a process that has ended may be given to another."""
    log, rng = tmp_path / "log", np.random.default_rng(0)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        log.write_text(f"{other.pid} 0 aa\n")
        assert not rounds._kill_worker(log, 0, rng)
        assert other.poll() is None
        log.write_text(f"{other.pid} {program.born(other.pid)} aa\n")
        assert rounds._kill_worker(log, 0, rng)
        assert other.wait(10) == -signal.SIGKILL


def test_the_report(tmp_path):
    done = [
        rounds.Round("loky", 0, 3, 2, interrupted=4, same=True),
        rounds.Round("ray", 1, 1, 1, lost=1, same=True),
    ]
    survive.write(tmp_path, survive.Settings(kills=7), done)
    page = (tmp_path / "report.md").read_text()
    assert "1 of 2 runs did not survive" in page
    assert "| all | 2 | 4 | 3 | 4 | 1 | 0 | 0 | 2 of 2 |" in page
    assert json.loads((tmp_path / "summary.json").read_text())["kills"] == 7
    assert survive.read(tmp_path, survive.Settings(kills=9)) == done
    with pytest.raises(ValueError, match="other settings"):
        survive.read(tmp_path, survive.Settings(budget=48))
    enough = survive.Settings(kills=4, engines=("loky", "ray"), budget=48)
    assert survive.run(enough, before=done) == done, "both have had their share"


def test_misuse():
    with pytest.raises(ValueError, match=r"engines must be of loky, dask, ray, got spark"):
        survive.Settings(engines=("spark",))
