"""What happened, update by update, in bounded memory."""

from typing import Any

import numpy as np

NAMES = ("nfev", "x", "fun", "fun_se", "f_median", "spread", "phase")
LIMIT = 4096  # entries: more than a picture can show


class History:
    """One entry for each update; every second, fourth, ... of them once there are more than LIMIT.
    The last is always there.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[Any, ...]] = []
        self.last: tuple[Any, ...] = ()
        self.count, self.stride = 0, 1

    def add(self, *entry: Any) -> None:
        """In the order of NAMES."""
        self.last = entry
        if self.count % self.stride == 0:
            self.entries.append(entry)
        if len(self.entries) >= LIMIT:
            self.entries, self.stride = self.entries[::2], 2 * self.stride
        self.count += 1

    def arrays(self) -> dict[str, np.ndarray]:
        kept = (
            self.entries
            if not self.entries or self.entries[-1] is self.last
            else [*self.entries, self.last]
        )
        return {name: np.asarray([entry[k] for entry in kept]) for k, name in enumerate(NAMES)}

    def means(self) -> np.ndarray:
        """Means along the way, [k, d]."""
        return np.array([entry[1] for entry in self.entries])
