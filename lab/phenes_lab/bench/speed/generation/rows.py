"""GenerationSettings, what is timed, and what is reported."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

SECTIONS = ("generation", "objective", "pieces", "growth")
REFERENCE = "phenes PAES, compiled loop"


@dataclass(frozen=True)
class GenerationSettings:
    """repeats: rounds. pieces_dims: those of `dims` where the time inside a generation is taken
    apart. scaling_dims, full_dims: dimensions for the growth of isotropic and diagonal search, and
    of full covariance."""

    dims: tuple[int, ...] = (10, 40, 100, 400)
    popsize: int = 100
    repeats: int = 7
    seed: int = 0
    pieces_dims: tuple[int, ...] = (10, 40, 400)
    scaling_dims: tuple[int, ...] = (100, 1000, 10_000, 100_000)
    full_dims: tuple[int, ...] = (50, 100, 200, 400)

    def __post_init__(self):
        if self.popsize < 4 or self.repeats < 1:
            raise ValueError(
                f"popsize must be at least 4 and repeats at least 1, got {self.popsize} and"
                f" {self.repeats}"
            )

    @classmethod
    def quick(cls) -> "GenerationSettings":
        return cls(dims=(10,), repeats=3, scaling_dims=(100, 1000), full_dims=())


@dataclass(frozen=True)
class GenerationRow:
    """Seconds for a generation: median of the rounds, with quartiles; ratio: to PAES as a compiled
    loop, in the same rounds.

    memory: bytes of temporaries of the compiled program. exponent: of time against dimension,
    fitted over the family's rows.
    """

    section: str
    name: str
    dim: int
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    memory: int | None = None
    exponent: float | None = None
    note: str = ""


class Timed(NamedTuple):
    """start(seed) makes a fresh run and warms it up, outside the clock; calling what it returns
    does `generations` of them.

    Warm: the first generation of CMA-ES samples from the identity, without an eigendecomposition,
    and is not like those that follow.
    """

    section: str
    name: str
    generations: int
    start: Callable[[int], Callable[[], Any]]
