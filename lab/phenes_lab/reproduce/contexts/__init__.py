"""Contexts (the paper's appendix B, which has no experiment): bandit feedback, mixtures of experts.
Run -> store -> figures, report.
"""

from phenes_lab.reproduce.contexts.execute import run
from phenes_lab.reproduce.contexts.pictures import figures
from phenes_lab.reproduce.contexts.results import summary
from phenes_lab.reproduce.contexts.settings import METHODS, Settings
from phenes_lab.reproduce.contexts.writing import report

__all__ = ["METHODS", "Settings", "figures", "report", "run", "summary"]
