"""Settings from the command line: `--set NAME=VALUE`, and options that stand for it."""

import dataclasses
import json
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

Change = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting; may be given again."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Keep what is in the folder and run what it lacks.")
]


def changes(texts: list[str] | None) -> dict[str, str]:
    """NAME=VALUE as {NAME: VALUE}."""
    out = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals:
            raise typer.BadParameter(
                f"--set must be NAME=VALUE, as generations=100 or methods=ES,default, got {text!r}"
            )
        out[name] = value
    return out


def read_setting(value: Any, kind: Any) -> Any:
    """40; ES,default or 1,4-6 where there are several: values are JSON, or else text."""
    several = get_origin(kind) is tuple
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except json.JSONDecodeError:
        read = _number(value) if kind is float else value
        if several:
            each = get_args(kind)[0]
            read = [one for part in value.split(",") for one in _part(part.strip(), each)]
    return [read] if several and not isinstance(read, list) else read


def _number(text: str) -> float | str:
    """.1 is a number, though none of JSON."""
    try:
        return float(text)
    except ValueError:
        return text


def _part(text: str, kind: Any) -> list[Any]:
    """A value, or all whole numbers from one to another."""
    if kind is not int:
        return [read_setting(text, kind)]
    low, _, high = text.partition("-")
    try:
        return list(range(int(low), int(high or low) + 1))
    except ValueError:
        raise typer.BadParameter(f"must be numbers such as 1,4-6, got {text!r}") from None


def made(name: str, settings: Any, quick: bool, given: dict[str, Any]) -> Any:
    """Settings of a class, `quick()` or not, with those that were given. name: of the command."""
    there = get_type_hints(settings)
    if unknown := [each for each in given if each not in there]:
        raise typer.BadParameter(f"{name} has no setting {unknown[0]!r}, only {', '.join(there)}")
    read = {each: read_setting(value, there[each]) for each, value in given.items()}
    for each, value in read.items():
        if there[each] in (int, float) and isinstance(value, str):
            raise typer.BadParameter(f"{each} must be a number, got {value!r}")
    read = {
        each: tuple(value) if isinstance(value, list) else value for each, value in read.items()
    }
    try:
        return dataclasses.replace(settings.quick() if quick else settings(), **read)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
