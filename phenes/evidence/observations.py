"""Every evaluation of a run: what was intended, what was realised, what it was worth."""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

import numpy as np
from scipy import special

from phenes._validate import BoolArray, FloatArray, IntArray
from phenes.adaptive.archive import have_a_place
from phenes.evidence.evaluations import Evaluations

KEPT = 100_000  # rows; of longer runs the first START and the newest
START = 1_000  # rows of the beginning that are never dropped
CHANCE = 0.05  # significance level for failures that depend on theta
HUGE = 1e120  # values are clipped here, so that sums of squares do not overflow


def chance(k: int, n: int, total: int, rows: int) -> float:
    """The probability that k or more of n rows have failed, if `total` of all rows did anywhere.

    Fisher's exact test: the share of failures elsewhere is known no better than by these rows.
    """
    j = np.arange(k, min(n, total) + 1)
    logarithm = _ways(n, j) + _ways(rows - n, total - j) - _ways(rows, np.array(total))
    return float(np.exp(logarithm[np.isfinite(logarithm)]).sum())


def _ways(n: int, k: IntArray) -> FloatArray:
    """Logarithm of the binomial coefficient; -infinity where there is no way."""
    inside = (k >= 0) & (k <= n)
    j = np.where(inside, k, 0)
    found = special.gammaln(n + 1) - special.gammaln(j + 1) - special.gammaln(n - j + 1)
    return np.where(inside, found, -np.inf)


class Observations:
    """All rows of a run.

    `point` is x in the coordinates of theta (without gain and bias), unmeasured coordinates at
    their expectation.

    Parameters
    ----------
    dim : int
        Number of coordinates of theta.
    """

    def __init__(self, dim: int):
        self.count, self.dropped = 0, 0
        self._theta, self._x, self._point = (np.empty((256, dim)) for _ in range(3))
        self._f = np.empty(256)
        self._phase = np.zeros(256, np.uint8)  # numbers of `phases`
        self.limits: tuple[str, ...] = ()  # names of the constraints, once they are known
        self._c = np.empty((256, 0))
        self.phases: dict[str, int] = {}
        self.lowest, self.highest = np.inf, -np.inf  # finite values ever seen
        self._judged, self._walled = -1, True
        self._suspects: dict[bytes, FloatArray] = {}  # theta whose failures are compared
        self._by_value: dict[float, int] = {}  # value -> hash of the first theta that had it
        self._compared, self._tied = 0, False  # rows ever added that `tied` has looked at

    def name_limits(self, names: tuple[str, ...]) -> None:
        """Say which constraints rows have from now on; those before failed.

        Parameters
        ----------
        names : tuple of str
            Of the constraints, in the order of their columns.
        """
        if not self.limits:
            self.limits = names
            self._c = np.full((self._f.size, len(names)), np.nan)

    def add(
        self,
        theta: FloatArray,
        x: FloatArray,
        point: FloatArray,
        f: FloatArray,
        phase: str = "",
        c: FloatArray | None = None,
    ) -> None:
        """Add rows.

        Parameters
        ----------
        theta, x, point : ndarray, shape (n, d)
            What was intended, what was realised, and the latter in the coordinates of theta.
        f : ndarray, shape (n,)
            Values as minimised; what is not finite failed.
        phase : str, optional
            What they were made for. After some hundreds of different ones, the first.
        c : ndarray, shape (n, J), optional
            Constraints, good where they are at most 0; NaN is as bad as can be.
        """
        if self.count + f.size > self._f.size:
            self._make_room(f.size)
        rows = slice(self.count, self.count + f.size)
        self._theta[rows], self._x[rows], self._point[rows] = theta, x, point
        self._f[rows] = np.where(np.isfinite(f), f, np.nan)
        self._c[rows] = np.nan if c is None else c
        number = self.phases.setdefault(phase, len(self.phases)) if len(self.phases) < 256 else 0
        self._phase[rows] = number
        self.count += f.size
        finite = np.clip(f[np.isfinite(f)], -HUGE, HUGE)
        if finite.size:
            self.lowest = min(self.lowest, float(finite.min()))
            self.highest = max(self.highest, float(finite.max()))

    def _make_room(self, more: int) -> None:
        """Doubles the arrays, or forgets rows between the first and the newest."""
        keep = np.arange(self.count)
        if self.count > KEPT:
            keep = np.concatenate([keep[:START], keep[-(KEPT // 2) :]])
            self.dropped += self.count - keep.size
        rows = max(2 * keep.size, keep.size + more)
        for name in ("_theta", "_x", "_point", "_f", "_phase", "_c"):
            old = getattr(self, name)
            new = np.empty((rows, *old.shape[1:]), old.dtype)
            new[: keep.size] = old[keep]
            setattr(self, name, new)
        self.count = keep.size

    @property
    def theta(self) -> FloatArray:
        """What was intended, (n, d)."""
        return self._theta[: self.count]

    @property
    def x(self) -> FloatArray:
        """What was realised, (n, d); NaN where it was not measured."""
        return self._x[: self.count]

    @property
    def point(self) -> FloatArray:
        """What was realised, in the coordinates of theta, (n, d)."""
        return self._point[: self.count]

    @property
    def f(self) -> FloatArray:
        """Values as minimised, clipped to +-HUGE; NaN where the evaluation failed."""
        return np.clip(self._f[: self.count], -HUGE, HUGE)

    @property
    def c(self) -> FloatArray:
        """Constraints, (n, J); NaN where they are not known, and where the evaluation failed."""
        held = self._c[: self.count]
        return np.where(np.isnan(self._f[: self.count])[:, None], np.nan, held)

    def at(self, theta: FloatArray) -> BoolArray:
        """Select the rows that were drawn at exactly this theta.

        Parameters
        ----------
        theta : ndarray, shape (d,)
            What was intended.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        # one coordinate rules out nearly all rows
        own = self._theta[: self.count, 0] == theta[0]
        rows = np.flatnonzero(own)
        own[rows] = np.all(self._theta[rows] == theta, axis=1)
        return own

    def price(self, early: int) -> float:
        """What a failure counts as: twice the worst of the first `early` rows less their median.

        Not the worst of all, which a restart far out makes arbitrarily large.

        Parameters
        ----------
        early : int
            Number of rows.

        Returns
        -------
        float
            NaN if nothing finite was seen.
        """
        first = np.clip(self._f[: min(early, self.count)], -HUGE, HUGE)
        finite = first[np.isfinite(first)]
        if not finite.size:
            finite = self.f[np.isfinite(self.f)]
        return float(2 * finite.max() - np.median(finite)) if finite.size else np.nan

    @property
    def flat(self) -> bool:
        """Whether all finite values that were ever seen are equal."""
        return not self.lowest < self.highest

    @property
    def tied(self) -> bool:
        """Whether two different theta have the same finite value."""
        total = self.count + self.dropped
        for k in range(max(self._compared - self.dropped, 0), self.count):
            value = float(self._f[k])
            if self._tied or np.isnan(value):
                continue
            here = hash(self._theta[k].tobytes())
            self._tied = self._by_value.setdefault(value, here) != here
        self._compared = total
        if self._tied:
            self._by_value.clear()
        return self._tied

    @property
    def walled(self) -> bool:
        """Whether failures depend on theta; otherwise they say nothing of any theta.

        Judged by all rows each time: what was chance at first is told from a wall by more draws.
        """
        if self._judged != self.count + self.dropped:
            self._judged = self.count + self.dropped
            failed = np.isnan(self.f)
            self._walled = have_a_place(self.point, failed) or any(
                self._differs(theta, failed) for theta in self._suspects.values()
            )
        return self._walled

    def compare_failures(self, theta: FloatArray) -> None:
        """Take failures to depend on theta if draws there fail more or less often than all others.

        Parameters
        ----------
        theta : ndarray, shape (d,)
            What was intended.
        """
        if theta.tobytes() not in self._suspects:
            self._suspects[theta.tobytes()] = theta.copy()
            self._judged = -1

    def _differs(self, theta: FloatArray, failed: BoolArray) -> bool:
        """Whether draws at one of the suspects fail more often than by chance, or less often.

        One of many places is the worst by chance: each has its share of the significance level,
        half of it for each side.
        """
        own = self.at(theta)
        n, k, total = int(own.sum()), int(failed[own].sum()), int(failed.sum())
        level = CHANCE / len(self._suspects) / 2
        if k >= 2 and (k == total or chance(k, n, total, failed.size) < level):
            return True
        return n - k >= 2 and chance(n - k, n, failed.size - total, failed.size) < level

    def made_for(self, phase: str) -> BoolArray:
        """Which rows were made for a phase, (n,).

        Parameters
        ----------
        phase : str
            As it was given to `add`.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        if phase not in self.phases:
            return np.zeros(self.count, bool)
        return self._phase[: self.count] == self.phases[phase]

    def arrays(self, sign: float) -> Evaluations:
        """Copies of all rows.

        Parameters
        ----------
        sign : float
            -1 if f is maximised, else 1: values as the user knows them.

        Returns
        -------
        Evaluations
        """
        words = np.array([*self.phases, ""])
        phase = words[self._phase[: self.count]]
        held = {name: self._c[: self.count, k].copy() for k, name in enumerate(self.limits)}
        f = sign * self._f[: self.count]
        return Evaluations(self.theta.copy(), self.x.copy(), f, phase, held)
