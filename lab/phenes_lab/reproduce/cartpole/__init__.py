"""The paper's experiment on CartPole-v1 (section 6.2), with its settings, with ours, and beside
evosax: run -> store -> figures, report.
"""

import functools
from dataclasses import dataclass

from phenes_lab import driver
from phenes_lab.reproduce import control
from phenes_lab.reproduce.control import summary


@dataclass(frozen=True)
class Settings(control.Settings):
    """See `control.Settings`."""

    environment: str = "CartPole-v1"
    target: float = 475.0
    by_mean_policy: bool = False
    methods: tuple[str, ...] = tuple(control.METHODS)
    seeds: int = 10
    generations: int = 1000
    ours: int = 300
    bar: int | None = 400

    @classmethod
    def quick(cls) -> "Settings":
        """A minute or two, to see that it works."""
        return cls(methods=(*control.OWN, "evosax-100-0.1-0.03"), seeds=2, generations=40, ours=40)


run = functools.partial(driver.run, control.experiment("cartpole"))

__all__ = ["Settings", "run", "summary"]
