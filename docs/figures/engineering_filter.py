"""The LC filter: minimax design and best known, with tolerance bands and yield."""

from matplotlib.figure import Figure
from phenes_lab.plots.engineering import response

from phenes.problems.engineering import FILTER


def figure() -> Figure:
    return response({"nominal": FILTER.nominal, "best known": FILTER.optimum})
