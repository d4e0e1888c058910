"""What is run: functions, dimensions, evaluations for each dimension, and seeds."""

from dataclasses import dataclass
from typing import NamedTuple

from phenes_lab.bench.regimes.functions import FUNCTIONS
from phenes_lab.settings import Checked

LEAST = 20  # evaluations of a run


class Part(NamedTuple):
    """A cell of the grid and a seed."""

    function: str
    dim: int
    each: int
    seed: int

    @property
    def key(self) -> str:
        return f"{self.function}/d{self.dim}/{self.each}/{self.seed:02d}"

    @property
    def budget(self) -> int:
        return max(self.each * self.dim, LEAST)


@dataclass(frozen=True)
class RegimesSettings(Checked):
    """problems: functions by name. each: evaluations for each dimension. start, sigma0: in every
    coordinate.
    """

    problems: tuple[str, ...] = tuple(FUNCTIONS)
    dims: tuple[int, ...] = (2, 4, 8, 12, 20, 30, 45, 70, 100, 150, 300, 1000)
    each: tuple[int, ...] = (10, 20)
    noise: float = 0.1
    start: float = 1.0
    sigma0: float = 0.3
    seeds: int = 3
    seed: int = 0

    def __post_init__(self):
        self.tuples()
        self.among("problems", FUNCTIONS)
        self.counts("seeds")
        self.positive("noise", "sigma0")
        for name in ("dims", "each"):
            self.filled(name)
            values = tuple(sorted(set(getattr(self, name))))
            if not all(isinstance(value, int) and value >= 2 for value in values):
                got = ", ".join(map(str, values))
                raise ValueError(f"{name} must be integers of at least 2, got {got}")
            object.__setattr__(self, name, values)

    @classmethod
    def quick(cls) -> "RegimesSettings":
        """Under a minute."""
        return cls(dims=(12, 20, 45, 70), each=(20,), seeds=2)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Seed by seed, small ones first: what is stopped half way has something of every cell."""
        cells = [(d, n) for d in self.dims for n in self.each]
        cells.sort(key=lambda cell: cell[0] ** 2 * cell[1])
        return tuple(
            Part(function, dim, each, seed)
            for seed in range(self.seeds)
            for dim, each in cells
            for function in self.problems
        )
