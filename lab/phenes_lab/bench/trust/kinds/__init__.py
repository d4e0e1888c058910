"""The kinds of problems, by what makes them hard. Importing this registers them all."""

from phenes_lab.bench.trust.kinds import (
    chance,
    errors,
    exact,
    machines,
    measured,
    parts,
    plateaus,
    shapes,
    smooth,
    steps,
    walls,
)

__all__ = [
    "chance",
    "errors",
    "exact",
    "machines",
    "measured",
    "parts",
    "plateaus",
    "shapes",
    "smooth",
    "steps",
    "walls",
]
