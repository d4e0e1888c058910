"""Learning itself: `train`, its settings, and what comes out of it."""

from phenes.rl.curve import Curve
from phenes.rl.problems.settings import PRESETS, Settings, default, paper, paper_es
from phenes.rl.problems.tabular import Score
from phenes.rl.training.train import learn, learns_table, train
from phenes.rl.training.trained import Evaluation, Trained

__all__ = [
    "PRESETS",
    "Curve",
    "Evaluation",
    "Score",
    "Settings",
    "Trained",
    "default",
    "learn",
    "learns_table",
    "load",
    "paper",
    "paper_es",
    "train",
]

load = Trained.load
