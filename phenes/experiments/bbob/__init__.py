"""The paper's Gaussian experiments on BBOB (section 6.1, appendix): run -> store -> summary,
figures, report.
"""

from phenes.experiments.bbob.execute import run
from phenes.experiments.bbob.pictures import figures
from phenes.experiments.bbob.results import summary
from phenes.experiments.bbob.settings import METHODS, Settings
from phenes.experiments.bbob.writing import report

__all__ = ["METHODS", "Settings", "figures", "report", "run", "summary"]
