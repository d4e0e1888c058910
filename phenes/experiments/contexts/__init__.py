"""Contexts (the paper's appendix B, which has no experiment): bandit feedback, mixtures of experts.
Run -> store -> figures, report.
"""

from phenes.experiments.contexts.execute import run
from phenes.experiments.contexts.pictures import figures
from phenes.experiments.contexts.results import summary
from phenes.experiments.contexts.settings import METHODS, Settings
from phenes.experiments.contexts.writing import report

__all__ = ["METHODS", "Settings", "figures", "report", "run", "summary"]
