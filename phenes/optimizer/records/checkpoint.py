"""The checkpoint of `minimize`: every evaluation, so that the same call goes on where it was.

The search is deterministic given its seed and the order in which it was told. What is kept is
therefore the data alone, theta, x and f in the run record, and resuming is telling them again, at
the cost of the optimiser's own arithmetic. Rows are first written as they arrive (keys
NNNNNNNN/KKKKKK, and NNNNNNNN/sent for points that were sent out) and merged into one part NNNNNNNN
when the generation is complete.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from phenes import _validate, store
from phenes._validate import FloatArray
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.records import identity
from phenes.optimizer.records.evaluations import Row, from_arrays, to_arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from phenes.constraints import Wanted
    from phenes.optimizer.options import Bounds, Noise
    from phenes.space import Space

EXPERIMENT = "minimize"
ANYWAY = "anyway"  # as `resume`: go on with another f
NOW = "now"  # the key of the part that says what is under way
# seconds between writes of cheap evaluations, which are repeated if they are lost
OFTEN = 0.01
# settings that may differ with resume="anyway": they say nothing of which theta are asked
OF_F = ("f", "realises", "vectorized")


@dataclass
class Part:
    """The generation that is not complete yet.

    rows: evaluations that came in, of which the first `stored` are on file. sent: numbers of points
    that were sent out, where that is noted. keys: parts on file that hold all this. budget: with
    which it was asked, if it was begun by another call.
    """

    number: int = 0
    rows: list[Row] = field(default_factory=list[Row])
    stored: int = 0
    sent: list[int] = field(default_factory=list[int])
    keys: list[str] = field(default_factory=list[str])
    budget: int | None = None

    def key(self, name: str) -> str:
        """The key of an incremental part of this generation."""
        return f"{self.number:08d}/{name}"

    def next(self) -> Part:
        """The next generation; some points that were sent may still be under way."""
        told = {row.index for row in self.rows}
        after = Part(self.number + 1, sent=[index for index in self.sent if index not in told])
        if after.sent:
            after.keys = [after.key("sent")]
        return after


class Checkpoint:
    """An open checkpoint; None as path keeps nothing.

    prompt: write each evaluation as it comes, for those that are dear or come from elsewhere. once:
    note what is sent before it goes, so that an experiment which was under way when this process
    was killed is not made again. resume: "anyway" goes on with another f too.
    """

    def __init__(
        self,
        path: str | Path | None,
        settings: dict[str, Any],
        budget: int,
        resume: bool | str = True,
        prompt: bool = True,
        once: bool = False,
    ):
        self.path, self.budget, self.prompt = path, budget, prompt
        self.once = once and path is not None
        self.part = Part()
        self.done = self.failed = 0  # evaluations
        self.store = None if path is None else store.Store(path)
        self.run: store.Run | None = None
        try:
            if self.store is not None:
                self.run = _begin(self.store, settings, resume)
        except BaseException:
            self.close()
            raise
        self.started = self.written = time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        with contextlib.suppress(ValueError):  # errors of the file were raised already
            if kind is not None:
                self._write_rows(0)
                if issubclass(kind, Exception):
                    self.finish("failed")
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self.store is not None:
            self.store.close()

    def replay(self) -> Iterator[tuple[list[Row], int]]:
        """The complete parts on file, each with the budget it was asked with.

        Then `part` holds what is on file of the next.
        """
        if self.run is None:
            return
        keys = sorted(self.run.keys() - {NOW})
        for key in keys:
            if "/" not in key:
                if key != f"{self.part.number:08d}":
                    raise self._damaged(f"part {key!r} follows {self.part.number} others")
                rows, budget = self._rows(key, self.run[key])
                self._count(rows)
                self.part = Part(self.part.number + 1)
                yield rows, budget
        self._read_incomplete(self.run, keys)

    def _rows(self, key: str, arrays: dict[str, NDArray[Any]]) -> tuple[list[Row], int]:
        """The rows of a part, and the budget with which it was asked."""
        try:
            return from_arrays(arrays), int(arrays.get("budget", self.budget))
        except (LookupError, TypeError, ValueError) as error:
            raise self._damaged(f"part {key!r} has no rows of evaluations: {error}") from error

    def _damaged(self, what: str) -> ValueError:
        return ValueError(f"{self.path} is damaged: {what}")

    def _read_incomplete(self, run: store.Run, keys: list[str]) -> None:
        part = self.part
        part.keys = [key for key in keys if key.startswith(part.key(""))]
        for key in part.keys:
            if key == part.key("sent"):
                part.sent = [int(index) for index in run[key].get("index", ())]
            else:
                part.rows += self._rows(key, run[key])[0]
        part.stored = len(part.rows)
        self._count(part.rows)
        if (part.rows or part.sent) and NOW in run:
            part.budget = int(run[NOW].get("budget", self.budget))

    def foreign(self) -> ValueError:
        """The error for a file whose theta are not those asked now."""
        return ValueError(
            f"{self.path} was written by another version or for another problem: its theta are not"
            " those asked now"
        )

    def sending(self, index: int) -> None:
        """Point `index` is about to be sent out."""
        if self.once:
            self.part.sent.append(index)
            self._write({"sent": {"index": np.array(self.part.sent)}})

    def arrived(self, rows: list[Row], flying: int) -> None:
        """Evaluations that came in; `flying` are still under way."""
        self.part.rows += rows
        self._count(rows)
        if self.prompt or time.perf_counter() - self.written > OFTEN:
            self._write_rows(flying)

    def complete(self, opt: Optimizer, flying: int = 0) -> None:
        """The rows so far were told and the optimiser has moved."""
        part, after = self.part, self.part.next()
        if self.run is not None:
            seconds, self.started = time.perf_counter() - self.started, time.perf_counter()
            parts: dict[str, dict[str, Any]] = {
                f"{part.number:08d}": to_arrays(part.rows) | summary(opt),
                NOW: self._now(flying),
            }
            if after.sent:
                parts[after.key("sent")] = {"index": np.array(after.sent)}
            self.run.write(parts, seconds, drop=part.keys)
            self.written = time.perf_counter()
        self.part = after

    def finish(self, status: str = "done") -> None:
        """Write the status of the run."""
        if self.run is not None:
            self.run.finish(status)

    def _write_rows(self, flying: int) -> None:
        """Writes the rows that are not on file yet."""
        part = self.part
        rows = part.rows[part.stored :]
        if self.run is not None and rows:
            self._write({f"{len(part.keys):06d}": to_arrays(rows)}, self._now(flying))
            part.stored = len(part.rows)

    def _write(self, parts: dict[str, dict[str, Any]], now: dict[str, int] | None = None) -> None:
        assert self.run is not None
        named = {self.part.key(name): arrays for name, arrays in parts.items()}
        extra = {} if now is None else {NOW: now}
        self.run.write(named | extra, time.perf_counter() - self.written)
        self.part.keys += [key for key in named if key not in self.part.keys]
        self.written = time.perf_counter()

    def _count(self, rows: list[Row]) -> None:
        self.done += len(rows)
        self.failed += sum(not math.isfinite(row.f) for row in rows)

    def _now(self, flying: int) -> dict[str, int]:
        """The progress, for `phenes watch`."""
        return {"done": self.done, "failed": self.failed, "flying": flying, "budget": self.budget}


def _begin(file: store.Store, settings: dict[str, Any], resume: bool | str) -> store.Run:
    """The run to go on with, or a new one."""
    try:
        may_differ = OF_F if resume == ANYWAY else ()
        return file.begin(EXPERIMENT, settings, bool(resume), may_differ)
    except store.OtherSettings as error:
        anyway = ""
        if set(error.names) <= set(OF_F):
            anyway = f"resume={ANYWAY!r} goes on with it all the same, "
        raise ValueError(f"{error}; {anyway}resume=False begins a new run") from None


def summary(opt: Optimizer) -> dict[str, Any]:
    """The state in a few numbers."""
    fun, se = opt.estimate
    return {
        "nfev": opt.nfev,
        "budget": opt.budget,
        "fun": fun,
        "fun_se": se,
        "mean": np.asarray(opt.mean),
        "spread": opt.spread,
        "noise": opt.noise_std,
        "phase": opt.phase,
        **dict(zip(("drawn", "lost"), opt.drawn, strict=True)),
    }


def settings(
    f: Callable[..., Any],
    x0: Any,
    sigma0: Any,
    noise: Noise,
    bounds: Bounds,
    *,
    popsize: int | None,
    verify: int | None,
    seed: int,
    maximize: bool,
    realises: bool,
    vectorized: bool,
    space: Space | None = None,
    constraints: Wanted | None = None,
) -> dict[str, Any]:
    """Settings that must mean the same for a run to be resumed; the budget may change."""
    return {
        **({} if constraints is None else {"constraints": constraints.described()}),
        "f": identity.function(f),
        "realises": bool(realises),
        "vectorized": bool(vectorized),
        **(_vectors(x0, sigma0, noise, bounds) if space is None else _named(space, x0)),
        "popsize": None if popsize is None else int(popsize),
        "verify": None if verify is None else int(verify),
        "seed": int(seed),
        "maximize": bool(maximize),
    }


def _vectors(x0: ArrayLike, sigma0: ArrayLike, noise: Noise, bounds: Bounds) -> dict[str, Any]:
    """What is searched: plain vectors."""
    start, width = _validate.start(x0, sigma0)
    return {
        "x0": start.tolist(),
        "sigma0": _compact(width),
        "noise": _noise(noise, start.size),
        "bounds": _bounds(bounds, start),
    }


def _named(space: Space, x0: Any) -> dict[str, Any]:
    """What is searched: named parameters, as data from which `phenes watch` has names and units."""
    return {
        "space": space.described(),
        "x0": dict(space.decode(space.start(x0))),
        "noise": _noise(space.noise, space.dim),
    }


def _compact(array: FloatArray) -> float | list[float]:
    """One number if all are equal."""
    return float(array[0]) if np.all(array == array[0]) else array.tolist()


def _noise(noise: Noise, dim: int) -> Any:
    """Numbers as numbers, None for no noise; laws by their class and what they are made of."""
    plain = noise is None or isinstance(noise, str)
    if plain or hasattr(noise, "sample") or hasattr(noise, "matrix"):
        return identity.describe(noise)
    array = _validate.numbers("noise", noise)
    if not array.any():
        return None
    return identity.describe(_compact(np.broadcast_to(array, (dim,))) if array.ndim < 2 else array)


def _bounds(bounds: Bounds, x0: FloatArray) -> list[list[float | None]] | None:
    """Lower and upper bounds, None where there is none."""
    sides = _validate.bounds(bounds, x0)
    if not np.isfinite(sides).any():
        return None
    return [[value if np.isfinite(value) else None for value in side.tolist()] for side in sides]
