"""What was measured so far, generation by generation: the learning curve."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Array

COUNTS = ("steps", "failed", "skipped", "at")


class Report(NamedTuple):
    """One generation, or a stack of them.

    mean, best: return of the population. steps: played. failed: episodes without a finite return.
    skipped: updates that were not finite. size, second: estimates of |E g|^2 and E|g|^2, whose
    ratio is the share of signal in the gradient; NaN where they are not measured.
    """

    mean: "Array | np.ndarray"
    best: "Array | np.ndarray"
    steps: "Array | np.ndarray"
    failed: "Array | np.ndarray"
    skipped: "Array | np.ndarray"
    size: "Array | np.ndarray"
    second: "Array | np.ndarray"


class Curve(NamedTuple):
    """The learning curve of `train`.

    Attributes
    ----------
    mean, best : ndarray of float, shape (g,)
        Mean and largest return of the population in each generation.
    steps, failed, skipped : ndarray of int, shape (g,)
        Steps played, episodes without a finite return, updates that were not finite.
    size, second : ndarray of float, shape (g,)
        Estimates of `|E g|^2` and `E|g|^2` of the gradient g; NaN for tables.
    seconds : ndarray of float, shape (g,)
        Since the start.
    at : ndarray of int, shape (k,)
        Generations after which the mean policy was looked at: all of them for tables.
    deterministic : ndarray of float, shape (k,)
        Return of the mean policy with its best actions there: the exact expectation for tables, the
        mean of a few episodes for networks.
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
        """A curve without generations."""
        return cls(
            *(np.zeros(0, np.int64 if name in COUNTS else np.float64) for name in cls._fields)
        )

    @classmethod
    def joined(cls, parts: "list[Curve]") -> "Curve":
        """Parts of a curve, one after the other.

        Parameters
        ----------
        parts : list of Curve
            The parts in their order.

        Returns
        -------
        Curve
            The whole.
        """
        return cls(*(np.concatenate(columns) for columns in zip(cls.start(), *parts, strict=True)))

    @property
    def generations(self) -> int:
        """Number of generations."""
        return self.mean.size

    def extended(self, reports: list[Report], seconds: float) -> "Curve":
        """The curve with these generations.

        Parameters
        ----------
        reports : list of Report
            In stacks of one or more generations.
        seconds : float
            Since the start.

        Returns
        -------
        Curve
            The curve with these generations.
        """
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

    def evaluated(self, looks: list[tuple[int, float]]) -> "Curve":
        """The curve with looks at the mean policy.

        Parameters
        ----------
        looks : list of (int, float)
            After which generation, and its return.

        Returns
        -------
        Curve
            The curve with these looks.
        """
        return self._replace(
            at=np.append(self.at, [at for at, _ in looks]).astype(np.int64),
            deterministic=np.append(self.deterministic, [value for _, value in looks]),
        )

    def since(self, before: "Curve") -> "Curve":
        """What is new in the curve.

        Parameters
        ----------
        before : Curve
            The curve as it was earlier.

        Returns
        -------
        Curve
            The rest of it.
        """
        return Curve(*(now[then.size :] for now, then in zip(self, before, strict=True)))

    def signal(self, width: int = 10) -> np.ndarray:
        """The share of signal in the gradient, `|E g|^2 / E|g|^2`.

        Parameters
        ----------
        width : int
            Both are averaged over so many generations before they are divided: one says little.

        Returns
        -------
        ndarray of float, shape (g,)
            NaN where nothing was measured.
        """
        size, second = (_window(np.nan_to_num(part), width) for part in (self.size, self.second))
        measured = _window(np.isfinite(self.second).astype(float), width) > 0
        return np.where(measured, size / np.where(second > 0, second, 1.0), np.nan)

    def first(self, target: float) -> int | None:
        """The first generation whose population has this mean return.

        Parameters
        ----------
        target : float
            A return.

        Returns
        -------
        int or None
            Counted from 1; None if there is none.
        """
        there = np.flatnonzero(self.mean >= target)
        return int(there[0]) + 1 if there.size else None


def _window(values: np.ndarray, width: int) -> np.ndarray:
    """Sums over the last `width`, fewer at the start."""
    sums = np.concatenate([np.zeros(1), np.cumsum(values)])
    last = np.arange(1, values.size + 1)
    return sums[last] - sums[np.maximum(last - width, 0)]
