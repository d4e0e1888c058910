"""Problems of few evaluations: a box, noise on the inputs, and F by common quasi-random draws.

All are minimised. F(theta) is the mean of f over the same 2^11 scrambled Sobol draws of the noise
for every theta, and the optimum is that of this F, so that a regret has no sampling error. TUNING
are those on which the search was set up; HELD_OUT were named before and only looked at afterwards.
"""

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
from scipy import special
from scipy.optimize import minimize
from scipy.stats import qmc

from phenes.problems import robust
from phenes.problems.engineering import filter as lc_filter
from phenes.problems.engineering import launch

DRAWS = 2**11


@dataclass(frozen=True)
class Problem:
    """f takes rows x [n, d] and returns [n]; theta is in the box, noise [d] standard deviations."""

    name: str
    f: Callable[[np.ndarray], np.ndarray]
    lower: np.ndarray
    upper: np.ndarray
    noise: np.ndarray
    starts: int = 2**11  # of the search for the optimum
    polished: int = 12
    scanned: int = 101  # values of a coordinate

    @property
    def dim(self) -> int:
        return self.lower.size

    @functools.cached_property
    def draws(self) -> np.ndarray:
        """Draws of the noise [DRAWS, d]."""
        sobol = qmc.Sobol(self.dim, scramble=True, rng=np.random.default_rng(20260101))
        return special.ndtri(sobol.random(DRAWS)) * self.noise

    def expected(self, theta: np.ndarray) -> float:
        """F at one theta [d]."""
        return float(np.mean(self.f(np.asarray(theta, float) + self.draws)))

    def regret(self, theta: np.ndarray) -> float:
        """F at theta less the least F in the box."""
        return max(self.expected(theta) - self.optimum["value"], 0.0)

    @functools.cached_property
    def optimum(self) -> dict:
        """theta and value of the optimum, and the median of F over the box."""
        return _optima()[self.name]

    def solve(self) -> dict:
        """Look for the optimum: the best of many starts, polished, and improved."""
        unit = qmc.Sobol(self.dim, scramble=True, rng=np.random.default_rng(7)).random(self.starts)
        values = np.array([self._within(u) for u in unit])
        tries = [self._polished(unit[k]) for k in np.argsort(values)[: self.polished]]
        value, u = self._improved(*min(tries, key=lambda each: each[0]))
        theta = self.lower + (self.upper - self.lower) * u
        return {"theta": theta.tolist(), "value": value, "median": float(np.median(values))}

    def _within(self, u: np.ndarray) -> float:
        """F at a point of the unit cube."""
        return self.expected(self.lower + (self.upper - self.lower) * np.clip(u, 0, 1))

    def _polished(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        options = {"maxiter": 200, "ftol": 1e-15, "gtol": 1e-10}
        bounds = [(0.0, 1.0)] * self.dim
        found = minimize(self._within, u, method="L-BFGS-B", bounds=bounds, options=options)
        options = {"xatol": 1e-9, "fatol": 1e-15, "maxfev": 200 * self.dim}
        again = minimize(self._within, found.x, method="Nelder-Mead", options=options)
        return float(again.fun), np.clip(again.x, 0, 1)

    def _improved(self, value: float, u: np.ndarray) -> tuple[float, np.ndarray]:
        """One coordinate after the other over the whole box, until none finds a better basin: that
        is what starts at random miss where basins are many.
        """
        better = True
        while better:
            better = False
            for j in range(self.dim):
                line = np.tile(u, (self.scanned, 1))
                line[:, j] = np.linspace(0, 1, self.scanned)
                found = self._polished(line[np.argmin([self._within(each) for each in line])])
                if found[0] < value - 1e-9 * abs(value):
                    (value, u), better = found, True
        return value, u


@functools.cache
def _optima() -> dict:
    text = resources.files("phenes_lab.bench.few").joinpath("optima.json").read_text()
    return json.loads(text)


def _box(name, f, lower, upper, noise) -> Problem:
    low = np.atleast_1d(np.asarray(lower, float))
    high = np.broadcast_to(np.asarray(upper, float), low.shape).copy()
    return Problem(name, f, low, high, np.broadcast_to(np.asarray(noise, float), low.shape).copy())


def _published(name: str, problem: robust.RobustProblem) -> Problem:
    return _box(name, problem.minimised, problem.box[0], problem.box[1], problem.sigma)


def branin(x):
    b, c = 5.1 / (4 * math.pi**2), 5 / math.pi
    bowl = (x[:, 1] - b * x[:, 0] ** 2 + c * x[:, 0] - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * math.pi)) * np.cos(x[:, 0]) + 10


def rosenbrock(x):
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


def ackley(x):
    root = np.sqrt(np.mean(x**2, axis=1))
    return (
        -20 * np.exp(-0.2 * root) - np.exp(np.mean(np.cos(2 * math.pi * x), axis=1)) + 20 + math.e
    )


def sphere(x):
    return np.sum((x - 0.7) ** 2, axis=1)


def ellipsoid(dim: int, rotated: bool):
    scales = 1000.0 ** (np.arange(dim) / (dim - 1))
    rng = np.random.default_rng(5)
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0] if rotated else np.eye(dim)
    return lambda x: np.sum(scales * ((x - 0.7) @ turn) ** 2, axis=1)


HARTMANN6_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
HARTMANN6_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(x):
    square = (x[:, None, :] - HARTMANN6_P) ** 2
    return -np.exp(-np.sum(HARTMANN6_A * square, axis=2)) @ np.array([1.0, 1.2, 3.0, 3.2])


def filter_yield(x):
    return -(lc_filter.violation(x) <= 0).astype(float)


def filter_margin(x):
    return np.clip(lc_filter.violation(x), -3.0, 6.0)


def styblinski_tang(x):
    return 0.5 * np.sum(x**4 - 16 * x**2 + 5 * x, axis=1)


def camel(x):
    a, b = x[:, 0], x[:, 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def goldstein_price(x):
    """In the logarithm, as it is usually given to surrogate models."""
    a, b = x[:, 0], x[:, 1]
    one = 19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2
    two = 18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2
    return np.log((1 + (a + b + 1) ** 2 * one) * (30 + (2 * a - 3 * b) ** 2 * two))


def cliff(x):
    """A bowl that falls towards an edge, beyond which all is lost."""
    bowl = np.sum((x - 0.2) ** 2, axis=1) - x.sum(axis=1)
    return np.where(x.sum(axis=1) > 1.2, 3.0, bowl)


def rastrigin(x):
    return np.sum(x**2 - 10 * np.cos(2 * math.pi * x) + 10, axis=1)


def levy(x):
    w = 1 + (x - 1) / 4
    first = np.sin(math.pi * w[:, 0]) ** 2
    body = (w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:, :-1] + 1) ** 2)
    last = (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * math.pi * w[:, -1]) ** 2)
    return first + body.sum(axis=1) + last


SHEKEL_C = np.array(
    [
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
        [4, 1, 8, 6, 3, 2, 5, 8, 6, 7],
        [4, 1, 8, 6, 7, 9, 3, 1, 2, 3.6],
    ]
).T
SHEKEL_B = np.array([1, 2, 2, 4, 4, 6, 3, 7, 5, 5]) / 10


def shekel(x):
    return -np.sum(1 / (np.sum((x[:, None] - SHEKEL_C) ** 2, axis=2) + SHEKEL_B), axis=1)


def michalewicz(x):
    k = np.arange(1, x.shape[1] + 1)
    return -np.sum(np.sin(x) * np.sin(k * x**2 / math.pi) ** 20, axis=1)


def otl_circuit(x):
    """Mid-point voltage of a push-pull circuit, as squared deviation from 5 V."""
    b1, b2, f, c1, c2, beta = x.T
    vb1 = 12 * b2 / (b1 + b2)
    share = beta * (c2 + 9)
    voltage = (vb1 + 0.74) * share / (share + f) + 11.35 * f / (share + f)
    voltage = voltage + 0.74 * f * share / ((share + f) * c1)
    return (voltage - 5) ** 2


def piston(x):
    """Cycle time of a piston, as squared deviation from 0.45 s, in hundredths."""
    m, s, v0, k, p0, ta, t0 = x.T
    a = p0 * s + 19.62 * m - k * v0 / s
    v = s / (2 * k) * (np.sqrt(a**2 + 4 * k * p0 * v0 * ta / t0) - a)
    cycle = 2 * math.pi * np.sqrt(m / (k + s**2 * p0 * v0 * ta / (t0 * v**2)))
    return (100 * (cycle - 0.45)) ** 2


def borehole(x):
    """Flow through a borehole, as squared deviation from 80 m3/yr, in tens."""
    rw, r, tu, hu, tl, hl, length, kw = x.T
    rw, r = np.maximum(rw, 1e-3), np.maximum(r, 1.0)
    log = np.log(r / rw)
    flow = 2 * math.pi * tu * (hu - hl)
    flow = flow / (log * (1 + 2 * length * tu / (log * rw**2 * kw) + tu / tl))
    return ((flow - 80) / 10) ** 2


def wing_weight(x):
    """Weight of a light aircraft's wing, in hundreds of pounds."""
    sw, wfw, a, sweep, q, taper, tc, nz, wdg, wp = x.T
    cos = np.cos(np.deg2rad(sweep))
    weight = 0.036 * sw**0.758 * wfw**0.0035 * (a / cos**2) ** 0.6 * q**0.006 * taper**0.04
    weight = weight * (100 * tc / cos) ** -0.3 * (nz * wdg) ** 0.49 + sw * wp
    return weight / 100


def _launch(x):
    return -launch.simulate(x).f


def _relative(name, f, low, high, share) -> Problem:
    """Noise as a share of the width of the box."""
    low, high = np.array(low, float), np.array(high, float)
    return Problem(name, f, low, high, share * (high - low))


_START = lc_filter.FILTER.x0
TUNING = (
    _published("sine1", robust.SINE),
    _published("mixture2", robust.MIXTURE),
    _published("poly2", robust.POLYNOMIAL),
    _box("branin2", branin, [-5, 0], [10, 15], 1.0),
    replace(
        _box("launch2", _launch, [-10, 4.1], [45, 5.0], [3.0, 0.05]),
        starts=64,
        polished=1,
        scanned=21,
    ),
    _published("hart3", robust.HARTMANN3),
    _box("filter3", filter_yield, _START - 0.8, _START + 0.8, 0.075),
    _box("margin3", filter_margin, _START - 0.8, _START + 0.8, 0.075),
    _box("rosen4", rosenbrock, [-2] * 4, 2, 0.2),
    _box("ackley5", ackley, [-5] * 5, 5, 0.5),
    _box("sphere5", sphere, [-5] * 5, 5, 0.5),
    _box("elli5", ellipsoid(5, False), [-5] * 5, 5, 0.3),
    _box("stybtang5", styblinski_tang, [-5] * 5, 5, 0.3),
    _box("hart6", hartmann6, [0] * 6, 1, 0.1),
    _box("sphere10", sphere, [-5] * 10, 5, 0.5),
    _box("elli10", ellipsoid(10, True), [-5] * 10, 5, 0.3),
)
HELD_OUT = (
    _published("bells1", robust.BELLS1),
    _box("camel2", camel, [-2, -1], [2, 1], 0.1),
    _box("goldstein2", goldstein_price, [-2, -2], 2, 0.1),
    _box("cliff2", cliff, [-1, -1], 2, 0.1),
    _box("rastrigin3", rastrigin, [-4] * 3, 5, 0.2),
    _box("levy4", levy, [-8] * 4, 8, 0.5),
    _box("shekel4", shekel, [0] * 4, 10, 0.4),
    _box("michalewicz5", michalewicz, [0] * 5, math.pi, 0.1),
    _relative(
        "otl6",
        otl_circuit,
        [50, 25, 0.5, 1.2, 0.25, 50],
        [150, 70, 3, 2.5, 1.2, 300],
        0.05,
    ),
    _relative(
        "piston7",
        piston,
        [30, 0.005, 0.002, 1000, 90000, 290, 340],
        [60, 0.02, 0.01, 5000, 110000, 296, 360],
        0.04,
    ),
    _relative(
        "borehole8",
        borehole,
        [0.05, 100, 63070, 990, 63.1, 700, 1120, 9855],
        [0.15, 50000, 115600, 1110, 116, 820, 1680, 12045],
        0.04,
    ),
    _relative(
        "wing10",
        wing_weight,
        [150, 220, 6, -10, 16, 0.5, 0.08, 2.5, 1700, 0.025],
        [200, 300, 10, 10, 45, 1, 0.18, 6, 2500, 0.08],
        0.04,
    ),
)
PROBLEMS = {problem.name: problem for problem in (*TUNING, *HELD_OUT)}
