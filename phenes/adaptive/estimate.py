"""Models of the samples of a run, and what they say about F at its mean."""

import numpy as np

from phenes.adaptive.quadratic import Fit, enrich, features_of, fit
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

# Points further than this times sqrt d (whitened) from the mean belong to another part of the landscape.
FARTHEST = 3.0

# Fewer effective samples than this make a weighted mean worse than the model alone.
LEAST_EFFECTIVE = 50


def _rows(run: Run, space: Space, newest: int, farthest: float) -> tuple[np.ndarray, np.ndarray]:
    """Whitened points and values of the newest samples whose squared distance from the mean is below `farthest`."""
    x, f = run.archive.newest(newest)
    z = run.normal.whiten(space.to_y(x))
    close = np.sum(z**2, axis=1) < farthest
    return z[close], f[close]


def model_of(run: Run, space: Space, newest: int) -> Fit | None:
    """Model of the newest samples near the mean, if there are enough."""
    return fit(*_rows(run, space, newest, FARTHEST**2 * space.dim))


def rich_model_of(run: Run, space: Space, newest: int) -> tuple[Fit | None, np.ndarray, np.ndarray]:
    """Model for the final phase, of points that the present search could have drawn (older, wider ones would bias it); and all rows."""
    z, f = _rows(run, space, newest, np.inf)
    near = np.sum(z**2, axis=1) < space.dim + 4 * np.sqrt(2 * space.dim)
    plain = fit(z[near], f[near])
    return (None if plain is None else enrich(z[near], f[near], plain)), z, f


def noise_along(run: Run, space: Space, turn: np.ndarray | None) -> np.ndarray:
    """Variances of the whitened noise along the axes of a model."""
    cov = run.normal.whitened(space.c)
    if cov.ndim == 1:
        return cov if turn is None else (turn**2).T @ cov
    return np.diag(cov) if turn is None else np.sum((cov @ turn) * turn, axis=0)


def smoothed(run: Run, space: Space, model: Fit, u: np.ndarray, z: np.ndarray, f: np.ndarray) -> tuple[float, float]:
    """F where the model says u, and its standard error: the model integrated over the noise, plus what it misses there.

    The rest f - model is averaged over the samples with weights N(mean there, noise) / N(their own mean and covariance), so that a model
    too simple for f biases nothing; if too few samples are near, the model alone must do.
    """
    along = noise_along(run, space, model.turn)
    value = model.value(u, along)
    run.noise_cost = 0.5 * float(model.h @ along)
    # errors of gradient and curvatures count as far as the model is stretched
    stretch = 1 + np.sum(u**2) + np.sum((u**2 + along - 1) ** 2) / 2
    alone = value, float(model.residual * np.sqrt(stretch / model.n))
    noise = run.normal.whitened(space.c)
    if np.min(noise if noise.ndim == 1 else np.diag(noise)) <= 0 or not np.all(space.c > 0):
        return alone
    weights = _weights(z, u if model.turn is None else model.turn @ u, noise)
    total = weights.sum()
    if not np.isfinite(total) or total**2 < LEAST_EFFECTIVE * np.sum(weights**2):
        return alone
    rest = f - model.predict(z)
    missed = float(weights @ rest / total)
    return value + missed, float(np.sqrt(np.sum((weights * (rest - missed)) ** 2)) / total)


def _weights(z: np.ndarray, centre: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Density of N(centre, noise) over that of the Gaussian with the moments of the rows, up to a factor."""
    r = z - z.mean(axis=0)
    if noise.ndim == 1:
        now, then = np.sum((z - centre) ** 2 / noise, axis=1), np.sum(r**2 / np.maximum((r**2).mean(axis=0), 1e-300), axis=1)
    else:
        now = np.sum((z - centre) * np.linalg.solve(noise, (z - centre).T).T, axis=1)
        then = np.sum(r * np.linalg.solve(r.T @ r / len(r), r.T).T, axis=1)
    exponent = (then - now) / 2
    return np.exp(exponent - exponent.max())


def current(run: Run, space: Space) -> tuple[float, float]:
    """F at the mean and its standard error: from the last step, else from a fresh model, else the mean of recent values."""
    if run.finished or (run.phase == "newton" and np.isfinite(run.value)):
        return run.value, run.error
    z, f = _rows(run, space, 2 * features_of(space.dim), FARTHEST**2 * space.dim)
    model = fit(z, f)
    if model is not None:
        return smoothed(run, space, model, np.zeros(space.dim), z, f)
    _, f = run.archive.newest(run.popsize)
    if f.size < 2:
        return (float(f[0]), np.inf) if f.size else (np.nan, np.inf)
    return float(f.mean()), float(f.std(ddof=1) / np.sqrt(f.size))
