"""Processes of this machine and Executors of the caller's: the dead are replaced.

Nothing is evaluated twice. Time-outs and kills are real, hence the marker.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from phenes.execution import Evaluate, backends
from tests.execution.objectives import (
    DiesAt,
    Logged,
    collect,
    column,
    lines,
    never_returns,
    sleeps,
)


@pytest.mark.machine
def test_lambdas_travel_and_values_come_as_they_are_finished():
    order = []
    evaluate = Evaluate(lambda x: sleeps(x), workers=2)
    pool = evaluate.open()
    for i, seconds in enumerate([0.6, 0.01, 0.01, 0.01]):
        pool.send(i, np.array([seconds]))
    while len(pool):
        order += [i for i, _ in pool.take()]
    assert order[-1] == 0, "the slow one holds no other back"


@pytest.mark.machine
def test_a_killed_worker_costs_nothing_but_time(tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log"), workers=2), column(0.1, 0.2, 1.5, 0.3, 0.4, 0.5)
    )
    assert [got[i].value for i in range(6)] == [0.1, 0.2, 1.5, 0.3, 0.4, 0.5]


@pytest.mark.machine
def test_one_that_kills_every_worker_fails_and_the_innocent_do_not(tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log", always=True), workers=2),
        column(0.1, 1.5, 0.2, 0.3, 1.6, 0.4),
    )
    assert [got[i].value for i in (0, 2, 3, 5)] == [0.1, 0.2, 0.3, 0.4]
    for i, name in ((1, "1.5"), (4, "1.6000000000000001")):
        assert got[i].error == "WorkerLost: the worker died 3 times during this evaluation"
        # the whole pool dies with a worker, and what was about to begin with it
        assert 1 <= lines(tmp_path / "log").count(name) <= 3


@pytest.mark.machine
def test_an_experiment_is_made_once(tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log"), workers=2, max_attempts=1), column(1.5, 0.2, 0.3, 0.4)
    )
    assert got[0].error == "WorkerLost: the worker died during this evaluation"
    made = lines(tmp_path / "log")
    assert len(made) == len(set(made)), "nothing is made twice, not even what died with the pool"
    assert all(np.isnan(outcome.value) == bool(outcome.error) for outcome in got.values())


@pytest.mark.machine
def test_what_came_back_is_never_evaluated_again(tmp_path):
    """A worker is killed from outside in the middle: what was finished by then has one end in the
    log.
    """
    log, finished, victims = tmp_path / "log", [], []

    def during(count):
        if count == 8:
            finished.extend(line.split()[2] for line in lines(log) if line.startswith("end"))
            victims.append(
                int(
                    next(line for line in reversed(lines(log)) if line.startswith("start")).split()[
                        1
                    ]
                )
            )
            os.kill(victims[0], signal.SIGKILL)

    points = np.random.default_rng(0).normal(size=(24, 3))
    got = collect(Evaluate(Logged(log, 0.02), workers=2), points, during)
    np.testing.assert_array_equal(
        [got[i].value for i in range(24)], [float(np.sum(p**2)) for p in points]
    )
    ends = [line.split()[2] for line in lines(log) if line.startswith("end")]
    # the last two may have been on their way
    assert all(ends.count(name) == 1 for name in finished[:6])


@pytest.mark.machine
def test_a_time_out_here_and_on_processes():
    for workers in (None, 2):
        # long enough for the quick ones on a busy machine
        evaluate = Evaluate(sleeps, workers=workers, timeout=2.0)
        got = collect(evaluate, column(0.0, 30.0, 0.01))
        assert got[1].error == "TimeoutError: no value within 2 s"
        assert (got[0].value, got[2].value) == (0.0, 0.01)


@pytest.mark.machine
def test_one_that_cannot_be_interrupted_is_given_up(monkeypatch):
    """Its neighbour, which is ended with it in the middle of an evaluation, is not: that one is
    made again.
    """
    monkeypatch.setattr(backends.ProcessBackend, "patience", 0.5)
    collect(Evaluate(sleeps, workers=2), column(0, 0, 0, 0))  # both processes are there
    got = collect(Evaluate(never_returns, workers=2, timeout=2.0), column(2.0, *[0.3] * 12))
    assert "could not be interrupted" in got[0].error
    assert [got[i].value for i in range(1, 13)] == [0.3] * 12


@pytest.mark.machine
def test_a_thread_that_is_given_up_keeps_its_place():
    with ThreadPoolExecutor(2) as threads:
        got = collect(Evaluate(sleeps, workers=threads, timeout=1.0), column(4.0, 0.0, 0.01, 0.02))
    assert "could not be interrupted" in got[0].error
    assert [got[i].value for i in (1, 2, 3)] == [0.0, 0.01, 0.02]


@pytest.mark.machine
def test_a_given_pool_that_broke_says_so(tmp_path):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        evaluate = Evaluate(DiesAt(tmp_path / "log"), workers=pool)
        with pytest.raises(RuntimeError, match="the Executor given as workers is broken"):
            collect(evaluate, column(1.5, 0.1))


HOLDS = pytest.param(
    "HoldsTheLock",
    marks=pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux kills them"),
)


@pytest.mark.machine
@pytest.mark.parametrize("f", ["Logged", HOLDS])
def test_workers_end_when_the_program_is_killed(tmp_path, f):
    code = (
        "import sys; from phenes.execution import Evaluate; from tests.execution.objectives import"
        " *\n"
    )
    code += f"collect(Evaluate({f}(sys.argv[1], 30.0), workers=2), column(1, 2, 3))"
    log = tmp_path / "log"
    program = subprocess.Popen([sys.executable, "-c", code, str(log)])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(lines(log)) < 2:
        time.sleep(0.05)
    workers = [int(line.split()[1]) for line in lines(log)]
    assert len(workers) == 2
    os.kill(program.pid, signal.SIGKILL)
    program.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(map(alive, workers)):
        time.sleep(0.05)
    assert not any(map(alive, workers))


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split()[2] != "Z"
    except FileNotFoundError:
        return False
