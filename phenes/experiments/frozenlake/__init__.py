"""The paper's FrozenLake experiments (section 6.2, appendix) and the clean comparison of
estimators: run -> store -> figures, report.
"""

from phenes.experiments.frozenlake.execute import run
from phenes.experiments.frozenlake.pictures import figures
from phenes.experiments.frozenlake.results import summary
from phenes.experiments.frozenlake.settings import METHODS, Settings
from phenes.experiments.frozenlake.writing import report

__all__ = ["METHODS", "Settings", "figures", "report", "run", "summary"]
