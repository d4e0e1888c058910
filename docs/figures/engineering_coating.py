"""The mirror coating: reflectance and the three figures it is bought for, nominal and best
known.
"""

from matplotlib.figure import Figure
from phenes_lab.plots.engineering import spectra

from phenes.problems.engineering import COATING


def figure() -> Figure:
    return spectra({"nominal": COATING.nominal, "best known": COATING.optimum})
