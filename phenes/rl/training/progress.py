"""A line that says how a training goes: in a terminal or a notebook, on stderr."""

import contextlib
import sys
from collections.abc import Generator
from typing import TypeAlias

import numpy as np

from phenes import _validate
from phenes.rl.curve import Curve
from phenes.rl.training.loop import Progress
from phenes.watch.bar import bar

Wanted: TypeAlias = bool | Progress | None
RECENT = 10  # generations over which speed and signal are averaged


def check(wanted: Wanted) -> None:
    """Refuse what is neither True, False, None nor a function."""
    if wanted is None or isinstance(wanted, bool | np.bool_) or callable(wanted):
        return
    raise ValueError(
        "progress must be True, False, None or a function progress(done, total, curve), got"
        f" {_validate.quote(wanted)}"
    )


def silent(done: int, total: int, curve: Curve) -> None:
    """No progress is shown."""


def text(name: str, curve: Curve, popsize: int) -> str:
    """Return of population and mean policy, episodes, steps a second, share of signal."""
    if not curve.generations:
        return name
    parts = [f"{name}  return {curve.mean[-1]:.4g}"]
    if curve.at.size:
        parts[0] += f", at its best {curve.deterministic[-1]:.4g}"
    parts.append(f"{curve.generations * popsize:,} episodes")
    parts.append(f"{speed(curve):,.0f} steps/s")
    signal = curve.signal(RECENT)[-1]
    if np.isfinite(signal):
        parts.append(f"signal {max(signal, 0.0):.2f}")
    return "  ".join(parts)


def speed(curve: Curve) -> float:
    """Steps a second, over the last generations."""
    seconds = np.concatenate([np.zeros(1), curve.seconds])[-RECENT - 1 :]
    taken = float(seconds[-1] - seconds[0])
    return float(curve.steps[-RECENT:].sum()) / taken if taken > 0 else 0.0


@contextlib.contextmanager
def shown(wanted: Wanted, name: str, popsize: int) -> Generator[Progress]:
    """What to call after every few generations.

    None: a line, if the output is a terminal or a notebook.
    """
    if callable(wanted):
        yield wanted
        return
    if wanted is None:
        wanted = sys.stderr.isatty() or _in_notebook()
    if not wanted:
        yield silent
        return
    with bar(name) as show:
        yield lambda done, total, curve: show(done, total, text(name, curve, popsize))


def _in_notebook() -> bool:
    """Whether IPython runs with a kernel; without importing it to ask."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
