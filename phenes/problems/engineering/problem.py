"""What the engineering problems have in common.

A simulator, the tolerances of production, a specification, and the usual design.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

DRAWS = 20_000
SEED = 20_260_101  # seed of the fresh draws by which designs are judged; no search uses it


class Readings(NamedTuple):
    """What the simulator says of builds.

    Parameters
    ----------
    f : array [...]
        The value.
    passes : boolean array [...]
        Is it within the specification?
    penalty : array [...]
        How bad it is, in the unit of the problem.
    """

    f: Any
    passes: Any
    penalty: Any


class Assessment(NamedTuple):
    """A design, judged by fresh builds.

    Parameters
    ----------
    mean, se : float
        E f and its standard error.
    share : float
        Of builds within the specification: the yield.
    p95 : float
        What 95 % of the builds stay below, of the problem's penalty.
    draws : int
        Number of builds.
    """

    mean: float
    se: float
    share: float
    p95: float
    draws: int


@dataclass(frozen=True, eq=False)
class EngineeringProblem:
    """Maximise E f(x), x = theta + noise. Call it on builds x [..., d] for f [...].

    Parameters
    ----------
    name : str
        Name of the problem.
    simulate : callable
        x [..., d] -> Readings.
    unit : str
        Unit of the penalty.
    design : callable
        From coordinates [d] to what is on the drawing.
    noise : array [d] or [d, d]
        A standard deviation for each coordinate, or a covariance.
    x0, sigma0 : array [d]
        Where a search begins, and how wide.
    nominal : array [d]
        What is designed without thinking of tolerances.
    optimum : array [d]
        The best theta known.
    value : float
        E f there.
    budget : int
        Builds that a search may make.
    bounds : array [d, 2], optional
        Bounds of theta.
    exact : bool
        Is the optimum proven, not only found?
    screened : array [d], optional
        The best of many nominal designs, where it is usual to make many.
    """

    name: str
    simulate: Callable[[Any], Readings]
    unit: str
    design: Callable[[npt.ArrayLike], np.ndarray]
    noise: np.ndarray
    x0: np.ndarray
    sigma0: np.ndarray
    nominal: np.ndarray
    optimum: np.ndarray
    value: float
    budget: int
    bounds: np.ndarray | None = None
    exact: bool = False
    screened: np.ndarray | None = None

    @property
    def dim(self) -> int:
        """Number of coordinates of theta."""
        return self.x0.size

    @property
    def cov(self) -> np.ndarray:
        """Covariance of x around theta, [d, d]."""
        return self.noise if self.noise.ndim == 2 else np.diag(self.noise**2)

    def __call__(self, x: Any) -> Any:
        return self.measure(x).f

    def measure(self, x: Any) -> Readings:
        """All that the simulator says of builds.

        Parameters
        ----------
        x : array [..., d]
            What was built.

        Returns
        -------
        Readings
            Its arrays have the leading axes of x.

        Raises
        ------
        ValueError
            If x has another number of coordinates, or is not finite.
        """
        return self.simulate(self._checked("x", x))

    def minimised(self, x: Any) -> Any:
        """-f, for those that minimise.

        Parameters
        ----------
        x : array [..., d]
            What was built.

        Returns
        -------
        array [...]
        """
        return -self(x)

    def realise(self, theta: npt.ArrayLike, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw builds.

        Parameters
        ----------
        theta : array [d] or [n, d]
            One drawing, or one for each build.
        n : int
            Number of builds.
        rng : numpy.random.Generator
            Generator of the errors.

        Returns
        -------
        array [n, d]
        """
        centre = self._checked("theta", theta)
        z = rng.standard_normal((n, self.dim))
        if self.noise.ndim == 1:
            return centre + z * self.noise
        return centre + z @ np.linalg.cholesky(self.noise).T

    def assess(self, theta: npt.ArrayLike, draws: int = DRAWS, seed: int = SEED) -> Assessment:
        """Judge a design by fresh builds, with the same errors for every design.

        Parameters
        ----------
        theta : array [d]
            The design.
        draws : int
            Number of builds, at least 2.
        seed : int
            Seed of the errors.

        Returns
        -------
        Assessment
        """
        if draws < 2:
            raise ValueError(f"draws must be at least 2, got {draws}")
        x = self.realise(theta, draws, np.random.default_rng(seed))
        f, passes, penalty = (np.asarray(part, float) for part in self.measure(x))
        return Assessment(
            float(f.mean()),
            float(f.std(ddof=1) / draws**0.5),
            float(passes.mean()),
            float(np.quantile(penalty, 0.95)),
            draws,
        )

    def _checked(self, name: str, x: Any) -> Any:
        x = x if hasattr(x, "__array_namespace__") else np.asarray(x, float)
        if x.ndim == 0 or x.shape[-1] != self.dim:
            raise ValueError(
                f"{name} must have {self.dim} coordinates along its last axis for the {self.name},"
                f" got shape {x.shape}"
            )
        if isinstance(x, np.ndarray) and not np.isfinite(x).all():
            raise ValueError(
                f"{name} must be finite, got NaN or infinity in {np.sum(~np.isfinite(x))} of"
                f" {x.size} coordinates"
            )
        return x
