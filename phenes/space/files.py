"""A TOML file with a space, and whatever else a run needs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from phenes import _validate
from phenes.space.space import Space

SPACE = "space"


def read_file(path: str | Path) -> tuple[Space | None, dict[str, Any]]:
    """What a file says of a run.

    Parameters
    ----------
    path : str or Path
        A TOML file with a table `[space]`, in which each parameter is one of
        `{real = [low, high]}`, `{log = [low, high]}`, `{integer = [low, high]}` and
        `{choice = [...]}`, with `unit` and `noise`. `noise` outside of it is one law for all.

    Returns
    -------
    space : Space or None
        None if the file has none.
    settings : dict
        All else.

    Raises
    ------
    ValueError
        If there is no such file, or it does not say what it must.
    """
    try:
        with Path(path).open("rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} must be a TOML file: {error}") from None
    if SPACE not in data:
        return None, data
    parameters, noise = data.pop(SPACE), data.pop("noise", None)
    if _validate.mapping(parameters) is None:
        raise ValueError(
            f"{SPACE} in {path} must be a table of parameters, got {_validate.quote(parameters)}"
        )
    return Space.from_described(parameters, noise), data
