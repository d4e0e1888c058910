"""The kinds of problems, by what makes them hard. Importing this registers them, in this order."""

from phenes_lab.bench.trust.kinds import chance, exact, machines, measured, parts, shapes, walls

__all__ = ["chance", "exact", "machines", "measured", "parts", "shapes", "walls"]
