"""The samples of a run: f(x) is exact at x, so a sample stays true for ever, whatever theta was meant to be."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Archive:
    """Realised x and their values, oldest first; only finite values. Keeps at least the newest `capacity` rows."""

    dim: int
    capacity: int
    count: int = 0  # rows in use
    total: int = 0  # rows ever added
    x: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    f: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        self.x = self.x.reshape(-1, self.dim)

    def add(self, x: np.ndarray, f: np.ndarray) -> None:
        good = np.isfinite(f) & np.all(np.isfinite(x), axis=1)
        x, f = x[good], f[good]
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
            x[:kept], f[:kept] = self.newest(kept)
        self.x, self.f, self.count = x, f, kept

    def newest(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The newest n rows (fewer if there are no more), oldest first."""
        start = max(0, self.count - n)
        return self.x[start : self.count], self.f[start : self.count]
