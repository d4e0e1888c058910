"""Environments that the defaults of `phenes train` were not chosen on, beside ES with the same
number of episodes.
"""

import functools

from phenes_lab import driver
from phenes_lab.reproduce.untuned.execute import EXPERIMENT
from phenes_lab.reproduce.untuned.results import summary
from phenes_lab.reproduce.untuned.settings import Settings

run = functools.partial(driver.run, EXPERIMENT)

__all__ = ["Settings", "run", "summary"]
