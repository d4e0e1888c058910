"""The checkpoint of `minimize`: every evaluation as it came in, so that the same call goes on where
it was.

The search is deterministic given its seed and the order in which it was told. What is kept is
therefore the data alone, theta, x and f in the run record, and resuming is telling them again, at
the cost of the optimiser's own arithmetic. A generation is one part, in the place of the smaller
parts into which its evaluations went as they arrived.
"""

import contextlib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from phenes import store
from phenes.optimizer.evaluations import Row, from_arrays, to_arrays
from phenes.optimizer.optimizer import Optimizer

EXPERIMENT = "minimize"
NOW = "now"  # the key of the part that says what is under way
# seconds of cheap evaluations that may be lost, and made again, rather than written one by one
OFTEN = 0.01


class Checkpoint:
    """An open checkpoint; None as path keeps nothing.

    prompt: write each evaluation as it comes, for those that are dear or come from elsewhere. once:
    note what is sent before it goes, so that an experiment which was under way when this process
    was killed is not made again.
    """

    def __init__(
        self,
        path: str | Path | None,
        settings: dict[str, Any],
        resume: bool = True,
        prompt: bool = True,
        once: bool = False,
    ):
        self.path, self.prompt, self.once = path, prompt, once
        self.store = None if path is None else store.Store(path)
        try:
            self.run = (
                None if self.store is None else self.store.begin(EXPERIMENT, settings, resume)
            )
        except BaseException:
            self.close()
            raise
        self.part = 0  # complete ones
        self.rows: list[Row] = []  # of the part that is not complete
        self.unwritten: list[Row] = []
        self.sent: list[int] = []
        self.keys: list[str] = []  # of the smaller parts that hold the rows
        self.done = self.failed = 0  # evaluations
        # of this call, and of the one that wrote `rows`: what is asked near the end depends on it
        self.budget = self.budget_then = 0
        self.started = self.written = time.perf_counter()

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        with contextlib.suppress(ValueError):  # if the file is the trouble, that was said already
            if kind is not None:
                self._write_small()
                if issubclass(kind, Exception):
                    self.finish("failed")
        self.close()

    def close(self) -> None:
        if self.store is not None:
            self.store.close()

    def replay(self) -> Iterator[tuple[list[Row], int]]:
        """The complete parts on file, each with the budget it was asked with; then `rows` holds
        what is there of the next.
        """
        if self.run is None:
            return
        keys = sorted(self.run.keys() - {NOW})
        for key in keys:
            if "/" not in key:
                arrays = self.run[key]
                rows = from_arrays(arrays)
                self._count(rows)
                self.part += 1
                yield rows, int(arrays.get("budget", self.budget))
        self.keys = [key for key in keys if key.startswith(f"{self.part:08d}/")]
        for key in self.keys:
            if key.endswith("/sent"):
                self.sent = self.run[key]["index"].tolist()
            else:
                self.rows += from_arrays(self.run[key])
        self._count(self.rows)
        if NOW in self.run:
            self.budget_then = int(self.run[NOW].get("budget", self.budget))

    def foreign(self) -> ValueError:
        return ValueError(
            f"{self.path} was written by another version or for another problem: its theta are not"
            " those asked now"
        )

    def sending(self, index: int) -> None:
        if self.run is not None and self.once:
            self.sent.append(index)
            self._write({"sent": {"index": np.array(self.sent)}})

    def arrived(self, rows: list[Row], flying: int) -> None:
        """Evaluations that came in; `flying` are still under way."""
        self.rows += rows
        self._count(rows)
        if self.run is not None:
            self.unwritten += rows
            if self.prompt or time.perf_counter() - self.written > OFTEN:
                self._write_small(flying)

    def complete(self, opt: Optimizer, flying: int = 0) -> None:
        """The rows so far were told and the optimiser has moved."""
        if self.run is not None:
            seconds, self.started = time.perf_counter() - self.started, time.perf_counter()
            parts = {
                f"{self.part:08d}": to_arrays(self.rows) | summary(opt),
                NOW: self._now(flying),
            }
            told = {row.index for row in self.rows}
            self.sent = [index for index in self.sent if index not in told]
            if self.sent:  # without generations some are still under way
                parts[f"{self.part + 1:08d}/sent"] = {"index": np.array(self.sent)}
            self.run.write(parts, seconds, drop=self.keys)
            self.written = time.perf_counter()
        self.part += 1
        self.rows, self.unwritten = [], []
        self.keys = [f"{self.part:08d}/sent"] if self.sent else []

    def finish(self, status: str = "done") -> None:
        if self.run is not None:
            self.run.finish(status)

    def _write_small(self, flying: int = 0) -> None:
        if self.run is not None and self.unwritten:
            self._write({f"{len(self.keys):06d}": to_arrays(self.unwritten)}, self._now(flying))
            self.unwritten = []

    def _write(
        self, parts: dict[str, dict[str, np.ndarray]], now: dict[str, int] | None = None
    ) -> None:
        assert self.run is not None
        named = {f"{self.part:08d}/{key}": arrays for key, arrays in parts.items()}
        self.run.write({**named, NOW: now} if now else named, time.perf_counter() - self.written)
        self.keys += [key for key in named if key not in self.keys]
        self.written = time.perf_counter()

    def _count(self, rows: list[Row]) -> None:
        self.done += len(rows)
        self.failed += sum(not np.isfinite(row.f) for row in rows)

    def _now(self, flying: int) -> dict[str, int]:
        """For those who watch."""
        return {"done": self.done, "failed": self.failed, "flying": flying, "budget": self.budget}


def summary(opt: Optimizer) -> dict[str, Any]:
    """The state in a few numbers."""
    fun, se = opt.estimate
    numbers = {
        "nfev": opt.nfev,
        "budget": opt.budget,
        "fun": fun,
        "fun_se": se,
        "mean": opt.mean,
        "spread": opt.spread,
        "noise": opt.noise_std,
    }
    return {**numbers, "phase": opt.phase}


def settings(
    x0: Any,
    sigma0: Any,
    noise: Any,
    bounds: Any,
    popsize: int | None,
    verify: int | None,
    seed: int,
    maximize: bool,
) -> dict[str, Any]:
    """What must be the same for a run to be gone on with; a longer budget may follow a shorter
    one.
    """
    return {
        "x0": np.asarray(x0, float).ravel().tolist(),
        "sigma0": np.asarray(sigma0, float).ravel().tolist(),
        "noise": _describe(noise),
        "bounds": repr(bounds),
        "popsize": popsize,
        "verify": verify,
        "seed": seed,
        "maximize": maximize,
    }


def _describe(noise: Any) -> str:
    """Short, and different for different numbers."""
    text = (
        repr(noise)
        if noise is None or isinstance(noise, str | float | int) or hasattr(noise, "sample")
        else repr(np.asarray(noise).tolist())
    )
    return (
        text
        if len(text) <= 80
        else f"{text[:60]}... {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    )
