"""Environments that the defaults of `phenes train` were not chosen on, beside ES with the same
number of episodes.
"""

import functools

from phenes.experiments import driver
from phenes.experiments.untuned.execute import EXPERIMENT
from phenes.experiments.untuned.results import summary
from phenes.experiments.untuned.settings import Settings

run = functools.partial(driver.run, EXPERIMENT)

__all__ = ["Settings", "run", "summary"]
