"""The docstrings of the library, written as plain text with a little Markdown, made into
reStructuredText for autodoc.
"""

import ast
import re
import textwrap
from typing import Any

NAMED = re.compile(r"^[\w*]+(?:, [\w*]+)*: ")  # "x0, sigma0: where to start"

PAGE = re.compile(r"\bdocs/([\w/]+)\.md\b")  # "docs/parts/search.md": where a formula is derived
KEY = re.compile(
    r"[\w.~]*Key\[Array, ''\] \| [\w.~]*UInt32\[Array, '2'\] \| [\w.~]*UInt32\[Array, '4'\]"
)


def convert(lines: list[str]) -> list[str]:
    """Paragraphs, tables, indented code, and lines that explain an argument by name."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = block.split("\n")
        if not block.strip():
            continue
        if all(row.startswith("    ") or not row.strip() for row in rows):
            out += _code(block)
        elif len(rows) > 1 and all(
            row.startswith("|") and row.rstrip().endswith("|") for row in rows
        ):
            out += _table(rows)
        else:
            out += _paragraph(rows)
        out.append("")
    return out


def _code(block: str) -> list[str]:
    text = textwrap.dedent(block)
    try:
        ast.parse(text)
        language = "python"
    except SyntaxError:
        language = "text"
    return [f".. code-block:: {language}", "", *textwrap.indent(text, "   ").split("\n")]


def _table(rows: list[str]) -> list[str]:
    out = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if not set("".join(cells)) <= set("-: "):
            out += [
                f"   {'* -' if k == 0 else '  -'} {_inline(cell)}" for k, cell in enumerate(cells)
            ]
    return out


def _paragraph(rows: list[str]) -> list[str]:
    out: list[str] = []
    in_list = False
    for row in rows:
        text = _inline(row.strip())
        if NAMED.match(row.strip()):
            name, rest = text.split(": ", 1)
            out += ([""] if out and not in_list else []) + [f"- **{name}**: {rest}"]
            in_list = True
        else:
            out.append(f"  {text}" if in_list else text)
    return out


def _inline(text: str) -> str:
    """`code` stays code, **bold** stays bold, a page of the documentation becomes a link, and
    nothing else is mark-up.
    """
    parts = re.split(r"(`[^`]+`|\*\*\w+\*\*)", text)
    return "".join(
        (
            part
            if part.startswith("**")
            else f"``{part[1:-1]}``"
            if part.startswith("`")
            else _escaped(part)
        )
        for part in parts
    )


def _escaped(text: str) -> str:
    text = re.sub(r"_(?!\w)", r"\\_", re.sub(r"([\\*|`])", r"\\\1", text))
    return PAGE.sub(r":doc:`/\1`", text)


def plain_types(text: str) -> str:
    """Types as they are written in the library."""
    return KEY.sub("PRNGKeyArray", text.replace("jaxlib._jax.Array", "Array"))


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = convert(lines)


def _sign(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[Any, Any]:
    return signature and plain_types(signature), returns and plain_types(returns)


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Fields of named tuples have no words of their own."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _sign)
    app.connect("autodoc-skip-member", _skip)
    return {"version": "1", "parallel_read_safe": True}
