"""Settings of a run from a TOML file, which options of the command line override."""

from pathlib import Path
from typing import Any

import typer

from phenes.cli.shared import given

# of `minimize`, in a file
WORDS = (
    "noise",
    "x0",
    "sigma0",
    "bounds",
    "budget",
    "target",
    "popsize",
    "objective",
    "verify",
    "engine",
    "constraints",
    "workers",
    "maximize",
    "realises",
    "vectorized",
    "seed",
)
# of `front`, in a file
FRONT_WORDS = (
    *("noise", "x0", "sigma0", "bounds", "budget", "objectives", "points", "verify", "workers"),
    *("maximize", "realises", "seed"),
)
# the word for constraints whose mean is bounded
AVERAGE = "average"
# of `Workers`, in a file in the table [workers]
EVALUATION = ("timeout", "max_attempts", "asynchronous")


def read_settings(
    file: Path | None, options: dict[str, Any], known: tuple[str, ...] = WORDS
) -> dict[str, Any]:
    """Keywords of `minimize` from a file; those of the command line (`options`) override them.

    A file may hold the space and every option of the command line. known: its permitted keys.
    """
    from phenes.optimizer import Workers
    from phenes.risk import parse
    from phenes.space import read_file

    space, settings = (None, {}) if file is None else read_file(file)
    unknown = [name for name in settings if name not in known]
    if unknown:
        raise typer.BadParameter(
            f"{file} must have a table [space], and of {', '.join(known)}; got {unknown[0]!r}"
        )
    workers = settings.pop("workers", None)
    words = dict(workers) if isinstance(workers, dict) else given(workers=workers)
    said = {name: options[name] for name in ("workers", *EVALUATION) if name in options}
    words |= said
    wrong = [name for name in words if name not in ("workers", *EVALUATION)]
    if wrong:
        raise typer.BadParameter(
            f"workers in {file} must be of workers, {', '.join(EVALUATION)}; got {wrong[0]!r}"
        )
    settings |= {name: value for name, value in options.items() if name not in said}
    if "constraints" in settings:
        settings["constraints"] = _constraints(settings["constraints"])
    if isinstance(settings.get("objective"), str):
        settings["objective"] = parse(settings["objective"])
    if isinstance(settings.get("objectives"), list):
        each = settings["objectives"]
        settings["objectives"] = [parse(one) if isinstance(one, str) else one for one in each]
    return given(space=space, workers=Workers(**words) if words else None) | settings


def _constraints(value: Any) -> Any:
    """`chance` of a probability or of probabilities by name, `on_average` of the word."""
    from phenes.constraints import chance, on_average

    if value == AVERAGE:
        return on_average()
    try:
        return chance(**value) if isinstance(value, dict) else chance(value)
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(
            "constraints must be a probability between 0 and 1, probabilities by name, or"
            f" {AVERAGE}, got {value!r}"
        ) from error
