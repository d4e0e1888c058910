"""The command line.

Commands import their packages when they run, so that `phenes --help` does not wait for them.

Every command takes --json, for one line of JSON at the end of stdout. Errors are one line
on stderr: exit code 2 for wrong arguments, 130 for Ctrl-C, 1 for everything else.
"""

import shlex
import sys
from typing import Annotated, Any

import typer

from phenes.cli.demo import demo
from phenes.cli.front import front
from phenes.cli.laboratory import add_commands
from phenes.cli.optimize import optimize
from phenes.cli.runs import runs, show_run, watch
from phenes.cli.shared import Command, Group, Stopped
from phenes.cli.train import train

INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it

app = typer.Typer(
    cls=Group,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Optimise what you can only aim at.",
)
app.command(cls=Command)(demo)
app.command(cls=Command)(optimize)
app.command(cls=Command)(front)
app.command(cls=Command)(train)
app.command(cls=Command)(runs)
app.command("show", cls=Command)(show_run)
app.command(cls=Command)(watch)
add_commands(app)


def main(arguments: list[str] | None = None) -> None:
    """The entry point: `app`, with errors as one line."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        sys.exit(app(arguments, prog_name="phenes", standalone_mode=False))
    except Stopped as stopped:
        more = [stopped.also] if stopped.also and stopped.also not in given else []
        _fail(f"{stopped}; go on with: {shlex.join(['phenes', *given, *more])}", INTERRUPTED)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error, 1)
    except (ValueError, RuntimeError) as error:
        _fail(error, 1)
    except Exception as error:
        # what the command line says of wrong arguments; anything else is a bug, and shows where
        if not hasattr(error, "format_message"):
            raise
        ctx = getattr(error, "ctx", None)
        command = ctx.command_path if ctx else "phenes"
        _fail(f"{error.format_message().rstrip('.')} (see {command} --help)", error.exit_code)  # pyright: ignore[reportAttributeAccessIssue]


def _fail(what: Any, code: int) -> None:
    from phenes._validate import printable

    print(f"phenes: {printable(' '.join(str(what).split()))}", file=sys.stderr)
    sys.exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        from phenes._version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
):
    pass
