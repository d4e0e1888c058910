"""The same promises on a real Dask cluster of this machine."""

import os
import signal
import time

import jax
import numpy as np
import pytest

from phenes.execution import Evaluate
from phenes.execution.affinity import numbered_workers
from phenes.rl import train
from tests.execution.clusters import dask_client
from tests.execution.objectives import (
    DiesAt,
    Logged,
    collect,
    column,
    lines,
    sleeps,
    wrong_in_many_ways,
)
from tests.execution.test_affinity import hold


@pytest.fixture(scope="module")
def client():
    with dask_client() as client:
        yield client


def test_values_and_failures(client):
    got = collect(Evaluate(wrong_in_many_ways, workers=client), column(*range(9)))
    assert got[0].value == 0.0
    assert got[7].error == "Stubborn: a and b"
    assert [np.isnan(got[i].value) for i in range(1, 6)] == [True] * 5


def test_equal_points_are_different_evaluations(client):
    """Dask takes equal calls for one: a function with noise of its own would give the same value
    again and again.
    """
    rng_by_process = "lambda x: __import__('random').random()"
    got = collect(Evaluate(eval(rng_by_process), workers=client), np.zeros((6, 2)))
    assert len({outcome.value for outcome in got.values()}) == 6


def test_by_address(client):
    address = client.scheduler.address.removeprefix("tcp://")
    evaluate = Evaluate(lambda x: float(x[0]), workers=f"dask://{address}")
    got = collect(evaluate, column(1, 2, 3))
    assert [got[i].value for i in range(3)] == [1, 2, 3]
    evaluate.close()
    assert evaluate.backend.client.status == "closed"
    assert client.status == "running"


@pytest.mark.machine
def test_a_killed_worker_costs_nothing_but_time(client, tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log"), workers=client), column(0.1, 0.2, 1.5, 0.3, 0.4, 0.5)
    )
    assert [got[i].value for i in range(6)] == [0.1, 0.2, 1.5, 0.3, 0.4, 0.5]
    assert lines(tmp_path / "log").count("1.5") == 2


@pytest.mark.machine
def test_what_came_back_is_never_evaluated_again(client, tmp_path):
    log, returned = tmp_path / "log", []
    points = np.random.default_rng(0).normal(size=(16, 2))

    def during(count):
        returned.append(count)
        if count == 6:
            os.kill(int(lines(log)[-1].split()[1]), signal.SIGKILL)

    got = collect(Evaluate(Logged(log, 0.02), workers=client), points, during)
    np.testing.assert_array_equal(
        [got[i].value for i in range(16)], [float(np.sum(p**2)) for p in points]
    )
    ends = [line.split()[2] for line in lines(log) if line.startswith("end")]
    assert len(ends) - len(set(ends)) <= 2, (
        "at most what the dead worker had finished and not yet handed over"
    )


@pytest.mark.machine
def test_an_experiment_is_made_once(client, tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log"), workers=client, max_attempts=1),
        column(1.5, 0.2, 0.3, 0.4),
    )
    assert got[0].error == "WorkerLost: the worker died during this evaluation"
    made = lines(tmp_path / "log")
    assert len(made) == len(set(made))
    assert [got[i].value for i in (1, 2, 3)] == [
        0.2,
        0.3,
        0.4,
    ], "a worker that dies takes nobody else with it"


@pytest.mark.tier("runs")
@pytest.mark.machine
def test_numbered_workers(client):
    # those that other tests killed take a moment to come back
    client.wait_for_workers(2, timeout=60)
    hold(numbered_workers(client))


@pytest.mark.tier("runs")
@pytest.mark.machine
def test_a_time_out(client):
    got = collect(Evaluate(sleeps, workers=client, timeout=2.0), column(0.0, 6.0, 0.01, 0.02))
    assert "could not be interrupted" in got[1].error
    assert [got[i].value for i in (0, 2, 3)] == [0.0, 0.01, 0.02]


@pytest.mark.tier("runs")
@pytest.mark.machine
def test_one_that_kills_every_worker_of_a_cluster_has_failed(tmp_path):
    """For others nobody waits if the cluster gives dead workers up."""
    import dask

    gives_up = {"distributed.deploy.lost-worker-timeout": "1ms"}
    with dask_client(workers=1) as client, dask.config.set(gives_up):
        begin = time.monotonic()
        outcome = collect(Evaluate(DiesAt(tmp_path / "log", True), workers=client), column(2.0))[0]
        assert outcome.error.startswith("WorkerLost: the worker died during this evaluation, and")
        pool = Evaluate(lambda x: float(x[0]), workers=client).open()
        pool.send(0, np.ones(1))
        with pytest.raises(RuntimeError, match="all workers of the cluster have died"):
            pool.take()
        assert time.monotonic() - begin < 60


@pytest.mark.tier("runs")
def test_no_scheduler_there(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("phenes.execution.dask.CONNECT", 1)
    with pytest.raises(ValueError, match=r"there is no Dask scheduler at 127\.0\.0\.1:9"):
        Evaluate(sleeps, workers="dask://127.0.0.1:9")


@pytest.mark.tier("runs")
def test_a_policy_is_learnt_as_in_one_process(client):
    small = {
        "seed": 3,
        "generations": 2,
        "popsize": 4,
        "hidden": (4,),
        "options": {"max_episode_steps": 20},
        "target": None,
    }
    with jax.numpy_dtype_promotion("standard"):  # inside optax.adam a count meets a rate
        alone, together = (
            train("InvertedPendulum-v5", workers=workers, **small) for workers in (None, client)
        )
    np.testing.assert_allclose(together.theta, alone.theta, rtol=1e-9, atol=1e-12)
    assert np.all(alone.curve.best > alone.curve.mean), (
        "returns that are all equal would say nothing"
    )
