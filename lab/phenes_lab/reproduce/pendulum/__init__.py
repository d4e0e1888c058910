"""The paper's experiment on Pendulum-v1 (section 6.2), with its settings and with ours: run ->
store -> figures, report.
"""

import functools
from dataclasses import dataclass

from phenes_lab import driver
from phenes_lab.reproduce import control
from phenes_lab.reproduce.control import summary


@dataclass(frozen=True)
class Settings(control.Settings):
    """See `control.Settings`. The paper has 3000 generations, of which the first few hundred show
    who learns.
    """

    environment: str = "Pendulum-v1"
    target: float = -200.0
    by_mean_policy: bool = True
    seeds: int = 10
    few: int | None = 5
    generations: int = 300
    ours: int = 400

    @classmethod
    def quick(cls) -> "Settings":
        """A minute or two, to see that it works."""
        return cls(seeds=2, generations=20, ours=20)


run = functools.partial(driver.run, control.experiment("pendulum"))

__all__ = ["Settings", "run", "summary"]
