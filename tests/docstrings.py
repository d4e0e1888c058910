"""What numpydoc asks of the docstrings of everything exported, and what is missing.

A public package is one that `phenes` exports; what it exports is in its `__all__`. Methods that a
protocol of `phenes.protocols` names are documented there.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import phenes
from phenes import protocols

SHOWN_BY_THEMSELVES = {"self", "cls"}


def packages() -> dict[str, Any]:
    """The facade, and every room and room below it that it exports."""
    found = {"phenes": phenes}
    todo = [phenes]
    while todo:
        module = todo.pop()
        names = getattr(module, "__all__", ()) if module is not phenes else dir(phenes)
        for name in names:
            value = getattr(module, name)
            if inspect.ismodule(value) and value.__name__ not in found:
                found[value.__name__] = value
                todo.append(value)
    return found


def exported() -> Iterator[tuple[str, Any]]:
    """(name, function or class) of everything exported, each once."""
    seen: set[int] = set()
    for home, module in sorted(packages().items()):
        for name in public(module):
            value = getattr(module, name)
            kind = inspect.isclass(value) or inspect.isfunction(value)
            if kind and id(value) not in seen:
                seen.add(id(value))
                yield f"{home}.{name}", value


def public(module: Any) -> list[str]:
    """What is in its `__all__`; without one, what it defines and does not hide."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return list(getattr(module, "__all__", own))


OF_PROTOCOLS = {
    name
    for protocol in vars(protocols).values()
    if inspect.isclass(protocol) and getattr(protocol, "_is_protocol", False)
    for name in vars(protocol)
    if not name.startswith("_")
}


def methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class that are ours."""
    for name in dir(cls):
        home = next((base for base in cls.__mro__ if name in vars(base)), object)
        if name.startswith("_") or not home.__module__.startswith("phenes"):
            continue
        if name in getattr(cls, "__dataclass_fields__", ()):  # the default of a field
            continue
        value = inspect.getattr_static(cls, name)
        value = getattr(value, "__func__", value)  # of class and static methods
        if inspect.isfunction(value) or isinstance(value, property):
            yield name, value


def parameters(value: Any) -> list[str]:
    """The names that a call may give, or [] where there is no signature or nothing to call."""
    if getattr(value, "_is_protocol", False):
        return []
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in found if each.name not in SHOWN_BY_THEMSELVES]


def sections(text: str) -> dict[str, str]:
    """The sections of a numpydoc docstring, by title; "" is what stands before the first."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def named(section: str) -> set[str]:
    """The names at the left margin of a section: `a, b : int` or `*rest`."""
    heads = [line for line in section.splitlines() if line and not line[0].isspace()]
    return {
        name.strip().lstrip("*")
        for head in heads
        for name in head.split(" : ")[0].rstrip(":").split(",")
    }


def missing(name: str, value: Any) -> list[str]:
    """What the docstring of an exported object lacks, with those of a class's methods."""
    out = _of_callable(name, value)
    if inspect.isclass(value):
        for method, found in methods(value):
            whole = f"{name}.{method}"
            if isinstance(found, property):
                out += [] if _doc(found) else [f"{whole} has no docstring"]
            elif method not in OF_PROTOCOLS:
                out += _of_callable(whole, found)
    return out


def _doc(value: Any) -> str:
    own = inspect.getdoc(value) or ""
    # what dataclasses and NamedTuples write for themselves
    return "" if re.match(r"\w+\(.*\)( -> None)?$", own) else own


def _of_callable(name: str, value: Any) -> list[str]:
    text = _doc(value)
    if not text:
        return [f"{name} has no docstring"]
    out = []
    if not re.match(r"[^\n]*[.:!?`\])]$", text.split("\n\n")[0]):
        out.append(f"{name} has no summary of one line")
    parts = sections(text)
    known = named(parts.get("Parameters", "")) | named(parts.get("Attributes", ""))
    known |= named(parts.get("Other Parameters", ""))
    lacking = [each for each in parameters(value) if each not in known]
    if lacking:
        out.append(f"{name} does not describe {', '.join(lacking)}")
    if inspect.isfunction(value) and _returns(value) and not {"Returns", "Yields"} & set(parts):
        out.append(f"{name} does not say what it returns")
    return out


def _returns(function: Callable[..., Any]) -> bool:
    given = inspect.signature(function).return_annotation
    return given not in (None, "None", inspect.Signature.empty)
