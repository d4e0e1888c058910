"""Models of the samples of a run, and what they say about F at its mean."""

import numpy as np

from phenes.adaptive.quadratic import Fit, axis_features, dear, enrich, features_of, fit
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

# Points further than this times sqrt d (whitened) from the mean belong to another part of the
# landscape.
FARTHEST = 3.0

# Fewer effective samples than this make a weighted mean worse than the model alone.
LEAST_EFFECTIVE = 50
LEAST_NEAR = 20


def _rows(run: Run, space: Space, newest: int, farthest: float) -> tuple[np.ndarray, np.ndarray]:
    """Whitened points and values of the newest samples whose squared distance from the mean is
    below `farthest`.
    """
    x, f = run.archive.newest(newest)
    z = run.normal.whiten(space.to_y(x))
    close = np.sum(z**2, axis=1) < farthest
    return z[close], f[close]


def model_of(run: Run, space: Space, newest: int, crossed: bool = True) -> Fit | None:
    """Model of the newest samples near the mean, if there are enough."""
    return fit(*_rows(run, space, newest, FARTHEST**2 * space.dim), crossed)


def thrifty_model_of(run: Run, space: Space) -> Fit | None:
    """In many dimensions: curvature along the principal axes, and all of it only now and then,
    where that leaves much unexplained.

    The search takes the shape of the inverse Hessian, and its principal axes are then those of f.
    """
    p, own = features_of(space.dim), axis_features(space.dim)
    model = model_of(run, space, max(4 * own, run.popsize + 10), crossed=False)
    if run.evaluations < run.next_full or (model is not None and model.r2 > 0.99):
        return model
    full = model_of(run, space, 2 * p)
    if full is None or full.turn is None:  # not enough rows yet
        return model
    run.failures = run.failures + 1 if full.r2 < 0.95 else 0
    run.next_full = run.evaluations + 2 * p * max(1, run.failures)
    return full if model is None or full.r2 > model.r2 else model


def rich_model_of(run: Run, space: Space, newest: int) -> tuple[Fit | None, np.ndarray, np.ndarray]:
    """Model for the final phase, of points that the present search could have drawn (older, wider
    ones would bias it); and all rows.
    """
    z, f = _rows(run, space, newest, np.inf)
    near = np.sum(z**2, axis=1) < space.dim + 4 * np.sqrt(2 * space.dim)
    if dear(space.dim):
        return _thrifty(z[near], f[near]), z, f
    plain = fit(z[near], f[near])
    return (None if plain is None else enrich(z[near], f[near], plain)), z, f


def _thrifty(z: np.ndarray, f: np.ndarray) -> Fit | None:
    """With all of the curvature unless the axes explain nearly everything; whichever knows the
    gradient better.
    """
    model, p = fit(z, f, crossed=False), features_of(z.shape[1])
    if model is not None and model.r2 > 0.99:
        return model
    full = fit(z[-4 * p :], f[-4 * p :])
    return full if model is None or (full is not None and full.blur < model.blur) else model


def noise_along(run: Run, space: Space, turn: np.ndarray | None) -> np.ndarray:
    """Variances of the whitened noise along the axes of a model."""
    cov = run.normal.whitened(space.c)
    if cov.ndim == 1:
        return cov if turn is None else (turn**2).T @ cov
    return np.diag(cov) if turn is None else np.sum((cov @ turn) * turn, axis=0)


def smoothed(
    run: Run, space: Space, model: Fit, u: np.ndarray, z: np.ndarray, f: np.ndarray
) -> tuple[float, float]:
    """F where the model says u, and its standard error: the model integrated over the noise, plus
    what it misses there.

    The rest f - model is averaged over the samples with weights N(mean there, noise) / N(their own
    mean and covariance), so that a model too simple for f biases nothing; if too few samples are
    near, the model alone must do.
    """
    along = noise_along(run, space, model.turn)
    value = model.value(u, along)
    run.noise_cost = 0.5 * float(model.h @ along)
    # errors of gradient and curvatures count as far as the model is stretched
    stretch = 1 + np.sum(u**2) + np.sum((u**2 + along - 1) ** 2) / 2
    alone = float(model.residual * np.sqrt(stretch / model.n))
    noise = run.normal.whitened(space.c)
    rest, centre = f - model.predict(z), u if model.turn is None else model.turn @ u
    if np.min(noise if noise.ndim == 1 else np.diag(noise)) <= 0 or not np.all(space.c > 0):
        return _nearby(z - centre, rest, value, alone)
    weights = _weights(z, centre, noise)
    total = weights.sum()
    if not np.isfinite(total) or total**2 < LEAST_EFFECTIVE * np.sum(weights**2):
        return _nearby(z - centre, rest, value, alone)
    missed = float(weights @ rest / total)
    return value + missed, float(np.sqrt(np.sum((weights * (rest - missed)) ** 2)) / total)


def _nearby(apart: np.ndarray, rest: np.ndarray, value: float, error: float) -> tuple[float, float]:
    """The model corrected by what it misses at the nearest samples. They are not drawn from the
    noise: the correction is doubted too.
    """
    near = np.argsort(np.sum(apart**2, axis=1), kind="stable")[: max(LEAST_NEAR, len(rest) // 10)]
    missed, spread = float(rest[near].mean()), float(rest[near].std() / np.sqrt(near.size))
    if abs(missed) < 2 * spread:
        return value, error
    return value + missed, float(np.sqrt(error**2 + spread**2 + missed**2 / 4))


def _weights(z: np.ndarray, centre: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Density of N(centre, noise) over that of the Gaussian with the moments of the rows, up to a
    factor.
    """
    r = z - z.mean(axis=0)
    if noise.ndim == 1:
        now, then = (
            np.sum((z - centre) ** 2 / noise, axis=1),
            np.sum(r**2 / np.maximum((r**2).mean(axis=0), 1e-300), axis=1),
        )
    else:
        now = np.sum((z - centre) * np.linalg.solve(noise, (z - centre).T).T, axis=1)
        then = np.sum(r * np.linalg.solve(r.T @ r / len(r), r.T).T, axis=1)
    exponent = (then - now) / 2
    return np.exp(exponent - exponent.max())


def current(run: Run, space: Space) -> tuple[float, float]:
    """F at the mean and its standard error: from the last step, else from a fresh model, else the
    mean of recent values.
    """
    if run.finished or (run.phase == "newton" and np.isfinite(run.value)):
        return run.value, run.error
    cheap = dear(space.dim)
    z, f = _rows(
        run,
        space,
        4 * axis_features(space.dim) if cheap else 2 * features_of(space.dim),
        FARTHEST**2 * space.dim,
    )
    model = fit(z, f, crossed=not cheap)
    if model is not None:
        return smoothed(run, space, model, np.zeros(space.dim), z, f)
    _, f = run.archive.newest(run.popsize)
    if f.size < 2:
        return (float(f[0]), np.inf) if f.size else (np.nan, np.inf)
    return float(f.mean()), float(f.std(ddof=1) / np.sqrt(f.size))
