"""What the engineering problems have in common: a simulator, the tolerances of production, a
specification, and the usual design.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

DRAWS = 20_000
SEED = 20_260_101  # of the fresh draws by which designs are judged; no search uses it


class Readings(NamedTuple):
    """Of builds, each [...]: the value, whether it is within the specification, and how bad it is
    in the unit of the problem.
    """

    f: Any
    passes: Any
    penalty: Any


class Assessment(NamedTuple):
    """A design by `draws` fresh builds. mean, se: E f and its standard error. share: of builds
    within the specification (the yield).

    p95: what 95 % of the builds stay below, of the problem's `penalty`.
    """

    mean: float
    se: float
    share: float
    p95: float
    draws: int


@dataclass(frozen=True, eq=False)
class EngineeringProblem:
    """Maximise E f(x), x = theta + noise. Call it on builds x [..., d] for f [...].

    noise: a standard deviation for each coordinate [d], or a covariance [d, d]. x0, sigma0: where a
    search begins and how wide.
    nominal: what is designed without thinking of tolerances; screened: the best of many such
    designs, where it is usual to make many.
    design: from coordinates to what is on the drawing. unit: of the penalty. optimum, value: the
    best theta known and E f there; exact: it is proven, not only found.
    """

    name: str
    simulate: Callable[[Any], Readings]
    unit: str
    design: Callable[[Any], Any]
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
        return self.x0.size

    @property
    def cov(self) -> np.ndarray:
        """[d, d], of x around theta."""
        return self.noise if self.noise.ndim == 2 else np.diag(self.noise**2)

    def __call__(self, x: Any) -> Any:
        return self.measure(x).f

    def measure(self, x: Any) -> Readings:
        """All that the simulator says of builds x [..., d]."""
        return self.simulate(self._checked("x", x))

    def minimised(self, x: Any) -> Any:
        """-f, for those that minimise."""
        return -self(x)

    def realise(self, theta: Any, n: int, rng: np.random.Generator) -> np.ndarray:
        """n builds of one drawing, or with theta [n, d] a build of each."""
        theta = self._checked("theta", theta)
        z = rng.standard_normal((n, self.dim))
        return theta + (
            z * self.noise if self.noise.ndim == 1 else z @ np.linalg.cholesky(self.noise).T
        )

    def assess(self, theta: Any, draws: int = DRAWS, seed: int = SEED) -> Assessment:
        """The design theta by fresh builds, the same errors for every design."""
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
