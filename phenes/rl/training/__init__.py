"""Learning itself: `train`, its settings, and what comes out of it."""

from phenes.rl.curve import Curve
from phenes.rl.problems.presets import PRESETS
from phenes.rl.problems.random_search import Search, random_search, random_search_v1
from phenes.rl.problems.settings import Settings, default, linear, network, paper, paper_es
from phenes.rl.problems.tabular import Score
from phenes.rl.training.callbacks import Moment, SaveBest, StopAt, StopWithoutImprovement
from phenes.rl.training.train import learn, learns_table, train
from phenes.rl.training.trained import Evaluation, Trained

__all__ = [
    "PRESETS",
    "Curve",
    "Evaluation",
    "Moment",
    "SaveBest",
    "Score",
    "Search",
    "Settings",
    "StopAt",
    "StopWithoutImprovement",
    "Trained",
    "default",
    "learn",
    "learns_table",
    "linear",
    "load",
    "network",
    "paper",
    "paper_es",
    "random_search",
    "random_search_v1",
    "train",
]

load = Trained.load
