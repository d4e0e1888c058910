"""The front of mean and spread on the page of fronts."""

from matplotlib.figure import Figure

import phenes


def harvest(speed: float, depth: float) -> float:
    slip = max(speed + 2 * depth - 9, 0.0)
    return speed * (2 + depth) - 0.4 * depth**2 - 3 * slip**2


def figure() -> Figure:
    space = phenes.Space(
        speed=phenes.Real(1, 8, unit="km/h", noise=0.1),
        depth=phenes.Real(0, 4, unit="cm", noise=0.4),
    )
    return phenes.front(harvest, space, maximize=True, budget=100, seed=0).plot()
