"""What was measured so far, generation by generation: the learning curve."""

from typing import Any, NamedTuple

import numpy as np

from phenes.rl.problems.network import Report


class Curve(NamedTuple):
    """By generation: mean and best return of the population, steps, failed episodes, skipped
    updates, estimates of |E g|^2 (size) and of E|g|^2 (second), seconds since the start. After some
    generations (`at`) also the mean return of the mean policy with its best actions.
    """

    mean: np.ndarray
    best: np.ndarray
    steps: np.ndarray
    failed: np.ndarray
    skipped: np.ndarray
    size: np.ndarray
    second: np.ndarray
    seconds: np.ndarray
    at: np.ndarray
    deterministic: np.ndarray

    @classmethod
    def start(cls) -> "Curve":
        return cls(
            *(np.zeros(0, np.int64 if name in COUNTS else np.float64) for name in cls._fields)
        )

    @property
    def generations(self) -> int:
        return self.mean.size

    def extended(self, reports: list[Report], seconds: float) -> "Curve":
        """With these generations, in stacks of one or more."""
        new = {
            name: np.concatenate([np.atleast_1d(np.asarray(getattr(r, name))) for r in reports])
            for name in Report._fields
        }
        n = new["mean"].size
        begun = self.seconds[-1] if self.seconds.size else 0.0
        new["seconds"] = begun + (seconds - begun) * np.arange(1, n + 1) / n
        return self._replace(
            **{name: np.concatenate([getattr(self, name), part]) for name, part in new.items()}
        )

    def evaluated(self, value: float) -> "Curve":
        return self._replace(
            at=np.append(self.at, self.generations),
            deterministic=np.append(self.deterministic, value),
        )

    def signal(self, width: int = 10) -> np.ndarray:
        """|E g|^2 / E|g|^2 over the last `width` generations, both averaged before they are
        divided: one generation says little.
        """
        size, second = (_window(np.nan_to_num(part), width) for part in (self.size, self.second))
        return size / np.where(second > 0, second, 1.0)

    def first(self, target: float) -> int | None:
        """The first generation whose population has this mean return, counted from 1."""
        there = np.flatnonzero(self.mean >= target)
        return int(there[0]) + 1 if there.size else None


def _window(values: np.ndarray, width: int) -> np.ndarray:
    """Sums over the last `width`, fewer at the start."""
    sums = np.concatenate([np.zeros(1), np.cumsum(values)])
    last = np.arange(1, values.size + 1)
    return sums[last] - sums[np.maximum(last - width, 0)]


COUNTS = ("steps", "failed", "skipped", "at")


def as_json(curve: Curve) -> dict[str, Any]:
    """Lists of plain numbers; JSON has no word for what is not finite."""
    return {
        name: [None if not np.isfinite(v) else v for v in part.tolist()]
        for name, part in curve._asdict().items()
    }
