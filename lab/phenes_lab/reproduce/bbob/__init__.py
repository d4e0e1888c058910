"""The paper's Gaussian experiments on BBOB (section 6.1, appendix): run -> store -> summary,
figures, report.
"""

from phenes_lab.reproduce.bbob.execute import run
from phenes_lab.reproduce.bbob.pictures import figures
from phenes_lab.reproduce.bbob.results import summary
from phenes_lab.reproduce.bbob.settings import METHODS, Settings
from phenes_lab.reproduce.bbob.writing import report

__all__ = ["METHODS", "Settings", "figures", "report", "run", "summary"]
