"""The regulator: usual gains, and those that allow for errors of the gains."""

from matplotlib.figure import Figure
from phenes_lab.plots.engineering import motions

from phenes.problems.engineering import REGULATOR


def figure() -> Figure:
    return motions({"nominal": REGULATOR.nominal, "exact optimum": REGULATOR.optimum})
