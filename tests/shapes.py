"""The shapes in the annotations of phenes, checked at test time.

`jaxtyping` hooks into the import of the modules named here and calls `shapes_only` for every
function. Only annotations with a shape are given to beartype: what users give is validated by
phenes itself, with sentences that tests look at.
"""

import types
import typing

import beartype
from jaxtyping import AbstractArray

SEVERAL = (typing.Union, types.UnionType, tuple)
MODULES = [
    "phenes._random",
    "phenes._score",
    "phenes.batch",
    "phenes.covariance",
    "phenes.diagnostics",
    "phenes.estimators",
    "phenes.inputs",
    "phenes.laws",
    "phenes.loop",
    "phenes.metric",
    "phenes.search",
    "phenes.special",
    "phenes.strategy",
    "phenes.triangular",
    "phenes.weightings",
]


def shapes_only(function):
    """`function` that checks arguments and results whose annotation has a shape."""
    shaped = {name: reduced(a) for name, a in function.__annotations__.items() if has_shape(a)}
    if not shaped:
        return function
    function.__annotations__ = shaped
    return beartype.beartype(function)


def has_shape(annotation):
    if isinstance(annotation, type) and issubclass(annotation, AbstractArray):
        return True
    return typing.get_origin(annotation) in SEVERAL and any(
        has_shape(part) for part in typing.get_args(annotation)
    )


def reduced(annotation):
    """The same with `object` for members of a tuple that have no shape, such as Self."""
    if typing.get_origin(annotation) is not tuple:
        return annotation
    parts = typing.get_args(annotation)
    return tuple[tuple(reduced(part) if has_shape(part) else object for part in parts)]
