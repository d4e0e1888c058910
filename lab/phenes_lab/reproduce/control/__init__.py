"""The paper's experiments with policies in networks (section 6.2): one room for CartPole, Pendulum
and Swimmer, which differ in numbers.
"""

from phenes_lab.reproduce.control.execute import experiment
from phenes_lab.reproduce.control.results import summary
from phenes_lab.reproduce.control.settings import METHODS, OWN, RIVALS, Settings

__all__ = ["METHODS", "OWN", "RIVALS", "Settings", "experiment", "summary"]
