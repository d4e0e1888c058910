"""The samples of a run: f(x) is exact at x, so a sample stays true for ever, whatever theta was
meant to be. So do failures.
"""

from dataclasses import dataclass, field

import numpy as np

NEIGHBOURS = 3  # of a failure, by which is judged whether failures have a place
LOOKED_AT = 400  # newest rows for that
FEW = 5  # failures up to which they are taken to have one
SURE = 2.0  # standard errors


def have_a_place(x: np.ndarray, failed: np.ndarray) -> bool:
    """Do failures lie on one side (Hotelling), or do the neighbours of failures fail more often
    than others?

    Of the newest rows x [n, d]. Few failures are taken to have a place.
    """
    x, failed = x[-LOOKED_AT:], failed[-LOOKED_AT:]
    n, bad = failed.size, int(failed.sum())
    if bad <= FEW or n - bad < NEIGHBOURS:
        return True
    z = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-300)
    if _on_one_side(z, failed):
        return True
    apart = np.sum(z**2, axis=1) - 2 * z[failed] @ z.T
    apart[np.arange(bad), np.flatnonzero(failed)] = np.inf
    nearest = np.argpartition(apart, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    share = bad / n
    return bool(
        failed[nearest].mean() - share > SURE * np.sqrt(share * (1 - share) / (bad * NEIGHBOURS))
    )


def _on_one_side(z: np.ndarray, failed: np.ndarray) -> bool:
    """Do the means of failures and of the others differ, beyond what chance does to them?"""
    n, d = z.shape
    if n < 2 * d + FEW:
        return False
    apart = z[failed].mean(axis=0) - z[~failed].mean(axis=0)
    inside = np.where(failed[:, None], z - z[failed].mean(axis=0), z - z[~failed].mean(axis=0))
    squared = (
        apart
        @ np.linalg.lstsq(inside.T @ inside / (n - 2), apart, rcond=None)[0]
        * failed.mean()
        * (1 - failed.mean())
        * n
    )
    return bool(squared * (n - d - 1) / (n - 2) > d + 2 * SURE * np.sqrt(2 * d))


@dataclass
class Archive:
    """Realised x and their values, oldest first; NaN where f failed. Keeps at least the newest
    `capacity` rows.
    """

    dim: int
    capacity: int
    count: int = 0  # rows in use
    total: int = 0  # rows ever added
    x: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    f: np.ndarray = field(default_factory=lambda: np.empty(0))
    _judged: int = -1  # rows ever added when `walled` was last looked at
    _walled: bool = True

    def __post_init__(self) -> None:
        self.x = self.x.reshape(-1, self.dim)

    def add(self, x: np.ndarray, f: np.ndarray) -> None:
        good = np.all(np.isfinite(x), axis=1)
        x, f = x[good], np.where(np.isfinite(f), f, np.nan)[good]
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
        rows = max(2 * kept, kept + more, 256)
        x, f = np.empty((rows, self.dim)), np.empty(rows)
        if kept:
            x[:kept], f[:kept] = (
                self.x[self.count - kept : self.count],
                self.f[self.count - kept : self.count],
            )
        self.x, self.f, self.count = x, f, kept

    def newest(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The newest n rows (fewer if there are no more), oldest first; where f failed, the worst
        value that is kept.

        Not the worst of these n: next to a wall all values are alike, and failing would cost
        nothing. Failures that happen anywhere say nothing of x and are left out. No rows if f
        always failed.
        """
        kept = self.f[: self.count]
        good = np.isfinite(kept)
        if good.all() or (good.any() and self.walled):
            x, f = self.x[max(0, self.count - n) : self.count], self.raw(n)
            return (x, f) if good.all() else (x, np.where(np.isnan(f), kept[good].max(), f))
        rows = np.flatnonzero(good)[-n:]
        return self.x[rows], kept[rows]

    @property
    def walled(self) -> bool:
        """Do failures have a place? If not, they say nothing of x."""
        if self._judged != self.total:
            self._judged, self._walled = (
                self.total,
                have_a_place(self.x[: self.count], np.isnan(self.f[: self.count])),
            )
        return self._walled

    def raw(self, n: int) -> np.ndarray:
        """The newest n values, NaN where f failed."""
        return self.f[max(0, self.count - n) : self.count]

    def best(self) -> tuple[np.ndarray, float] | None:
        """The best value that is kept, and where: of several the one in their midst."""
        f = self.f[: self.count]
        if not np.isfinite(f).any():
            return None
        value = float(np.nanmin(f))
        x = self.x[: self.count][f == value]
        apart = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-300)
        return x[np.argmin(np.sum(apart**2, axis=1))], value
