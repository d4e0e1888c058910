"""Constraints on the realised x: how surely they must hold, and how surely they do.

f returns its value and a mapping of numbers that are good where they are at most 0:
`return cost, {"stress": s - limit, "gap": g}`.

`chance`
    Each part must meet them with some probability: all together, or one probability for each.
`on_average`
    Their mean must be at most 0.
`Constraints`, `Held`
    What an answer says of them, `Result.constraints`.
"""

from phenes.constraints.table import Constraints, Held
from phenes.constraints.wanted import Requirement, Wanted, chance, on_average

__all__ = ["Constraints", "Held", "Requirement", "Wanted", "chance", "on_average"]
