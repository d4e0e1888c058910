"""The launch: sixty flights of the nominal and of the best known design."""

from matplotlib.figure import Figure
from phenes_lab.plots.engineering import trajectories

from phenes.problems.engineering import LAUNCH


def figure() -> Figure:
    return trajectories({"nominal": LAUNCH.nominal, "best known": LAUNCH.optimum})
