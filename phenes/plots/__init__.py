"""Pictures, of arrays and of whatever has the attributes that are drawn.

Here what they share: a colour for each method, a median with its band, and how they are saved.
`convergence` draws one optimisation, `notebook` has a figure that notebooks show.
"""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart with every common kind of colour blindness, and in grey
_BLUE, _ORANGE, _GREEN = "#0072B2", "#D55E00", "#009E73"
# methods have the colours of the paper's figures; "main" and "accent" are for all else
COLOURS = {
    "ES": _BLUE,
    "PAES": _ORANGE,
    "product": _GREEN,
    "main": _BLUE,
    "accent": _ORANGE,
}
INK = "#222222"

STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "legend.frameon": False,
}

__all__ = ["band", "save"]


def band(ax: Axes, x: np.ndarray, runs: np.ndarray, method: str, label: str) -> None:
    """The median of several runs, with the quartiles around it.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes to draw on.
    x : array [n]
        Such as the evaluations after each update.
    runs : array [seeds, n]
        One row for each run.
    method : str
        "ES", "PAES" or "product" (what users call): the colour.
    label : str
        Label in the legend.
    """
    low, middle, high = np.quantile(runs, [0.25, 0.5, 0.75], axis=0)
    ax.fill_between(x, low, high, color=COLOURS[method], alpha=0.25, linewidth=0)
    ax.plot(x, middle, color=COLOURS[method], linewidth=2, label=label)


def save(figure: Figure, path: Path, dpi: int = 130, style: dict[Any, Any] = STYLE) -> Path:
    """Save a figure, without a trace of when or with what: the same data give the same file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure to write.
    path : pathlib.Path
        The file to write; its suffix says in which format.
    dpi : int
        Dots per inch.
    style : dict
        Parameters of matplotlib, for ticks that are made when they are drawn.

    Returns
    -------
    pathlib.Path
        The path.
    """
    with matplotlib.rc_context(style):
        figure.savefig(path, dpi=dpi, facecolor="white", metadata={"Software": None})
    return path
