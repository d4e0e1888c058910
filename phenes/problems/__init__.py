"""Test problems with known optima.

`bbob` makes the 24 noiseless BBOB functions in JAX, `robust` holds published problems with noise on
the inputs and their robust optima, `engineering` problems that engineers recognise.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phenes.problems import engineering, robust
    from phenes.problems.coco import Problem, bbob

__all__ = ["Problem", "bbob", "engineering", "robust"]


def __getattr__(name: str) -> Any:
    """Loaded when first used: the problems of `robust` do not wait for JAX."""
    if name not in __all__:
        raise AttributeError(f"module 'phenes.problems' has no attribute {name!r}")
    if name in ("Problem", "bbob"):
        value = getattr(importlib.import_module("phenes.problems.coco"), name)
    else:
        value = importlib.import_module(f"phenes.problems.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
