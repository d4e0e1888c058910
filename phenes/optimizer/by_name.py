"""f as users write it for a space: of a mapping, or of the parameters by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from phenes import _validate
from phenes._validate import FloatArray
from phenes.space import Space

# kinds of parameters that a keyword can fill
BY_KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class ByName:
    """f of vectors, for loops and workers that know no names.

    An f that realises x returns it by name; what it leaves out was not measured, or is exact.
    """

    def __init__(self, f: Callable[..., Any], space: Space, realises: bool, vectorized: bool):
        self.f, self.space = f, space
        self.realises, self.vectorized = realises, vectorized
        self.unpack = takes_keywords(f, space.names)

    def __call__(self, point: FloatArray) -> Any:
        values: dict[str, Any]
        if self.vectorized:
            values = dict(self.space.columns(point))
        else:
            values = dict(self.space.decode(point))
        out = self.f(**values) if self.unpack else self.f(values)
        if not self.realises:
            return out
        x, *others = out
        if not self.vectorized:
            return (self.space.realised(x, point), *others)
        pairs = zip(self.space.rows(x), point, strict=True)
        return (np.array([self.space.realised(each, at) for each, at in pairs]), *others)


def takes_keywords(f: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """Whether f is called as f(width=..., turns=...); otherwise as f({"width": ..., ...}).

    By keywords if its parameters are called as those of the space (or are `**values`); with a
    mapping if it has one parameter, of another name.
    """
    _validate.function("f", f, "lambda x: x['width'] ** 2")
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # some functions written in C say nothing
        return False
    open_ended = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
    known = [each.name for each in parameters if each.kind in BY_KEYWORD and each.name in names]
    needed = [
        each.name
        for each in parameters
        if each.default is inspect.Parameter.empty
        and each.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        and each.name not in known
    ]
    if len(needed) == 1 and not known:
        return False
    missing = [name for name in names if name not in known]
    if needed or not (known or open_ended) or (missing and not open_ended):
        wrong = f"needs {needed[0]}" if needed else f"takes no {missing[0]}"
        raise ValueError(
            "f must take one mapping by name, or the parameters of the space as keywords,"
            f" ({', '.join(names)}), got a function that {wrong}"
        )
    return True
