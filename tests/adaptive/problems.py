"""Small problems and the loop that the tests share."""

import numpy as np

from phenes.adaptive import Adaptive


def ellipsoid(dim, condition, seed=None):
    """Quadratic x' H x with eigenvalues from 1 to `condition`, turned if a seed is given."""
    turn = (
        np.eye(dim)
        if seed is None
        else np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))[0]
    )
    matrix = (turn * condition ** np.linspace(0, 1, dim)) @ turn.T if dim > 1 else np.ones((1, 1))
    return matrix, lambda x: np.sum((x @ matrix) * x, axis=1)


def run(f, x0, sigma0, cov, budget, seed=0, value_noise=0.0, measured=True, **options):
    """The engine after `budget` evaluations in a world with this noise; unmeasured: it is told
    theta and no noise.
    """
    x0 = np.asarray(x0, float)
    cov = np.asarray(cov, float)
    world = np.random.default_rng([seed, 1])
    values, vectors = np.linalg.eigh(np.diag(cov) if cov.ndim == 1 else cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    engine = Adaptive(
        x0,
        sigma0,
        cov if measured else np.zeros(x0.size),
        rng=np.random.default_rng(seed),
        **options,
    )
    while engine.evaluations < budget:
        theta = engine.ask()
        x = theta + world.standard_normal(theta.shape) @ root.T
        engine.tell(
            theta, x if measured else theta, f(x) + value_noise * world.standard_normal(len(x))
        )
    return engine
