"""The code of a page: its `python` blocks run in order in one namespace, and each `output` block
must be what the block before it prints.

python docs/tools/blocks.py PAGE...    # run, and write the output blocks anew

The code runs in a temporary folder, so that the files that a page writes stay nowhere.
"""

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[1]
FENCE = re.compile(r"^```(python|output)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


class Block(NamedTuple):
    language: str
    code: str
    line: int  # of its first line in the page


def pages() -> list[Path]:
    """All pages with code to run."""
    found = (path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts)
    return [path for path in found if blocks(path.read_text())]


def blocks(text: str) -> list[Block]:
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """The current folder is a temporary one, which is removed at the end."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


def outputs(path: Path) -> list[tuple[Block, str]]:
    """What each python block of a page prints. Errors name the page and the line."""
    space: dict[str, Any] = {"__name__": "__main__"}
    out = []
    page = blocks(path.read_text())
    with elsewhere():
        for block in [block for block in page if block.language == "python"]:
            printed = io.StringIO()
            # as many empty lines before as in the page: tracebacks then point there
            code = compile("\n" * (block.line - 1) + block.code, str(path), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, space)
            out.append((block, printed.getvalue()))
    return out


def namespace(path: Path, count: int) -> dict[str, Any]:
    """What the first `count` python blocks of a page define: figures draw what the page
    computes.
    """
    space: dict[str, Any] = {"__name__": "__main__"}
    python = [block for block in blocks(path.read_text()) if block.language == "python"]
    with elsewhere(), contextlib.redirect_stdout(io.StringIO()):
        for block in python[:count]:
            exec(compile(block.code, str(path), "exec"), space)
    return space


def promised(path: Path) -> dict[int, str]:
    """The output blocks, by the line of the python block that they follow."""
    out: dict[int, str] = {}
    code = None
    for block in blocks(path.read_text()):
        if block.language == "python":
            code = block
        else:
            assert code is not None, f"{path}:{block.line} is the output of nothing"
            out[code.line] = block.code
    return out


def differences(shown: str, printed: str) -> list[str]:
    """Words must be the same; numbers agree to 5 % or to a few units of their last digit, as they
    do between machines.
    """
    words = [
        re.sub(r"\s+", " ", NUMBER.sub("#", re.sub(r"\[\s+", "[", text))).strip()
        for text in (shown, printed)
    ]
    if words[0] != words[1]:
        return [f"{words[0]!r} is now {words[1]!r}"]
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return [
        f"{a} is now {b}"
        for a, b in pairs
        if abs(float(a) - float(b)) > 0.05 * abs(float(a)) + 5 * _unit(a)
    ]


def _unit(number: str) -> float:
    """Of the last digit; whole numbers have no such freedom."""
    mantissa, _, exponent = number.lower().partition("e")
    return (
        10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) if "." in mantissa else 0.0
    )


def rewrite(path: Path) -> None:
    """Run the page and put what was printed into its output blocks."""
    printed = {block.line: text for block, text in outputs(path)}
    text, line = path.read_text(), 0

    def fill(match: re.Match[str]) -> str:
        nonlocal line
        if match[1] == "python":
            line = text.count("\n", 0, match.start()) + 2
            return match[0]
        return f"```output\n{printed[line].rstrip()}\n```"

    path.write_text(FENCE.sub(fill, text))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
