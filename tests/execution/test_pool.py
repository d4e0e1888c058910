"""Who is sent again, who is charged, who goes alone: on a backend whose workers die on command."""

from concurrent.futures import BrokenExecutor, Future
from types import SimpleNamespace

import numpy as np
import pytest

from phenes.execution import pool as module
from phenes.execution.backends import Backend
from phenes.execution.pool import WorkerPool
from phenes.execution.task import Outcome


class Clock:
    """Time that passes when it is looked at, and while workers are started."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        self.now += 0.01
        return self.now


class Commanded(Backend):
    """Workers that do what the point says: positive ones are values, others are done by `look`."""

    patience = 0.0

    def __init__(self, clock, slots=2):
        self.clock, self._slots, self.flying, self.log = clock, slots, {}, []

    @property
    def slots(self):
        return self._slots

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_running_or_notify_cancel()
        self.flying[future] = args[0][0]
        self.log.append(args[0][0])
        self.clock.now += 0.3
        return future

    def look(self):
        self.act()

    def act(self):
        raise NotImplementedError

    def finish(self, future):
        value = self.flying.pop(future)
        future.set_result(Outcome(None, value))

    def kill(self):
        """The whole pool dies, the innocent with the guilty."""
        for future in list(self.flying):
            self.flying.pop(future)
            future.set_exception(BrokenExecutor())

    def give_up(self, futures):
        for future in futures:
            self.flying.pop(future)
        self.kill()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock.monotonic))
    monkeypatch.setattr(module, "POLL", 0.0)
    return clock


def everything(pool, *values):
    for tag, value in enumerate(values):
        pool.send(tag, np.array([value]))
    got = {}
    while len(pool):
        got |= dict(pool.take())
    return [got[tag] for tag in range(len(values))]


def test_the_last_attempt_of_a_suspect_is_made_alone(clock):
    """-1 kills its pool whenever it runs: the third time nobody else is there to die with it."""
    companions = []

    class Killed(Commanded):
        def act(self):
            if -1 in self.flying.values():
                companions.append(len(self.flying) - 1)
                self.kill()
            for future in list(self.flying):
                self.finish(future)

    got = everything(WorkerPool(Killed(clock), None, None, 3), -1, 1, 2, 3, 4, 5, 6)
    assert companions == [3, 3, 0]
    assert got[0].error == "WorkerLost: the worker died 3 times during this evaluation"
    assert [outcome.value for outcome in got[1:]] == [1, 2, 3, 4, 5, 6]


def test_who_is_ended_for_the_sake_of_another_is_not_charged(clock):
    """-1 and -2 hang, one after the other, and 5 is ended with each of them."""

    class Hanging(Commanded):
        def act(self):
            for future, value in list(self.flying.items()):
                if value > 0 and -1 not in self.log[-2:] and -2 not in self.flying.values():
                    self.finish(future)

    backend = Hanging(clock)
    got = everything(WorkerPool(backend, None, 1.0, 2), -1, 5, -2)
    assert [outcome.error[:12] for outcome in got] == ["TimeoutError", "", "TimeoutError"]
    assert got[1].value == 5
    assert backend.log == [-1, 5, -2, 5, 5]


def test_what_must_not_be_made_twice_is_not_sent_again(clock):
    class Killed(Commanded):
        def act(self):
            self.kill()

    backend = Killed(clock)
    got = everything(WorkerPool(backend, None, None, 1), 1, 2, 3)
    assert {outcome.error for outcome in got} == {
        "WorkerLost: the worker died during this evaluation"
    }
    assert backend.log == [1, 2, 3]


def test_room_and_depth(clock):
    """A second task waits at each worker, unless its start must be known."""
    assert WorkerPool(Commanded(clock), None, None, 3).room == 4
    assert WorkerPool(Commanded(clock), None, 1.0, 3).room == 2
    assert WorkerPool(Commanded(clock), None, None, 1).room == 2


def test_a_cluster_without_workers_is_given_up(clock, monkeypatch):
    class Gone(Commanded):
        def act(self):
            self.clock.now += 50

    pool = WorkerPool(Gone(clock, slots=0), None, None, 3)
    pool.send(0, np.zeros(1))
    with pytest.raises(RuntimeError, match="no worker has been free for 120 seconds"):
        pool.take()
