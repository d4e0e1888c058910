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
from phenes_lab.bench.endurance.kill_test import program, tables
from phenes_lab.bench.endurance.kill_test import run as rounds
from phenes_lab.bench.endurance.kill_test.settings import KillTestSettings, Round
from phenes_lab.bench.endurance.kill_test.tables import write


@pytest.mark.machine
@pytest.mark.few
@pytest.mark.tier("lab")
def test_a_run_survives(tmp_path):
    settings = KillTestSettings(kills=3, engines=("loky",), budget=60, pause=0.2)
    done = rounds.run(settings, tmp_path).results
    assert sum(r.kills for r in done) == 3
    assert sum(r.of_program for r in done) >= 1
    for r in done:
        assert r.same, "the same final state as undisturbed"
        assert (r.lost, r.doubled, r.repeated) == (0, 0, 0)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["benchmark"], summary["survived"]) == ("survive", True)
    assert tables.table(done).row_count == 1
    again = rounds.run(settings, tmp_path, resume=True).results
    # all but what was kept for the judgement, which is not written
    assert [repr(r) for r in again] == [repr(r) for r in done], "read back, and nobody killed again"


def test_the_judge_sees_what_was_evaluated_again(tmp_path):
    path, log = tmp_path / "run.db", tmp_path / "log"
    program.solve(1, 48, str(log), checkpoint=path)
    lines = rounds._lines(log)
    fine = rounds._judge(Round("loky", 1), path, lines, 48)
    assert fine.survived
    points = {line.split()[2] for line in lines}
    assert (
        rounds._judge(
            Round("loky", 1, kept=[(len(lines), points)]), path, [*lines, lines[0]], 48
        ).repeated
        == 1
    )
    other = rounds._judge(Round("loky", 1), path, lines, 60)
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
    short = rounds._judge(Round("loky", 1), path, rounds._lines(log), 48)
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
        Round("loky", 0, 3, 2, interrupted=4, same=True),
        Round("ray", 1, 1, 1, lost=1, same=True),
    ]
    write(tmp_path, KillTestSettings(kills=7), done)
    page = (tmp_path / "report.md").read_text()
    assert "1 of 2 runs did not survive" in page
    assert "| all | 2 | 4 | 3 | 4 | 1 | 0 | 0 | 2 of 2 |" in page
    assert json.loads((tmp_path / "summary.json").read_text())["kills"] == 7


def test_misuse():
    with pytest.raises(ValueError, match=r"engines must be of loky, dask, ray, got spark"):
        KillTestSettings(engines=("spark",))
