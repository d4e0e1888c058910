"""Two objectives at once: the designs that no other beats in both, from one archive.

Every evaluation is a value of f at a realised x, so that the same rows say what the mean, the
spread or a tail of f(x) is at any theta: there is one search, not one for each compromise.
"""

from phenes.pareto.answer import Axis, Front
from phenes.pareto.run import front

__all__ = ["Axis", "Front", "front"]
