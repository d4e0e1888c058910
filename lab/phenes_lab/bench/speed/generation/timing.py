"""Seconds for each generation, in rounds that visit each contender in turn."""

import time
from collections.abc import Callable
from typing import Any

import jax

from phenes_lab import report
from phenes_lab.bench.speed.generation.rows import Timed


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
