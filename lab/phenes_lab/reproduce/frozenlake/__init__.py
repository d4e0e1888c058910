"""The paper's FrozenLake experiments (section 6.2, appendix) and the clean comparison of
estimators: run -> store -> figures, report.
"""

from phenes_lab.reproduce.frozenlake.execute import run
from phenes_lab.reproduce.frozenlake.pictures import figures
from phenes_lab.reproduce.frozenlake.results import summary
from phenes_lab.reproduce.frozenlake.settings import METHODS, Settings
from phenes_lab.reproduce.frozenlake.writing import report

__all__ = ["METHODS", "Settings", "figures", "report", "run", "summary"]
