"""Test problems with known optima."""

from phenes.problems.coco import Problem, bbob

__all__ = ["Problem", "bbob"]
