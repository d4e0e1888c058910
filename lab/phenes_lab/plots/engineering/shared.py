"""What these pictures share: a panel or a column for each design, the median of many builds and the
band in which nine of ten lie.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from phenes.problems.engineering import EngineeringProblem

BUILDS = 1000
FORBIDDEN = "#cccccc"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7")


def checked(problem: EngineeringProblem, designs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not designs:
        raise ValueError('designs must be theta by name, such as {"nominal": theta}, got none')
    out = {name: np.asarray(theta, float) for name, theta in designs.items()}
    for name, theta in out.items():
        if theta.shape != (problem.dim,):
            raise ValueError(
                f"the design {name!r} must have shape ({problem.dim},) for the {problem.name}, got"
                f" {theta.shape}"
            )
    return out


def builds(problem: EngineeringProblem, theta: np.ndarray, n: int = BUILDS) -> np.ndarray:
    """The same errors for every design."""
    return problem.realise(theta, n, np.random.default_rng(0))


def spread(ax: Axes, x: np.ndarray, each: np.ndarray, colour: str, label: str) -> None:
    """The median and the 5 to 95 % band of `each` [n, len(x)]."""
    low, middle, high = np.quantile(each, [0.05, 0.5, 0.95], axis=0)
    ax.fill_between(x, low, high, color=colour, alpha=0.3, linewidth=0)
    ax.plot(x, middle, color=colour, linewidth=1.8, label=label)
