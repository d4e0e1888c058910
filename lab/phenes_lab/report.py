"""What experiments share when they report: tests of a difference, verdicts on claims, and one
document as Markdown and as HTML.

A verdict is computed from stored numbers by a rule that is stated beside it. Text says what was
measured, whichever way it went.
"""

import functools
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

HOLDS, PARTLY, FAILS = "holds", "partly", "does not hold"


class Difference(NamedTuple):
    """mean(b) - mean(a) with its standard error, z = difference / se, and Welch's two-sided p."""

    value: float
    se: float
    z: float
    p: float


@dataclass(frozen=True)
class Claim:
    """claim: what is claimed and where. measured: the numbers. rule: what makes the verdict."""

    claim: str
    measured: str
    rule: str
    verdict: str


def verdict(holds: bool, partly: bool = False) -> str:
    return HOLDS if holds else PARTLY if partly else FAILS


def mean_se(values: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error; NaN for the latter of a single value."""
    values = np.asarray(values, float)
    if not np.all(np.isfinite(values)):
        return math.nan if np.any(np.isnan(values)) else math.inf, math.nan
    # scaled first: what a diverging method leaves behind has squares that overflow
    size = float(np.max(np.abs(values))) or 1.0
    se = (
        size * float(np.std(values / size, ddof=1)) / math.sqrt(values.size)
        if values.size > 1
        else math.nan
    )
    return size * float(np.mean(values / size)), se


def difference(a: np.ndarray, b: np.ndarray) -> Difference:
    """Welch's test: neither equal variances nor pairs are assumed."""
    (mean_a, se_a), (mean_b, se_b) = mean_se(a), mean_se(b)
    value, se = mean_b - mean_a, math.hypot(se_a, se_b)
    if not math.isfinite(value) or math.isnan(se):
        return Difference(value, math.nan, math.nan, math.nan)
    if se == 0:
        return Difference(
            value, se, math.copysign(math.inf, value) if value else 0.0, 0.0 if value else 1.0
        )
    # shares of the variance, not its powers: those overflow for large values
    share_a, share_b = (se_a / se) ** 2, (se_b / se) ** 2
    freedom = 1 / (share_a**2 / (len(a) - 1) + share_b**2 / (len(b) - 1))
    return Difference(value, se, value / se, student_p(value / se, freedom))


def student_p(t: float, freedom: float) -> float:
    """Two-sided p of Student's t. With t = sqrt(v) / tan(a) the density is sin(a)^(v-1) on (0,
    pi/2).

    a = b u^4 takes the corner at 0, which is sharp for v below 2, away from the nodes.
    """
    node, weight = _gauss_legendre()
    tail = lambda b: b * float((weight * 4 * node**3) @ np.sin(b * node**4) ** (freedom - 1))  # noqa: E731
    return min(1.0, tail(math.atan2(math.sqrt(freedom), abs(t))) / tail(math.pi / 2))


@functools.cache
def _gauss_legendre() -> tuple[np.ndarray, np.ndarray]:
    """On (0, 1)."""
    node, weight = np.polynomial.legendre.leggauss(96)
    return (node + 1) / 2, weight / 2


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of so uneven a split if both were equally likely; ties are left out."""
    n, few = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2**n)


def number(value: float, digits: int = 3) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "infinite"
    return f"{value:.{digits}g}"


def plus_minus(value: float, se: float) -> str:
    """Both to the digit that the standard error has to say something about."""
    if not (math.isfinite(value) and math.isfinite(se)) or se <= 0 or max(abs(value), se) >= 1e6:
        return f"{number(value)} ± {number(se, 2)}"
    decimals = max(0, 1 - math.floor(math.log10(se)))
    return (
        f"{value:.{decimals}f} ± {se:.{decimals}f}"
        if decimals <= 8
        else f"{number(value, 4)} ± {number(se, 2)}"
    )


@dataclass
class Document:
    """Headings, paragraphs, tables and pictures, in order; written as report.md and report.html."""

    title: str
    markdown: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)

    def heading(self, text: str) -> None:
        self._add(f"## {text}", f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        self._add(text, f"<p>{html.escape(text)}</p>")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        lines = [head, ["---"] * len(head), *rows]
        markdown = [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        ]
        self._add("\n".join(markdown), _html_table(head, rows))

    def figure(self, path: Path, caption: str) -> None:
        """`path` is relative to where the document is written."""
        name = html.escape(path.as_posix())
        picture = (
            f'<figure><img src="{name}"'
            f' alt="{html.escape(caption)}"><figcaption>{html.escape(caption)}</figcaption></figure>'
        )
        self._add(f"![{caption}]({path.as_posix()})", picture)

    def claims(self, claims: Sequence[Claim]) -> None:
        self.table(
            ["claim", "measured", "verdict", "rule"],
            [[c.claim, c.measured, c.verdict, c.rule] for c in claims],
        )

    def write(self, out: Path) -> tuple[Path, Path]:
        markdown, page = out / "report.md", out / "report.html"
        markdown.write_text(
            "\n\n".join([f"# {self.title}", *self.markdown]) + "\n", encoding="utf-8"
        )
        title = html.escape(self.title)
        head = (
            '<!doctype html>\n<html lang="en"><head><meta'
            f' charset="utf-8"><title>{title}</title><style>{CSS}</style></head>'
        )
        page.write_text(
            "\n".join([head, f"<body><h1>{title}</h1>", *self.body, "</body></html>"]) + "\n",
            encoding="utf-8",
        )
        return markdown, page

    def _add(self, markdown: str, body: str) -> None:
        self.markdown.append(markdown)
        self.body.append(body)


CSS = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: .85rem; display: block; overflow-x: auto; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
img { max-width: 100%; } figure { margin: 1.5rem 0; } figcaption { color: #555; font-size: .9rem; }
.holds { color: #00614a; font-weight: bold; } .partly { color: #8a5a00; font-weight: bold; } .not { color: #a33b00; font-weight: bold; }
"""


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    style = {HOLDS: "holds", PARTLY: "partly", FAILS: "not"}
    cell = lambda text: (  # noqa: E731
        f'<td class="{style[text]}">{text}</td>'
        if text in style
        else f"<td>{html.escape(text)}</td>"
    )
    lines = [
        "".join(f"<th>{html.escape(text)}</th>" for text in head),
        *("".join(map(cell, row)) for row in rows),
    ]
    return "<table>" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
