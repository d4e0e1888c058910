"""What one generation costs: phenes beside other libraries, where its time goes, and how it grows
with the dimension.

Everything is timed in one run, in rounds that visit each contender in turn, so that a busy machine
is busy for all of them. What counts is the ratio to PAES as a compiled loop, taken within a round.
Peers optimise the sphere itself; phenes also draws the input noise.
"""

from phenes_lab.bench.speed.generation.compare import compare, run
from phenes_lab.bench.speed.generation.growth import scaling
from phenes_lab.bench.speed.generation.rows import REFERENCE, GenerationRow, GenerationSettings
from phenes_lab.bench.speed.generation.table import as_json, table

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
