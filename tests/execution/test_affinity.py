"""Workers that are spoken to one by one: processes of this machine. Dask and Ray have theirs beside
their other tests.
"""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from phenes.execution.affinity import CallerWorkers, NumberedWorkers, OwnProcesses, numbered_workers


def hold(several: NumberedWorkers) -> None:
    """Each number is one worker, and stays it; one that is killed is replaced, alone."""
    first = several.gather(os.getpid, [()] * 2)
    assert len(set(first)) == 2
    assert several.gather(os.getpid, [()] * 4) == first * 2
    os.kill(first[0], signal.SIGKILL)
    after = several.gather(os.getpid, [()] * 2)
    assert after[1] == first[1]
    assert after[0] != first[0]
    assert os.getpid() not in {*first, *after}


@pytest.fixture(scope="module")
def two():
    with OwnProcesses(2) as several:
        yield several
        several.close()


@pytest.mark.machine
def test_processes(two):
    hold(two)


def test_what_the_worker_raises_is_raised_here(two):
    with pytest.raises(ValueError, match="invalid literal") as error:
        two.gather(int, [("1",), ("one",)])
    assert "On the worker" in error.value.__notes__[0]
    assert two.submit(int, "ff", base=16).result() == 255


@pytest.mark.machine
def test_what_kills_every_worker_is_given_up(two):
    with pytest.raises(RuntimeError, match="workers died 4 times in a row"):
        two.gather(os._exit, [(1,)])
    assert list(two.map(int, ["2", "3", "4"])) == [2, 3, 4]


def test_what_may_be_given_as_workers():
    assert numbered_workers(1) is None
    with ThreadPoolExecutor(3) as pool:
        shared = numbered_workers(pool)
        assert isinstance(shared, CallerWorkers)
        assert len(shared) == 3
        assert numbered_workers(shared) is shared
    with pytest.raises(RuntimeError, match="workers died"):  # it has ended
        shared.gather(int, [("1",)])
    with pytest.raises(ValueError, match="workers must be"):
        numbered_workers(0)
