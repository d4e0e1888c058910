"""The value of the parts: f, E f under Gaussian error in closed form, and their optima."""

from collections.abc import Iterator
from typing import Any

import numpy as np

CENTRES = ((0.2, 0.2), (0.8, 0.2), (0.5, 0.7))
WIDTHS = (0.2, 0.1, 0.1)
HEIGHTS = (0.5, 0.7, 0.7)


def landscape(x: Any, noise: float) -> Any:
    """E f of parts aimed at x [..., 2] that end up as N(x, noise^2 I); f itself at noise = 0."""
    return sum(_bumps(x, noise))


def _bumps(x: Any, noise: float) -> Iterator[Any]:
    # JAX inside the loop, NumPy outside of it, where nothing is worth compiling
    exp = x.__array_namespace__().exp
    for (left, up), width, height in zip(CENTRES, WIDTHS, HEIGHTS, strict=True):
        variance = width**2 + noise**2
        distance = (x[..., 0] - left) ** 2 + (x[..., 1] - up) ** 2
        yield height * width**2 / variance * exp(-distance / (2 * variance))


def assembly(x: Any, noise: float = 0.0) -> Any:
    """The mean over the parts of x [..., 2 parts]: f at noise = 0, else E f."""
    return landscape(x.reshape(*x.shape[:-1], -1, 2), noise).mean(-1)


def optimum(noise: float) -> tuple[np.ndarray, float]:
    """The theta with the largest E f under this noise, and that value.

    Where the gradient is zero, x is the mean of the centres, each weighted by its bump over its
    variance; iterated from every centre.
    """
    centres, variances = np.array(CENTRES), np.array(WIDTHS) ** 2 + noise**2
    x = centres
    for _ in range(100):
        weights = np.stack(list(_bumps(x, noise)), axis=-1) / variances
        x = weights @ centres / weights.sum(-1, keepdims=True)
    worth = landscape(x, noise)
    return x[np.argmax(worth)], float(worth.max())
