"""The samples of a run: f(x) is exact at x, so a sample stays true for ever, and so do failures."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from phenes.adaptive import tuning


def have_a_place(x: np.ndarray, failed: np.ndarray) -> bool:
    """Whether failures depend on x: they lie on one side (Hotelling's T^2), or rows cluster.

    They cluster if neighbours are of the same kind more often than by chance, values as well as
    failures: around a ball that works failures have all directions, and none is near another. Only
    the newest rows of x [n, d] are tested; a few failures are taken to depend on x.
    """
    x = x[-tuning.FAILURE_ROWS :]
    failed = failed[-tuning.FAILURE_ROWS :]
    bad = int(failed.sum())
    if bad <= tuning.FEW_FAILURES or failed.size - bad < tuning.FAILURE_NEIGHBOURS:
        return True
    return _shown(x, failed)


def may_be_anywhere(x: np.ndarray, failed: np.ndarray) -> bool:
    """Whether failures are so few that it is not shown whether they depend on x.

    `have_a_place` takes them to; what must hold by all that may be has to count them everywhere.
    """
    x = x[-tuning.FAILURE_ROWS :]
    failed = failed[-tuning.FAILURE_ROWS :]
    bad = int(failed.sum())
    if not 0 < bad <= tuning.FEW_FAILURES or failed.size - bad < tuning.FAILURE_NEIGHBOURS:
        return False
    return bad < 2 or not _shown(x, failed)


def _shown(x: np.ndarray, failed: np.ndarray) -> bool:
    """Whether failures lie on one side of x [n, d], or cluster, more than by chance."""
    z = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), tuning.TINY)
    return _on_one_side(z, failed) or clusters(z, failed)


def clusters(z: np.ndarray, failed: np.ndarray) -> bool:
    """Whether rows have fewer neighbours of the other kind than with labels in any order.

    The mean and the variance over all orders are exact (join counts, Cliff and Ord): in many
    coordinates a few rows in the middle are neighbours of most, and counting each time as a case of
    its own would find clusters among failures at random.
    """
    n, neighbours = failed.size, tuning.FAILURE_NEIGHBOURS
    apart = np.sum(z**2, axis=1) - 2 * z @ z.T
    np.fill_diagonal(apart, np.inf)
    nearest = np.argpartition(apart, neighbours, axis=1)[:, :neighbours]
    joined = np.zeros((n, n))
    np.put_along_axis(joined, nearest, 1.0, axis=1)
    joined += joined.T
    mixed = float(joined[failed][:, ~failed].sum())
    bad, good = int(failed.sum()), int(n - failed.sum())
    whole, squares = float(joined.sum()), float(np.sum(joined**2))
    degrees = float(np.sum(joined.sum(axis=1) ** 2))
    pairs = bad * good / (n * (n - 1))
    fours = pairs * (bad - 1) * (good - 1) / (2 * math.comb(n - 2, 2))
    mean = whole * pairs
    second = degrees * pairs + (whole**2 + 2 * (squares - 2 * degrees)) * fours
    variance = max(second - mean**2, 0.0)
    return mean - mixed > tuning.FAILURE_SURE * math.sqrt(variance)


def _on_one_side(z: np.ndarray, failed: np.ndarray) -> bool:
    """Whether the means of failures and of other rows differ significantly (Hotelling's T^2)."""
    n, d = z.shape
    if n < 2 * d + tuning.FEW_FAILURES:
        return False
    apart: np.ndarray = z[failed].mean(axis=0) - z[~failed].mean(axis=0)
    inside = z - z[~failed].mean(axis=0)
    inside[failed] = z[failed] - z[failed].mean(axis=0)
    within = inside.T @ inside / (n - 2)
    solved = cast("np.ndarray", np.linalg.lstsq(within, apart, rcond=None)[0])
    squared = apart @ solved * failed.mean() * (1 - failed.mean()) * n
    largest = d + 2 * tuning.FAILURE_SURE * np.sqrt(2 * d)
    return bool(squared * (n - d - 1) / (n - 2) > largest)


@dataclass
class Archive:
    """Realised x and their values, oldest first; at least the newest `capacity` rows.

    The value is NaN where f failed. Where a merit stands for f, `told` is what it was made of.
    """

    dim: int
    capacity: int
    count: int = 0  # rows in use
    total: int = 0  # rows ever added
    x: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    f: np.ndarray = field(default_factory=lambda: np.empty(0))
    told: np.ndarray | None = None  # None: f itself
    _judged: int = -1  # rows ever added when `walled` was last looked at
    _walled: bool = True

    def __post_init__(self) -> None:
        self.x = self.x.reshape(-1, self.dim)

    def add(self, x: np.ndarray, f: np.ndarray, told: np.ndarray | None = None) -> None:
        """Rows whose x is known in every coordinate. told: what f was made of, always or never."""
        good = np.all(np.isfinite(x), axis=1)
        x = x[good]
        f = np.where(np.isfinite(f), f, np.nan)[good]
        if told is not None and f.size:
            kept = told[:0] if self.told is None else self.told[-self.count :]
            if kept.shape[1:] != told.shape[1:]:  # nothing but failures, of which less was told
                kept = np.full((len(kept), *told.shape[1:]), np.nan)
            self.told = np.concatenate([kept, told[good]])
        if f.size == 0:
            return
        if self.count + f.size > self.f.size:
            self._make_room(f.size)
        self.x[self.count : self.count + f.size] = x
        self.f[self.count : self.count + f.size] = f
        self.count += f.size
        self.total += f.size

    def _make_room(self, more: int) -> None:
        """Doubles the arrays, or forgets what is older than the newest `capacity` rows."""
        kept = min(self.count, self.capacity)
        rows = max(2 * kept, kept + more, tuning.FIRST_ROOM)
        x = np.empty((rows, self.dim))
        f = np.empty(rows)
        if kept:
            x[:kept] = self.x[self.count - kept : self.count]
            f[:kept] = self.f[self.count - kept : self.count]
        self.x = x
        self.f = f
        self.count = kept

    def revalue(self, merit: Callable[[np.ndarray], np.ndarray]) -> None:
        """Makes all values anew from what they were made of."""
        if self.told is not None:
            f = merit(self.told[-self.count :])
            self.f[: self.count] = np.where(np.isfinite(f), f, np.nan)

    def newest(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The newest n rows, oldest first; where f failed, the worst value that is kept.

        Fewer if there are no more. Not the worst of these n: next to a wall all values are alike,
        and failing would cost nothing. Failures that happen anywhere say nothing of x and are left
        out. No rows if f always failed.
        """
        kept = self.f[: self.count]
        good = np.isfinite(kept)
        if good.all() or (good.any() and self.walled):
            x = self.x[max(0, self.count - n) : self.count]
            f = self.raw(n)
            return (x, f) if good.all() else (x, np.where(np.isnan(f), kept[good].max(), f))
        rows = np.flatnonzero(good)[-n:]
        return self.x[rows], kept[rows]

    @property
    def walled(self) -> bool:
        """Whether failures depend on x; if they do not, they say nothing of x."""
        if self._judged != self.total:
            self._judged = self.total
            self._walled = have_a_place(self.x[: self.count], np.isnan(self.f[: self.count]))
        return self._walled

    def raw(self, n: int) -> np.ndarray:
        """The newest n values, NaN where f failed."""
        return self.f[max(0, self.count - n) : self.count]

    @property
    def valued(self) -> bool:
        """Whether any row that is kept has a value."""
        return bool(np.isfinite(self.f[: self.count]).any())

    def best(self) -> tuple[np.ndarray, float] | None:
        """The best value that is kept, and where: of several the one in their midst."""
        if not self.valued:
            return None
        f = self.f[: self.count]
        value = float(np.nanmin(f))
        x = self.x[: self.count][f == value]
        apart = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), tuning.TINY)
        return x[np.argmin(np.sum(apart**2, axis=1))], value
