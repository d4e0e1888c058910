"""Learning itself: `train`, its settings, and what comes out of it."""

from phenes.rl.problems.settings import PRESETS, Settings, default, paper, paper_es
from phenes.rl.training.curve import Curve
from phenes.rl.training.train import learn, load, train
from phenes.rl.training.trained import Evaluation, Trained

__all__ = [
    "PRESETS",
    "Curve",
    "Evaluation",
    "Settings",
    "Trained",
    "default",
    "learn",
    "load",
    "paper",
    "paper_es",
    "train",
]
