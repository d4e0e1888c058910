"""The default told x and told theta: exact gap of E f against evaluations."""

from collections.abc import Callable

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy import optimize, special

import phenes
from phenes.plots import STYLE, band

DIM, NOISE, BUDGET, SEEDS = 10, 0.1, 4000, 10
SCALES = 10 ** np.linspace(0, 1.5, DIM)


def kinks(x: np.ndarray) -> np.ndarray:
    return np.sum(SCALES * np.abs(x - 0.5), axis=-1)


def smooth_kinks(theta: np.ndarray) -> np.ndarray:
    """E |r + noise z| = r (1 - 2 Phi(-r / noise)) + 2 noise phi(r / noise)."""
    z = (theta - 0.5) / NOISE
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.sum(SCALES * NOISE * (z * (1 - 2 * special.ndtr(-z)) + 2 * density), axis=-1)


def rosenbrock(x: np.ndarray) -> np.ndarray:
    return np.sum(100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2, axis=-1)


def smooth_rosenbrock(theta: np.ndarray) -> np.ndarray:
    """By the moments of a Gaussian."""
    a, b, s = theta[..., :-1], theta[..., 1:], NOISE**2
    square = b**2 + s - 2 * b * (a**2 + s) + a**4 + 6 * a**2 * s + 3 * s**2
    return np.sum(100 * square + (1 - a) ** 2 + s, axis=-1)


PROBLEMS = {
    "absolute values, weights from 1 to 32": (kinks, smooth_kinks),
    "Rosenbrock's function": (rosenbrock, smooth_rosenbrock),
}


def gaps(
    f: Callable, smooth: Callable, best: float, seed: int, told: bool, grid: np.ndarray
) -> np.ndarray:
    rng = np.random.default_rng(1000 + seed)
    opt = phenes.Optimizer(np.zeros(DIM), 0.5, NOISE if told else None, budget=BUDGET, seed=seed)
    while opt.nfev < BUDGET:
        theta = opt.ask()
        x = theta + NOISE * rng.standard_normal(theta.shape)
        opt.tell(theta, f(x), realised=x if told else None)
    history = opt.result.history
    at = np.searchsorted(history["nfev"], grid, side="right") - 1
    return np.maximum(smooth(history["x"])[at] - best, 1e-9)


def figure() -> Figure:
    grid = np.unique(np.geomspace(20, BUDGET, 60).astype(int))
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(11, 4.2), layout="constrained")
        for ax, (name, (f, smooth)) in zip(out.subplots(1, 2), PROBLEMS.items(), strict=True):
            best = min(
                optimize.minimize(smooth, start * np.ones(DIM), tol=1e-12).fun
                for start in (0.0, 0.5, 1.0)
            )
            for told, method, label in ((True, "PAES", "told x"), (False, "ES", "told θ only")):
                band(
                    ax,
                    grid,
                    np.array([gaps(f, smooth, best, seed, told, grid) for seed in range(SEEDS)]),
                    method,
                    label,
                )
            ax.set(
                xscale="log", yscale="log", xlabel="evaluations", ylabel="gap of E f", title=name
            )
            ax.legend(loc="lower left")
    return out
