"""What makes a run the same run: arguments by their meaning, functions by name and code.

A checkpoint is gone on with only by a call that means the same. Texts from here are equal for
arguments that mean the same, however they are written and in whichever process: `0.1` and
`np.float64(0.1)`, or two objects of a class of the user's with equal attributes.
"""

# it looks into objects of any kind
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LONGEST = 80  # characters of a description above which its hash is stored
DEEPEST = 6  # objects inside objects; what lies deeper is described by its class


def describe(value: Any) -> Any:
    """`value` for JSON: as it is if that is short, else its beginning and a hash of all of it."""
    plain = _plain(value, 0)
    text = json.dumps(plain)
    if len(text) <= LONGEST:
        return plain
    return f"{text[:60]}... {_digest(text)}"


def function(f: Callable[..., Any]) -> str:
    """Module, qualified name and code of f, with the numbers and arrays that it closes over.

    The code is hashed as it is compiled: comments and layout do not count, and functions that were
    typed in have it too. Python's version is part of it, as compilers differ.
    """
    inner = _unwrapped(f)
    if isinstance(inner, functools.partial):
        return f"{function(inner.func)} with {describe([inner.args, inner.keywords])}"
    known = _code(inner)
    if known is None:
        return _name(inner)
    code, closed = known
    text = json.dumps([_text_of(code), _plain(closed, 1)])
    version = ".".join(map(str, sys.version_info[:2]))
    return f"{_name(inner)} (code {_digest(text)} of Python {version})"


def _unwrapped(f: Any) -> Any:
    """The user's own function inside decorators and compilers."""
    return inspect.unwrap(f) if callable(f) else f


def _name(f: Any) -> str:
    if not hasattr(f, "__qualname__"):
        f = type(f)
    module = getattr(f, "__module__", "")
    return f"{_program() if module == '__main__' else module}.{f.__qualname__}"


def _program() -> str:
    """The module that runs as __main__ by the name that others import it by."""
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return spec.name
    return "__main__" if file is None else Path(file).stem


def _code(f: Any) -> tuple[types.CodeType, list[Any]] | None:
    """The code of a function, a method or an object with __call__, and what it closes over."""
    if isinstance(f, types.MethodType):
        f = f.__func__
    elif not isinstance(f, types.FunctionType):
        f = getattr(type(f), "__call__", None)  # noqa: B004  # its code, not whether it has one
    if not isinstance(f, types.FunctionType):
        return None
    code = f.__code__
    # a variable that the function itself rebinds is its memory, not what it is
    own = {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_DEREF"}
    cells = zip(code.co_freevars, f.__closure__ or (), strict=True)
    closed = [_constant(_content(cell)) for name, cell in cells if name not in own]
    defaults = [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
    return code, [*closed, *map(_constant, defaults)]


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _constant(value: Any) -> Any:
    """What is taken for a part of a function: lists and objects change while it is called."""
    if callable(value) or isinstance(value, bool | int | float | str | tuple | np.generic):
        return value
    return value if _is_array(value) else None


def _text_of(code: types.CodeType) -> list[Any]:
    """What the code does: instructions and what they act on, without lines and documentation."""
    steps = [[each.opname, _operand(each.argval)] for each in dis.get_instructions(code)]
    return [steps, code.co_exceptiontable.hex()]


def _operand(value: Any) -> Any:
    if isinstance(value, types.CodeType):
        return _text_of(value)
    if isinstance(value, frozenset):  # sets are in an order of their own in each process
        return sorted(map(repr, value))
    return repr(value)


def _plain(value: Any, depth: int) -> Any:
    """`value` as JSON has it, equal for equal meaning."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each, depth + 1) for key, each in sorted(value.items())}
    array = _array(value)
    if array is not None:
        return [str(each) for each in array.ravel()] if array.dtype.kind == "c" else _rows(array)
    if inspect.isroutine(value) or isinstance(value, functools.partial):
        return function(value)
    if isinstance(value, type) or depth > DEEPEST or not hasattr(value, "__dict__"):
        return _name(value)
    inside = {name: _plain(each, depth + 1) for name, each in sorted(vars(value).items())}
    return {_name(value): inside}


def _rows(array: np.ndarray) -> Any:
    """Nested lists of floats; many numbers are a hash."""
    if array.size > LONGEST:
        exact = np.ascontiguousarray(array, np.float64)
        return f"array {array.shape} {_digest(exact.tobytes())}"
    # text where JSON has no number
    return json.loads(json.dumps(array.astype(np.float64).tolist()), parse_constant=str)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and not isinstance(value, type)


def _array(value: Any) -> np.ndarray | None:
    """Numbers as an array: Python's, NumPy's or JAX's."""
    if not isinstance(value, int | float | complex) and not _is_array(value):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # some arrays, such as keys of random numbers, cannot be converted
        return None
    return array if array.dtype.kind in "iufcb" else None


def _digest(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(raw).hexdigest()[:16]
