"""The commands that the laboratory adds to `phenes`."""

# first, since it loads the commands here by their entry points
import phenes.cli  # noqa: F401
