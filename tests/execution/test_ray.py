"""The same promises on a real Ray of this machine. `make test` has them on Dask and processes."""

import numpy as np
import pytest

from phenes.execution import Evaluate
from phenes.execution.affinity import numbered_workers
from tests.execution.clusters import ray_cluster
from tests.execution.objectives import (
    DiesAt,
    collect,
    column,
    lines,
    sleeps,
    wrong_in_many_ways,
)
from tests.execution.test_affinity import hold

pytestmark = pytest.mark.tier("runs")


@pytest.fixture(scope="module")
def cluster():
    with ray_cluster() as ray:
        yield ray


def test_values_and_failures(cluster):
    got = collect(Evaluate(wrong_in_many_ways, workers="ray"), column(*range(9)))
    assert got[0].value == 0.0
    assert got[7].error == "Stubborn: a and b"
    assert [np.isnan(got[i].value) for i in range(1, 6)] == [True] * 5


@pytest.mark.machine
def test_a_killed_worker_costs_nothing_but_time(cluster, tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log"), workers="ray"), column(0.1, 0.2, 1.5, 0.3, 0.4, 0.5)
    )
    assert [got[i].value for i in range(6)] == [0.1, 0.2, 1.5, 0.3, 0.4, 0.5]
    assert lines(tmp_path / "log").count("1.5") == 2


@pytest.mark.machine
def test_an_experiment_is_made_once(cluster, tmp_path):
    got = collect(
        Evaluate(DiesAt(tmp_path / "log"), workers="ray", max_attempts=1),
        column(1.5, 0.2, 0.3, 0.4),
    )
    assert got[0].error == "WorkerLost: the worker died during this evaluation"
    assert lines(tmp_path / "log").count("1.5") == 1
    assert [got[i].value for i in (1, 2, 3)] == [0.2, 0.3, 0.4]


@pytest.mark.machine
def test_numbered_workers(cluster):
    several = numbered_workers("ray")
    hold(several)
    several.close()


@pytest.mark.machine
def test_a_time_out(cluster):
    got = collect(Evaluate(sleeps, workers="ray", timeout=2.0), column(0.0, 30.0, 0.01))
    assert got[1].error == "TimeoutError: no value within 2 s"
    assert (got[0].value, got[2].value) == (0.0, 0.01)
