"""What people evaluate, and what goes wrong with it. Each call leaves a line in a file, so that
calls can be counted across processes.
"""

import ctypes
import os
import signal
import time
from pathlib import Path

import numpy as np


class Stubborn(Exception):
    """Can be pickled, and not unpickled: the constructor wants two arguments, and pickle gives it
    one.
    """

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


def note(log: Path, what: str) -> None:
    """Appends of a line are atomic."""
    with open(log, "a") as file:
        file.write(what + "\n")


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


class Logged:
    """Sum of squares, with a line when it starts and one when it ends."""

    def __init__(self, log, seconds: float = 0.0):
        self.log, self.seconds = Path(log), seconds

    def __call__(self, x):
        name = np.asarray(x).tobytes().hex()
        note(self.log, f"start {os.getpid()} {name}")
        time.sleep(self.seconds)
        note(self.log, f"end {os.getpid()} {name}")
        return float(np.sum(x**2))


class HoldsTheLock(Logged):
    """Sleeps in C without letting go of Python's lock: no other thread of its process runs."""

    def __call__(self, x):
        note(self.log, f"start {os.getpid()} {x[0]}")
        ctypes.PyDLL(None).usleep(int(1e6 * self.seconds))


class DiesAt:
    """Kills its own process where x[0] is above a bound: at the first call there, or at each."""

    def __init__(self, log, always: bool = False):
        self.log, self.always = Path(log), always

    def __call__(self, x):
        name = f"{x[0]:.17g}"
        before = lines(self.log)
        note(self.log, name)
        if x[0] > 1 and (self.always or name not in before):
            os.kill(os.getpid(), signal.SIGKILL)
        return float(x[0])


def wrong_in_many_ways(x):
    kinds = {
        1: lambda: 1 / 0,
        2: lambda: "text",
        3: lambda: [1.0, 2.0],
        4: lambda: None,
        5: lambda: exit(3),
        6: lambda: np.inf,
    }
    if x[0] == 7:
        raise Stubborn("a", "b")
    if x[0] == 8:
        raise Unprintable
    return kinds.get(int(x[0]), lambda: float(x[0]))()


def sleeps(x):
    time.sleep(float(x[0]))
    return float(x[0])


def never_returns(x):
    """Catches its own interruption: only the end of the process ends it."""
    while x[0] > 1:
        try:
            time.sleep(0.01)
        except BaseException:
            continue
    time.sleep(float(x[0]))
    return float(x[0])


def collect(evaluate, points, during=lambda count: None):
    """{index: outcome} of all points, in the order in which they came."""
    pool, got = evaluate.open(), {}
    for i, point in enumerate(np.atleast_2d(points)):
        pool.send(i, np.asarray(point, float))
    while len(pool):
        for i, outcome in pool.take():
            assert i not in got, "counted twice"
            got[i] = outcome
            during(len(got))
    return got


def column(*values):
    return np.array(values, float)[:, None]
