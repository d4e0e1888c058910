"""The line that says how a training goes: what it says, and who sees it."""

import io
import sys

import numpy as np
import pytest

from phenes.rl.curve import Curve
from phenes.rl.training import progress
from tests.rl.training.small import as_optax_needs_it, short, table  # noqa: F401


class Terminal(io.StringIO):
    def isatty(self):
        return True


def curve():
    n = 20
    per = np.arange(1.0, n + 1)
    none = np.zeros(n, int)
    return Curve(
        10 * per, 20 * per, np.full(n, 50), none, none, per, 4 * per, per / 2, [20], [321.0]
    )._replace(at=np.array([20]), deterministic=np.array([321.0]))


def test_the_line_has_return_episodes_speed_and_signal():
    said = progress.text("CartPole-v1", curve(), 6)
    assert said == (
        "CartPole-v1  return 200, at its best 321  120 episodes  100 steps/s  signal 0.25"
    )
    assert progress.text("CartPole-v1", Curve.start(), 6) == "CartPole-v1"


def test_a_table_has_no_signal():
    none = curve()._replace(second=np.full(20, np.nan))
    assert "signal" not in progress.text("FrozenLake-v1", none, 6)


@pytest.mark.parametrize("learn", [short, table])
def test_a_terminal_sees_it_unless_silenced(learn, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    learn()
    seen = sys.stderr.getvalue()
    assert " episodes " in seen
    assert "steps/s" in seen
    assert "left" in seen
    assert ("signal" in seen) == (learn is short)
    monkeypatch.setattr(sys, "stderr", Terminal())
    learn(progress=False)
    assert sys.stderr.getvalue() == ""


def test_a_log_sees_nothing_unless_it_wants_to(capfd, monkeypatch):
    short()
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    short(progress=True)
    assert "episodes" in sys.stderr.getvalue()


def test_a_notebook_sees_it(monkeypatch):
    class ZMQInteractiveShell:
        pass

    class IPython:
        @staticmethod
        def get_ipython():
            return ZMQInteractiveShell()

    seen = []

    class Line:
        def __init__(self, *_):
            pass

        def __enter__(self):
            return lambda *now: seen.append(now[0])

        def __exit__(self, *_):
            pass

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    monkeypatch.setattr(progress, "bar", Line)
    short()
    assert seen == [0, 5, 10]


def test_wrong_arguments():
    for learn in (short, table):
        with pytest.raises(ValueError, match="progress must be True, False, None or a function"):
            learn(progress="yes")
