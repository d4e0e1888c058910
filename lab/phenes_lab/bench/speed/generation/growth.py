"""Time, memory and work against the dimension."""

import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from phenes.batch import Batch
from phenes.search import DiagonalGaussian, IsotropicGaussian
from phenes.strategy import State
from phenes_lab.bench.speed.generation.ours import Setup, full_search, population, set_up, start_of
from phenes_lab.bench.speed.generation.rows import (
    GenerationRow,
    Timed,
    from_second,
    quartiles,
    rounds,
)


def scaling(
    dims: tuple[int, ...] = (100, 1000, 10_000, 100_000),
    full_dims: tuple[int, ...] = (50, 100, 200, 400),
    popsize: int = 100,
    repeats: int = 5,
    step: Callable[[], None] = lambda: None,
) -> list[GenerationRow]:
    """Time and memory of one compiled generation (tell, ask, f): isotropic and diagonal search at
    `dims`, full at `full_dims`.
    """
    families = {
        "isotropic": (lambda d: IsotropicGaussian(start_of(d), 0.5), dims),
        "diagonal": (lambda d: DiagonalGaussian(start_of(d), 0.5), dims),
        "full": (full_search, full_dims),
    }
    with jax.enable_x64(True):
        cells = {
            (name, d): compile_generation(set_up(make(d), popsize))
            for name, (make, ds) in families.items()
            for d in ds
        }
        timed = [
            Timed("growth", f"{name} {d}", cell.generations, cell.start)
            for (name, d), cell in cells.items()
        ]
        seconds = rounds(timed, repeats, 0, step)
    return [
        GenerationRow(
            "growth",
            f"{name} search",
            d,
            *quartiles(seconds[f"{name} {d}"]),
            memory=cells[name, d].memory,
            exponent=exponent,
        )
        for name, (_, ds) in families.items()
        for exponent in [_exponent(ds, [seconds[f"{name} {d}"] for d in ds])]
        for d in ds
    ]


class Compiled(NamedTuple):
    generations: int
    start: Callable[[int], Callable[[], Any]]
    memory: int
    operations: float  # as the compiler counts them, which leaves out what LAPACK does


def compile_generation(setup: Setup) -> Compiled:
    def generation(key: PRNGKeyArray, state: State, batch: Batch) -> tuple[State, Batch]:
        state, _ = setup.strategy.tell(state, batch)
        batch = setup.problem.realise(key, state.generation, setup.strategy.ask(key, state))
        return state, batch._replace(f=setup.problem.evaluate(batch.x))

    key, state = jax.random.key(0), setup.strategy.init(setup.q)
    batch = population(setup.problem, setup.strategy, state)
    compiled = jax.jit(generation).lower(key, state, batch).compile()
    generations = min(max(10_000 // setup.q.dim, 1), 20)

    def start(seed: int) -> Callable[[], Any]:
        # as everywhere, one generation goes before, untimed: the neighbour may have left a gigabyte
        # to be given back
        return from_second(
            lambda _: jax.block_until_ready(compiled(key, state, batch)), None, generations
        )

    memory, cost = compiled.memory_analysis(), compiled.cost_analysis()
    assert memory is not None, "the CPU compiler always gives one"
    assert cost is not None, "and the other too"
    return Compiled(generations, start, memory.temp_size_in_bytes, cost["flops"])


def _exponent(dims: tuple[int, ...], seconds: list[list[float]]) -> float | None:
    """Slope of log time against log d."""
    if len(dims) < 2:
        return None
    return float(np.polyfit(np.log(dims), np.log([statistics.median(s) for s in seconds]), 1)[0])
