"""`phenes bench`: every measurement is a command."""

from phenes_lab.cli import benches, trust  # noqa: F401  # both add their commands to app
from phenes_lab.cli.measurements import app

__all__ = ["app"]
