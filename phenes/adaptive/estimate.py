"""Models of the samples of a descent, and what they say about F at its mean."""

from dataclasses import dataclass

import numpy as np

from phenes.adaptive import tuning
from phenes.adaptive.coordinates import Coordinates
from phenes.adaptive.marginal import Marginal
from phenes.adaptive.model.features import axis_features, crosses, dear, features_of, richest
from phenes.adaptive.model.quadratic import Fit, enrich, fit
from phenes.adaptive.phases import Claim
from phenes.adaptive.state import State


def rows(state: State, newest: int, farthest: float) -> tuple[np.ndarray, np.ndarray]:
    """Whitened points and values of the newest samples, closer than `farthest` (squared)."""
    x, f = state.archive.newest(newest)
    z = state.marginal.whiten(state.coords.to_y(x))
    close = np.sum(z**2, axis=1) < farthest
    return z[close], f[close]


def horizon(dim: int) -> float:
    """Squared distance beyond which samples belong to another part of the landscape."""
    return tuning.FARTHEST**2 * dim


def drawn(dim: int) -> float:
    """Squared distance within which samples are such as the present search could have drawn."""
    return dim + tuning.DRAWN_SIGMAS * float(np.sqrt(2 * dim))


def separable_axes(state: State) -> np.ndarray | None:
    """The coordinates of x as columns [d, d] of length 1 in z: f may be a sum of functions of them.

    They are not orthogonal where the search is wider in one direction than in another. None: they
    are those of z.
    """
    if state.marginal.basis is None and state.coords.turn is None:
        return None
    axes = state.coords.to_x(state.marginal.unwhiten(np.eye(state.coords.dim)))
    return axes / np.linalg.norm(axes, axis=0)


def model_of(state: State, newest: int) -> Fit | None:
    """The richest model that the newest samples are enough for: with all products, or without."""
    full = full_model_of(state, newest)
    return axes_model_of(state, newest) if full is None else full


def full_model_of(state: State, newest: int) -> Fit | None:
    """Model of the newest samples near the mean with all products of coordinates, if enough."""
    if not crosses(state.coords.dim, min(newest, state.archive.count)):
        return None
    z, f = rows(state, newest, np.inf)
    near = np.sum(z**2, axis=1) < horizon(state.coords.dim)
    return _with_all_products(z, f, near, separable_axes(state))


def axes_model_of(state: State, newest: int) -> Fit | None:
    """Model of the newest samples near the mean with curvature along axes only, if enough."""
    z, f = rows(state, newest, np.inf)
    near = np.sum(z**2, axis=1) < horizon(state.coords.dim)
    least = tuning.LEAST_ROWS_PER_FEATURE * axis_features(state.coords.dim)
    if near.sum() > least or f.size <= least:
        return fit(z[near], f[near], crossed=False, axes=separable_axes(state))
    return _if_it_explains(z, f, near, fit(z, f, crossed=False, axes=separable_axes(state)))


def _with_all_products(
    z: np.ndarray, f: np.ndarray, near: np.ndarray, axes: np.ndarray | None
) -> Fit | None:
    """Of near rows; of those further away as well if only these suffice, and it explains them."""
    d = z.shape[1]
    if crosses(d, int(near.sum())):
        return fit(z[near], f[near], axes=axes)
    return _if_it_explains(z, f, near, fit(z, f, axes=axes)) if crosses(d, f.size) else None


def _if_it_explains(z: np.ndarray, f: np.ndarray, near: np.ndarray, wide: Fit | None) -> Fit | None:
    """A model of rows far and near, if f is the same function near the mean as further away."""
    same = wide is not None and wide.explains(z[near], f[near]) > 1 - tuning.SAME_FUNCTION
    return wide if same else None


def explained(state: State) -> float:
    """Share of the variance of f around the mean that a quadratic explains; NaN if none is known.

    Of the samples that the present search could have drawn. Far from 1, f is rugged there.
    """
    z, f = rows(state, state.archive.count, drawn(state.coords.dim))
    model = fit(z, f, axes=separable_axes(state))
    return np.nan if model is None else model.r2


def rich_model_of(state: State, newest: int) -> tuple[Fit | None, np.ndarray, np.ndarray]:
    """Model for the refinement, and the whitened rows and values that it was made of.

    Fitted to points that the present search could have drawn: older, wider ones would bias it.
    """
    d = state.coords.dim
    z, f = rows(state, newest, np.inf)
    near = np.sum(z**2, axis=1) < drawn(d)
    axes = separable_axes(state)
    if not dear(d):
        full = _with_all_products(z, f, near, axes)
        if full is None:
            return fit(z[near], f[near], crossed=False, axes=axes), z, f
        return enrich(z[near], f[near], full), z, f
    model = fit(z[near], f[near], crossed=False, axes=axes)
    if d <= tuning.LARGEST_MATRIX and (model is None or model.r2 < tuning.AXES_SUFFICE):
        model = _richer(z, f, near, model, axes)
    return model, z, f


def _richer(
    z: np.ndarray, f: np.ndarray, near: np.ndarray, model: Fit | None, axes: np.ndarray | None
) -> Fit | None:
    """With products of many coordinates; of two models the one that knows the gradient better."""
    most = tuning.DEAR_ROWS_PER_FEATURE * richest(z.shape[1])
    if not crosses(z.shape[1], int(near.sum())):
        full = _with_all_products(z[-most:], f[-most:], near[-most:], axes)
        if full is not None:
            return full
    full = fit(z[near][-most:], f[near][-most:], axes=axes)
    return full if model is None or (full is not None and full.blur < model.blur) else model


def noise_along(state: State, turn: np.ndarray | None) -> np.ndarray:
    """Variances of the whitened noise along the axes of a model."""
    cov = state.marginal.whitened(state.coords.c)
    if cov.ndim == 1:
        return cov if turn is None else (turn**2).T @ cov
    return np.diag(cov) if turn is None else np.sum((cov @ turn) * turn, axis=0)


def smoothed(state: State, model: Fit, u: np.ndarray, z: np.ndarray, f: np.ndarray) -> Claim:
    """F where the model says u: the model integrated over the noise, plus what it misses there.

    The rest f - model is averaged over the samples with weights N(mean there, noise) / N(their own
    mean and covariance), so that a model too simple for f biases nothing; if too few samples are
    near, the model alone must do.
    """
    along = noise_along(state, model.turn)
    value = model.value(u, along)
    cost = 0.5 * float(model.h @ along)
    # errors of gradient and curvatures grow with the distance of extrapolation
    stretch = 1 + np.sum(u**2) + np.sum((u**2 + along - 1) ** 2) / 2
    alone = float(model.residual * np.sqrt(stretch / model.n))
    rest = f - model.predict(z)
    centre = model.out_of(u)
    noise = state.marginal.whitened(state.coords.c)
    if np.all(state.coords.c > 0) and np.all(noise > 0):
        weights = _weights(z, centre, noise)
        total = weights.sum()
        effective = tuning.LEAST_EFFECTIVE * np.sum(weights**2)
        if np.isfinite(total) and total**2 >= effective:
            missed = float(weights @ rest / total)
            error = float(np.sqrt(np.sum((weights * (rest - missed)) ** 2)) / total)
            return Claim(value + missed, error, cost)
    return Claim(*_nearby(z - centre, rest, value, alone), cost)


def _nearby(apart: np.ndarray, rest: np.ndarray, value: float, error: float) -> tuple[float, float]:
    """The model corrected by what it misses at the nearest samples.

    They are not drawn from the noise: the correction is doubted too.
    """
    count = max(tuning.LEAST_NEAREST, len(rest) // tuning.NEAREST_SHARE)
    near = np.argsort(np.sum(apart**2, axis=1), kind="stable")[:count]
    missed = float(rest[near].mean())
    spread = float(rest[near].std() / np.sqrt(near.size))
    if abs(missed) < tuning.NOTICEABLE * spread:
        return value, error
    doubt = missed**2 / tuning.CORRECTION_DOUBT
    return value + missed, float(np.sqrt(error**2 + spread**2 + doubt))


def _weights(z: np.ndarray, centre: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Density of N(centre, noise) over the Gaussian with the moments of the rows, up to a factor.

    noise [d]: with noise in every direction it is white in y, and diagonal when whitened.
    """
    r = z - z.mean(axis=0)
    now = np.sum((z - centre) ** 2 / noise, axis=1)
    then = np.sum(r**2 / np.maximum((r**2).mean(axis=0), tuning.TINY), axis=1)
    exponent = (then - now) / 2
    return np.exp(exponent - exponent.max())


@dataclass(frozen=True)
class Anchor:
    """A model of the search where it was, and what it said of F there."""

    model: Fit
    marginal: Marginal
    claim: Claim
    rows: int  # ever seen by then

    def moved(self, state: State) -> Claim:
        """F at the present mean by the same model; its errors grow with the distance."""
        model = self.model
        z = self.marginal.whiten(state.marginal.mean)
        u = z if model.turn is None else z @ model.turn
        value = self.claim.value + float(model.g @ u + 0.5 * model.h @ u**2)
        further = float(np.sum(u**2) + np.sum(np.square(u**2)) / 2)
        error = np.hypot(self.claim.error, model.residual * np.sqrt(further / model.n))
        return Claim(value, float(error), self.claim.noise_cost)


@dataclass(frozen=True)
class LocalModel:
    """A quadratic of f around where the search was, as a function of x."""

    coords: Coordinates
    marginal: Marginal
    model: Fit

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """What it says of f at rows x [n, d]."""
        return self.model.predict(self.marginal.whiten(self.coords.to_y(x)))


def current(state: State) -> Claim:
    """F at the mean, by a fresh model if one is needed."""
    return anchored(state, None)[0]


def anchored(state: State, anchor: Anchor | None) -> tuple[Claim, Anchor | None]:
    """F at the mean: from the last step or end, a fresh model, or else recent values.

    anchor: the model of an earlier call, which serves until half as many rows as it has features
    are new; in many dimensions as many, as in the search itself.
    """
    last = state.claim
    if state.phase.over or (state.phase.refines and np.isfinite(last.value)):
        return last, None
    d = state.coords.dim
    p, serves = (axis_features(d),) * 2 if dear(d) else (features_of(d), features_of(d) // 2)
    if anchor is not None and state.archive.total - anchor.rows < serves:
        return anchor.moved(state), anchor
    anchor = _fresh(state, p)
    return (_recent(state), None) if anchor is None else (anchor.claim, anchor)


def _fresh(state: State, p: int) -> Anchor | None:
    """A model of the newest rows, with up to p features; None if they are too few."""
    d = state.coords.dim
    if state.archive.count <= tuning.LEAST_ROWS_PER_FEATURE * axis_features(d):
        return None
    each = tuning.ROWS_PER_AXIS_FEATURE if dear(d) else tuning.ROWS_PER_FEATURE
    z, f = rows(state, each * p, horizon(d))
    model = fit(z, f, not dear(d), separable_axes(state))
    if model is None:
        return None
    claim = smoothed(state, model, np.zeros(d), z, f)
    return Anchor(model, state.marginal, claim, state.archive.total)


def _recent(state: State) -> Claim:
    """What the newest values say of F at the mean."""
    cost = state.claim.noise_cost
    _, f = state.archive.newest(state.popsize)
    if f.size == 0:
        return Claim(np.nan, np.inf, cost)
    if f.size == 1:
        return Claim(float(f[0]), np.inf, cost)
    return Claim(float(f.mean()), float(f.std(ddof=1) / np.sqrt(f.size)), cost)
