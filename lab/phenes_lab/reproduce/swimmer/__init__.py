"""The paper's experiment on Swimmer-v5 (section 6.2), with its settings and with ours: run -> store
-> figures, report.
"""

import functools
from dataclasses import dataclass

from phenes_lab import driver
from phenes_lab.reproduce import control
from phenes_lab.reproduce.control import summary


@dataclass(frozen=True)
class Settings(control.Settings):
    """See `control.Settings`. The paper has 5000 generations; a few hundred show which method
    learns, in hours instead of days.
    """

    environment: str = "Swimmer-v5"
    target: float = 300.0
    by_mean_policy: bool = True
    seeds: int = 3
    generations: int = 300
    ours: int = 100
    keep_on: bool = True

    @classmethod
    def quick(cls) -> "Settings":
        """A minute or two, to see that it works."""
        return cls(seeds=1, generations=2, ours=2)


run = functools.partial(driver.run, control.experiment("swimmer"))

__all__ = ["Settings", "run", "summary"]
