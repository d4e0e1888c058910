"""Learning itself: `train`, its settings, and what comes out of it."""

from phenes.rl.training.door import learn, load, train
from phenes.rl.training.progress import Curve
from phenes.rl.training.settings import PRESETS, Settings, default, paper, paper_es
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
