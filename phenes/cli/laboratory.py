"""`phenes reproduce` and `phenes bench`, which the distribution phenes-lab brings.

Any installed distribution adds commands by the entry-point group `phenes.commands`: the name of an
entry is that of the command, its object a function or a `typer.Typer` of several.
"""

from collections.abc import Callable
from importlib.metadata import entry_points

import typer

from phenes.cli.shared import Command

GROUP = "phenes.commands"
OF_THE_LAB = {
    "reproduce": "Run an experiment of the paper again (needs phenes-lab).",
    "bench": "Measure the library beside others (needs phenes-lab).",
}


def add_commands(app: typer.Typer) -> None:
    """Adds installed commands; those of the lab that are missing say how to install them."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    for name in dict.fromkeys([*OF_THE_LAB, *sorted(found)]):
        if name not in found:
            about = OF_THE_LAB[name]
            app.command(name, help=about, context_settings=anything)(_missing(name))
            continue
        command = found[name].load()
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=Command)(command)


def _missing(name: str) -> Callable[[], None]:
    def command() -> None:
        raise RuntimeError(
            f"phenes {name} needs the laboratory: pip install -e ./lab in a clone of phenes, "
            "pip install phenes-lab elsewhere"
        )

    return command
