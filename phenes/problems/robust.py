"""Published problems with noise on the inputs, with their robust optima.

Four that Frohlich et al. (2020) collected, and one more.

Here everything is MAXIMISED, as in the literature: g(theta) = E f(theta + sigma z), z ~ N(0, I),
theta in a box, g* = max g. For `phenes.minimize` take `problem.minimised`, which is -f. What makes
them hard is that the highest peak of f is narrow: at the nominal optimum, that of f itself, g is
well below g*.

    problem = robust.POLYNOMIAL
    problem(x)                     # f at x [..., d], NumPy or JAX, under jit and vmap
    problem.robust_value(theta)    # g, by quadrature
    problem.regret(theta)          # g* - g(theta)
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

# nodes of Gauss-Hermite along each axis: errors below 1e-10 on these functions
NODES = {1: 96, 2: 64, 3: 32}
INTERIOR = 64  # nodes of Gauss-Legendre inside the box, where inputs are clipped to it


@dataclass(frozen=True)
class RobustProblem:
    """Maximise E f(x), x = theta + sigma z. Call it on x [..., d] for f [...].

    f is in the precision and library of x, NumPy or JAX.

    Parameters
    ----------
    name : str
        Name of the problem.
    f : callable
        (array namespace, x_1 [...], ..., x_d [...]) -> f [...].
    box : pair of tuples
        Lower and upper corner.
    sigma : float
        Standard deviation of the input noise.
    optimum : tuple of d floats
        The robust optimum.
    value : float
        g there.
    nominal : tuple of d floats
        The optimum of f itself in the box.
    clipped : bool
        Are realised inputs moved into the box before f is evaluated, as by end stops?
    """

    name: str
    f: Callable[..., Any]
    box: tuple[tuple[float, ...], tuple[float, ...]]
    sigma: float
    optimum: tuple[float, ...]
    value: float
    nominal: tuple[float, ...]
    clipped: bool = False

    @property
    def dim(self) -> int:
        """Number of coordinates of theta."""
        return len(self.box[0])

    @property
    def bounds(self) -> np.ndarray:
        """The box as [d, 2], as SciPy has it."""
        return np.array(self.box).T

    def __call__(self, x: Any) -> Any:
        x = self._checked("x", x if hasattr(x, "__array_namespace__") else np.asarray(x, float))
        xp = x.__array_namespace__()
        coordinates = [x[..., k] for k in range(self.dim)]
        if self.clipped:
            # the ends by name, in the dtype of x: no promotion where that is an error
            ends = zip(*self.box, strict=True)
            coordinates = [
                xp.clip(c, lo, hi) for c, (lo, hi) in zip(coordinates, ends, strict=True)
            ]
        return self.f(xp, *coordinates)

    def minimised(self, x: Any) -> Any:
        """-f, for those that minimise.

        Parameters
        ----------
        x : array [..., d]
            Realised inputs.

        Returns
        -------
        array [...]
        """
        return -self(x)

    def robust_value(self, theta: npt.ArrayLike) -> np.ndarray:
        """E f at theta by product quadrature, with an error below 1e-8.

        Parameters
        ----------
        theta : array [..., d]
            Intended inputs.

        Returns
        -------
        array [...]
        """
        points: np.ndarray = self._checked("theta", np.asarray(theta, float))
        values = [self._expected(one) for one in points.reshape(-1, self.dim)]
        return np.array(values).reshape(points.shape[:-1])[()]

    def regret(self, theta: npt.ArrayLike) -> np.ndarray:
        """How far E f stays below the best.

        Parameters
        ----------
        theta : array [..., d]
            Intended inputs.

        Returns
        -------
        array [...]
        """
        return self.value - self.robust_value(theta)

    def _checked(self, name: str, x: Any) -> Any:
        if x.ndim == 0 or x.shape[-1] != self.dim:
            raise ValueError(
                f"{name} must have {self.dim} coordinates along its last axis for {self.name}, got"
                f" shape {x.shape}"
            )
        return x

    def _expected(self, theta: np.ndarray) -> float:
        rule = self._clipped_rule if self.clipped else self._rule
        nodes, weights = zip(*(rule(k, float(theta[k])) for k in range(self.dim)), strict=True)
        f = self(np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1))
        for weight in reversed(weights):  # one axis after the other
            f = f @ weight
        return float(f)

    def _rule(self, axis: int, centre: float) -> tuple[np.ndarray, np.ndarray]:
        nodes, weights = _hermite(NODES[self.dim])
        return centre + self.sigma * nodes, weights

    def _clipped_rule(self, axis: int, centre: float) -> tuple[np.ndarray, np.ndarray]:
        """What falls outside sits at the ends; f has a kink there, so the inside goes alone."""
        low, high = self.box[0][axis], self.box[1][axis]
        nodes, weights = _legendre(INTERIOR)
        inside = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        density = np.exp(-0.5 * ((inside - centre) / self.sigma) ** 2) / (
            self.sigma * math.sqrt(2 * math.pi)
        )
        below, above = (
            0.5 * math.erfc(z / (self.sigma * math.sqrt(2))) for z in (centre - low, high - centre)
        )
        return np.r_[low, inside, high], np.r_[below, 0.5 * (high - low) * weights * density, above]


@functools.cache
def _hermite(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Hermite nodes and weights for the standard normal law."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / math.sqrt(2 * math.pi)


@functools.cache
def _legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(n)


def _sine(xp: ModuleType, x: Any) -> Any:
    return xp.sin(5 * math.pi * x**2) + 0.5 * x


PEAKS = ((0.2, 0.2, 0.2, 0.5), (0.8, 0.2, 0.1, 0.7), (0.5, 0.7, 0.1, 0.7))  # centre, width, height


def _mixture(xp: ModuleType, x: Any, y: Any) -> Any:
    """sum_i a_i exp(-|x - c_i|^2 / (2 s_i^2))."""
    return sum(a * xp.exp(-((x - c) ** 2 + (y - d) ** 2) / (2 * s**2)) for c, d, s, a in PEAKS)


def _polynomial(xp: ModuleType, x: Any, y: Any) -> Any:
    """The negative of Bertsimas, Nohadani and Teo's polynomial of degree 6."""
    in_x = x * (6.2 + x * (-4.7 + x * (-6.4 + x * (21.2 + x * (-12.2 + 2 * x)))))
    in_y = y * (-10 + y * (56.9 + y * (-74.8 + y * (43.3 + y * (-11 + y)))))
    return -(in_x + in_y + x * y * (-4.1 + 0.4 * x + 0.4 * y - 0.1 * x * y))


# height; then for each coordinate rate and centre
HARTMANN = (
    (1.0, (3.0, 0.3689), (10.0, 0.1170), (30.0, 0.2673)),
    (1.2, (0.1, 0.4699), (10.0, 0.4387), (35.0, 0.7470)),
    (3.0, (3.0, 0.1091), (10.0, 0.8732), (30.0, 0.5547)),
    (3.2, (0.1, 0.03815), (10.0, 0.5743), (35.0, 0.8828)),
)


def _hartmann(xp: ModuleType, *x: Any) -> Any:
    """sum_i a_i exp(-sum_j A_ij (x_j - P_ij)^2)."""
    return sum(
        a * xp.exp(-sum(rate * (c - p) ** 2 for c, (rate, p) in zip(x, terms, strict=True)))
        for a, *terms in HARTMANN
    )


# centre and height of bells of two widths
BELLS = (
    (0.1, ((0.1, 4.0), (0.15, -1.0), (0.08, 2.0), (0.3, -2.0), (0.4, 1.0))),
    (
        0.01,
        ((0.8, 3.0), (0.85, 4.0), (0.9, 2.0), (0.95, 1.0), (0.92, -1.0), (0.74, 2.0), (0.91, 2.0)),
    ),
    (
        0.01,
        (
            (0.89, 3.0),
            (0.79, 3.0),
            (0.88, 2.0),
            (0.86, -1.0),
            (0.96, -2.0),
            (0.99, 4.0),
            (0.82, -3.0),
        ),
    ),
)


def _bells(xp: ModuleType, x: Any) -> Any:
    """sum_i a_i exp(-(x - c_i)^2 / (2 l_i^2)).

    A function of the spaces of two kernels (Assael, Wang and de Freitas, 2014).
    """
    return sum(
        a * xp.exp(-((x - c) ** 2) / (2 * width**2)) for width, bells in BELLS for c, a in bells
    )


UNIT = ((0.0,), (1.0,)), ((0.0, 0.0), (1.0, 1.0)), ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))

SINE = RobustProblem("sine", _sine, UNIT[0], 0.05, (0.3111187,), 1.0420977493, (0.9492457,))
MIXTURE = RobustProblem(
    "mixture of Gaussians",
    _mixture,
    UNIT[1],
    0.1,
    (0.2002981, 0.2002246),
    0.4001149597,
    (0.4992208, 0.6987012),
)
# g* is printed elsewhere as -7.34215: Gauss-Hermite nodes across the kinks at the ends of the box
# err in the third decimal
POLYNOMIAL = RobustProblem(
    name="polynomial",
    f=_polynomial,
    box=((-0.95, -0.45), (3.2, 4.4)),
    sigma=0.6,
    optimum=(0.2687722, 0.6744710),
    value=-7.3431004473,
    nominal=(2.8152746, 4.0088940),
    clipped=True,
)
HARTMANN3 = RobustProblem(
    name="Hartmann 3",
    f=_hartmann,
    box=UNIT[2],
    sigma=0.1,
    optimum=(0.1172969, 0.5694067, 0.8303016),
    value=2.9710761795,
    nominal=(0.1146143, 0.5556488, 0.8525470),
)
# smooth on the left, rough on the right, where its highest peak is; the noise is ours, twice the
# width of a narrow bell
BELLS1 = RobustProblem("bells", _bells, UNIT[0], 0.02, (0.0770831,), 4.8521344506, (0.8923597,))
ROBUST = (SINE, MIXTURE, POLYNOMIAL, HARTMANN3)  # those that are usually compared
EVERY = (*ROBUST, BELLS1)
