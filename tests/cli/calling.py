"""The command line, called in this process or in one of its own."""

import subprocess
import sys

import pytest

from phenes import cli


def call(capsys, *arguments) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return end.value.code or 0, out, err


def python(code: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


PHENES = "import sys; from phenes.cli import main; main(sys.argv[1:])"


def one_line(text: str) -> bool:
    return text.startswith("phenes: ") and text.count("\n") == 1 and len(text) < 200
