"""The time of one generation: phenes beside other libraries, its pieces, and its growth with the
dimension.

Everything is timed in one run, in rounds that visit each contender in turn, so that a busy machine
is busy for all of them. What counts is the ratio to PAES as a compiled loop, taken within a round.
Peers optimise the sphere itself; phenes also draws the input noise.
"""

import importlib
from collections.abc import Callable

import jax

from phenes_lab.bench.speed.generation.growth import scaling
from phenes_lab.bench.speed.generation.others import cmaes, evosax, pycma, spheres
from phenes_lab.bench.speed.generation.ours import contenders, timed_pieces
from phenes_lab.bench.speed.generation.rows import (
    REFERENCE,
    SECTIONS,
    GenerationRow,
    GenerationSettings,
    Timed,
    as_json,
    quartiles,
    rounds,
    table,
)
from phenes_lab.driver import Progress, silent

__all__ = [
    "REFERENCE",
    "GenerationRow",
    "GenerationSettings",
    "as_json",
    "compare",
    "run",
    "scaling",
    "table",
]


def run(settings: GenerationSettings, progress: Progress = silent) -> list[GenerationRow]:
    """Peers, pieces and growth. `progress(done, total)` is called after each round."""
    growth_rounds = min(settings.repeats, 3)  # slow, and steady enough
    total, done, rows = len(settings.dims) * settings.repeats + growth_rounds, 0, []

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    for d in settings.dims:
        rows += compare(d, settings, step)
    return rows + scaling(
        settings.scaling_dims, settings.full_dims, settings.popsize, growth_rounds, step
    )


def compare(
    d: int, settings: GenerationSettings, step: Callable[[], None] = lambda: None
) -> list[GenerationRow]:
    """All contenders at one dimension, and the pieces of a generation, in interleaved rounds."""
    n, repeats, seed = settings.popsize, settings.repeats, settings.seed
    with jax.enable_x64(True):
        timed, missing = _everybody(d, n)
        timed += timed_pieces(d, n) if d in settings.pieces_dims else []
        seconds = rounds(timed, repeats, seed, step)
    rows = [_row(c, d, seconds[c.name], seconds[REFERENCE]) for c in timed]
    return sorted(
        rows + [GenerationRow(SECTIONS[0], name, d, note="not installed") for name in missing],
        key=lambda row: SECTIONS.index(row.section),
    )


def _everybody(d: int, n: int) -> tuple[list[Timed], list[str]]:
    everybody, missing = [*contenders(d, n), *spheres(d, n)], []
    for module, names, make in (
        ("cma", ["pycma"], pycma),
        ("cmaes", ["cmaes"], cmaes),
        (
            "evosax.algorithms",
            ["evosax CMA_ES, compiled loop", "evosax CMA_ES, ask and tell"],
            evosax,
        ),
    ):
        try:
            everybody += make(importlib.import_module(module), d, n)
        except ImportError:
            missing += names
    return everybody, missing


def _row(contender: Timed, d: int, seconds: list[float], reference: list[float]) -> GenerationRow:
    ratios = [own / other for own, other in zip(seconds, reference, strict=True)]
    return GenerationRow(
        contender.section,
        contender.name,
        d,
        *quartiles(seconds),
        *quartiles(ratios),
        fastest=min(seconds),
    )
