"""The noiseless BBOB test functions of the COCO platform, as jittable JAX functions."""

from phenes.problems.coco.problem import Problem, bbob

__all__ = ["Problem", "bbob"]
