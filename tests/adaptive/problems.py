"""Small problems, descents in a given state, and the loop that the tests share."""

import numpy as np

from phenes.adaptive import Adaptive
from phenes.adaptive.coordinates import make_coordinates
from phenes.adaptive.descent import Descent, Start


def ellipsoid(dim, condition, seed=None):
    """Quadratic x' H x with eigenvalues from 1 to `condition`, turned if a seed is given."""
    turn = np.eye(dim)
    if seed is not None:
        turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))[0]
    matrix = (turn * condition ** np.linspace(0, 1, dim)) @ turn.T if dim > 1 else np.ones((1, 1))
    return matrix, lambda x: np.sum((x @ matrix) * x, axis=1)


def sphere(x):
    return np.sum(x**2, axis=1)


def nearly_sphere(x):
    """No quadratic explains it to one part in a hundred thousand."""
    return sphere(x) + 0.2 * np.sum(np.cos(3 * x), axis=1)


def spd(dim, seed):
    root = np.random.default_rng(seed).standard_normal((dim, dim))
    return root @ root.T


def coordinates(cov, width=1.0, bias=0.0, lower=-np.inf, upper=np.inf, smooth=0.0):
    """Of noise with this covariance; numbers stand for all coordinates."""
    dim = len(cov)
    full = lambda value: np.broadcast_to(np.asarray(value, float), (dim,)).copy()  # noqa: E731
    sides = full(lower), full(upper)
    return make_coordinates(np.asarray(cov, float), full(width), full(bias), *sides, full(smooth))


def descent(cov, mean=0.0, popsize=8, value_noise=0.0, without=(), **options):
    """A descent that begins at `mean` in every coordinate."""
    coords = coordinates(cov, **options)
    start = Start(np.full(coords.dim, float(mean)), 1.0, popsize, value_noise)
    return Descent(coords, start, without=frozenset(without))


def drawn(one, n, rng):
    """n realised points of the marginal of a descent."""
    marginal = one.state.marginal
    z = rng.standard_normal((n, marginal.mean.size))
    return one.state.coords.to_x(marginal.mean + marginal.unwhiten(z))


def fed(one, n, f, rng):
    """The descent, with n samples of its marginal in the archive as if it had asked for them."""
    x = drawn(one, n, rng)
    one.state.archive.add(x, f(x))
    one.state.evaluations += n
    return one


def whys(decisions):
    return [decision.why for decision in decisions]


def play(search, f, cov, budget, seed=0, value_noise=0.0, measured=True):
    """Goes on up to `budget` evaluations in a world with this noise."""
    cov = np.asarray(cov, float)
    world = np.random.default_rng([seed, 1])
    values, vectors = np.linalg.eigh(np.diag(cov) if cov.ndim == 1 else cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    while search.evaluations < budget:
        theta = search.ask()
        x = theta + world.standard_normal(theta.shape) @ root.T
        told = f(x) + value_noise * world.standard_normal(len(x))
        search.tell(theta, x if measured else theta, told)
    return search


def run(f, x0, sigma0, cov, budget, seed=0, value_noise=0.0, measured=True, **options):
    """A search after `budget` evaluations; unmeasured: it is told theta and no noise."""
    x0, cov = np.asarray(x0, float), np.asarray(cov, float)
    search = Adaptive(
        x0,
        np.broadcast_to(np.asarray(sigma0, float), x0.shape).copy(),
        cov if measured else np.zeros(x0.size),
        rng=np.random.default_rng(seed),
        **options,
    )
    return play(search, f, cov, budget, seed, value_noise, measured)
