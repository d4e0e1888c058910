"""Pairs of parameters of a plate, with the region where it breaks or is too weak."""

import numpy as np
from matplotlib.figure import Figure

import phenes


def plate(width: float, depth: float, feed: float) -> tuple[float, dict[str, float]]:
    if width + 20 * depth > 330:
        raise ArithmeticError("the plate broke")
    cost = (width - 250) ** 2 / 1e3 + (depth - 4) ** 2 + np.log(feed) ** 2
    return cost, {"stress": width / 100 - depth + 0.2}


def figure() -> Figure:
    space = phenes.Space(
        width=phenes.Real(50, 300, unit="mm", noise=8.0),
        depth=phenes.Real(1, 8, unit="mm", noise=0.2),
        feed=phenes.Log(1e-2, 10, noise=0.1),
    )
    wanted = phenes.chance(0.9)
    result = phenes.minimize(plate, space, budget=80, constraints=wanted, seed=0)
    return result.plot("pairs")
