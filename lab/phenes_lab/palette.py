"""One colour for each name in every picture: Okabe and Ito's palette, which stays distinguishable
with every common kind of colour blindness.
"""

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes import plots

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, YELLOW, GREY = "#56B4E9", "#E69F00", "#F0E442", "#999999"
ES, PAES = BLUE, ORANGE  # as in the figures of the paper, in reproductions of these
INK = plots.INK
SMALL: dict[Any, Any] = plots.STYLE | {"font.size": 10, "axes.titlesize": 11}
# libraries, by the first word of a contender's name
LIBRARIES = {"phenes": BLUE, "pycma": ORANGE, "cmaes": GREEN, "evosax": PINK}


def panels(
    count: int,
    columns: int,
    size: tuple[float, float],
    room: tuple[float, float] = (0.0, 0.0),
    least: float = 0.0,
    shrink: bool = True,
) -> tuple[Figure, list[Axes]]:
    """A figure and `count` axes in rows of at most `columns`.

    size: of a panel, room: around all of them, least: width of the figure; in inches. shrink: fewer
    columns where there are fewer panels.
    """
    columns = min(columns, count) if shrink else columns
    rows = -(-count // columns)
    width, height = size[0] * columns + room[0], size[1] * rows + room[1]
    figure = Figure(figsize=(max(least, width), height), layout="constrained")
    axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, axes[:count]


def titled(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left")


def band(
    ax: Axes, x: Any, low: Any, middle: Any, high: Any, colour: Any, alpha: float, **line: Any
) -> None:
    """A line with what lies between `low` and `high` around it."""
    ax.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)
    ax.plot(x, middle, color=colour, **line)


def legend_below(figure: Figure, axes: Iterable[Axes], **options: Any) -> None:
    """One for all panels."""
    handles = {}
    for ax in axes:
        lines, labels = ax.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside lower left", **options)
