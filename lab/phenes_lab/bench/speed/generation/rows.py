"""Settings, what is timed and how, and what is reported, for people and for machines.

Seconds for each generation are taken in rounds that visit each contender in turn.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax

from phenes_lab import report
from phenes_lab.report import rich_table, rows_as_json

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

    fastest: seconds of the quickest round; other work on the machine can only add to a round.
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
    fastest: float | None = None
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


def rounds(
    contenders: list[Timed], repeats: int, seed: int, step: Callable[[], None]
) -> dict[str, list[float]]:
    """Seconds for a generation, by contender and round."""
    for contender in contenders:
        contender.start(seed)()  # compile
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for r in range(repeats):
        # another one begins each time, so that none always follows the same neighbour
        shift = r % max(len(contenders), 1)
        for contender in contenders[shift:] + contenders[:shift]:
            advance = contender.start(seed + r)
            before = time.perf_counter()
            advance()
            seconds[contender.name].append((time.perf_counter() - before) / contender.generations)
        step()
    return seconds


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Median, lower and upper quartile."""
    low, middle, high = report.quartiles(values)
    return middle, low, high


def loop_length(d: int) -> int:
    """Long enough to time, short enough that no search has converged to nothing."""
    return min(max(2000 // d, 5), 200)


def host_length(d: int) -> int:
    return max(200 // d, 2)


def from_second(generation: Callable[[Any], Any], state: Any, steps: int) -> Callable[[], Any]:
    """The first generation now, the others when called."""
    second = jax.block_until_ready(generation(state))

    def advance() -> Any:
        state = second
        for _ in range(steps):
            state = generation(state)
        return jax.block_until_ready(state)

    return advance


def table(rows: list[GenerationRow]) -> Any:
    """For people, as a `rich` table."""
    lines: list[list[str] | None] = []
    previous = None
    for row in rows:
        if previous not in (None, (row.section, row.dim)) and row.section != "growth":
            lines.append(None)
        lines.append(_texts(row))
        previous = (row.section, row.dim)
    columns = ("what", "d", "time", "ratio", "memory", "exponent of time in d")
    caption = f"ratio: to {REFERENCE}, in the same rounds"
    return rich_table(
        columns, lines, "One generation: median of the rounds (quartiles)", caption=caption
    )


def _texts(row: GenerationRow) -> list[str]:
    name = f"  of which {row.name}" if row.section == "pieces" else row.name
    if row.seconds is None:
        return [name, str(row.dim), row.note, "", "", ""]
    seconds = f"{_duration(row.seconds)} ({_duration(row.low)} to {_duration(row.high)})"
    ratio, memory, exponent = "", "", ""
    if row.ratio is not None:
        ratio = f"{row.ratio:.3g} ({row.ratio_low:.3g} to {row.ratio_high:.3g})"
    if row.memory is not None:
        memory = f"{row.memory / 2**20:.3g} MiB"
    if row.exponent is not None:
        exponent = f"{row.exponent:.2f}"
    return [name, str(row.dim), seconds, ratio, memory, exponent]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"


def as_json(rows: list[GenerationRow]) -> dict[str, Any]:
    return rows_as_json("generation", rows, reference=REFERENCE)
