"""What experiments and benches share when they report: tests of a difference, verdicts on claims,
numbers as text and as JSON, tables of the terminal, one document as Markdown and as HTML.

A verdict is computed from stored numbers by a rule that is stated beside it. Text says what was
measured, whichever way it went.
"""

import dataclasses
import html
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

HOLDS, PARTLY, FAILS, UNTESTED = "holds", "partly", "does not hold", "not tested"
LEAST_SEEDS = 3  # with fewer a spread is a guess: nothing is said
LEVEL = 0.05  # of a test, two-sided
CLEARLY = "by Welch's test at .05"  # for rules


class Difference(NamedTuple):
    """mean(b) - mean(a) with its standard error, z = difference / se, and Welch's two-sided p.

    n: values on the smaller side.
    """

    value: float
    se: float
    z: float
    p: float
    n: int

    @property
    def below(self) -> bool:
        """b is lower by Welch's test: z of few values says too much."""
        return self.value < 0 and self._clear

    @property
    def above(self) -> bool:
        """b is higher by Welch's test."""
        return self.value > 0 and self._clear

    @property
    def _clear(self) -> bool:
        return self.n >= LEAST_SEEDS and self.p < LEVEL

    def __str__(self) -> str:
        return f"z = {number(self.z, 2)}, p = {number(self.p, 2)}"


@dataclass(frozen=True)
class Claim:
    """claim: what is claimed and where. measured: the numbers. rule: what makes the verdict."""

    claim: str
    measured: str
    rule: str
    verdict: str


def verdict(holds: bool, partly: bool = False, *, seeds: float) -> str:
    """A word for it. seeds: of the runs that it rests on; infinite where nothing is random."""
    if seeds < LEAST_SEEDS:
        return UNTESTED
    if holds:
        return HOLDS
    return PARTLY if partly else FAILS


def mean_se(values: np.ndarray) -> tuple[float, float]:
    """Mean and its standard error; NaN for the latter of a single value."""
    values = np.asarray(values, float)
    if not np.all(np.isfinite(values)):
        return math.nan if np.any(np.isnan(values)) else math.inf, math.nan
    # scaled first: what a diverging method leaves behind has squares that overflow
    size = float(np.max(np.abs(values))) or 1.0
    mean = size * float(np.mean(values / size))
    if values.size == 1:
        return mean, math.nan
    return mean, size * float(np.std(values / size, ddof=1)) / math.sqrt(values.size)


def difference(a: np.ndarray, b: np.ndarray) -> Difference:
    """Welch's test: neither equal variances nor pairs are assumed."""
    (mean_a, se_a), (mean_b, se_b) = mean_se(a), mean_se(b)
    value, se, n = mean_b - mean_a, math.hypot(se_a, se_b), min(len(a), len(b))
    if not math.isfinite(value) or math.isnan(se):
        return Difference(value, math.nan, math.nan, math.nan, n)
    if se == 0:
        z = math.copysign(math.inf, value) if value else 0.0
        return Difference(value, se, z, 0.0 if value else 1.0, n)
    # shares of the variance, not its powers: those overflow for large values
    share_a, share_b = (se_a / se) ** 2, (se_b / se) ** 2
    freedom = 1 / (share_a**2 / (len(a) - 1) + share_b**2 / (len(b) - 1))
    return Difference(value, se, value / se, student_p(value / se, freedom), n)


def student_p(t: float, freedom: float) -> float:
    """Two-sided p of Student's t."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of so uneven a split if both were equally likely; ties are left out."""
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def holm(p: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of many tests stay clear if all of them together may be wrong once in 1 / level.

    Holm's rule: the k-th smallest p is held against level / (number - k), until one is above.
    """
    order = sorted(range(len(p)), key=lambda i: math.inf if math.isnan(p[i]) else p[i])
    clear = [False] * len(p)
    for k, i in enumerate(order):
        if not p[i] <= level / (len(p) - k):
            break
        clear[i] = True
    return clear


def quartiles(values: Any) -> tuple[float, float, float]:
    """Lower quartile, median, upper quartile."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)


def finite(value: float, digits: int = 4) -> float | None:
    """For JSON, which has no word for infinity or NaN."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def plain(value: Any) -> Any:
    """Numbers, text, lists and dictionaries for JSON: None for NaN, text for infinities."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(each) for name, each in dataclasses.asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(plain(data), indent=1, allow_nan=False) + "\n")


def rows_as_json(benchmark: str, rows: Iterable[Any], **more: Any) -> dict[str, Any]:
    """What `phenes bench BENCHMARK --json` prints; rows are dataclasses."""
    return plain({"benchmark": benchmark, **more, "rows": list(rows)})


def summary_head(experiment: str, results: Any, claims: Sequence[Claim]) -> dict[str, Any]:
    """How a summary of an experiment begins; results: a `driver.Loaded`."""
    return {
        "experiment": experiment,
        "version": results.version,
        "status": results.status,
        "settings": vars(results.settings),
        "sessions": [
            {"seconds": round(each.seconds, 1), "parts": each.parts, "processes": each.processes}
            for each in results.sessions
        ],
        "claims": [vars(claim) for claim in claims],
    }


def rich_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str] | None],
    title: str | None = None,
    left: int = 1,
    caption: str | None = None,
) -> Any:
    """For the terminal. None is a line between rows; the first `left` columns are aligned left."""
    from rich.table import Table

    out = Table(title=title, caption=caption)
    for k, name in enumerate(columns):
        out.add_column(name, justify="left" if k < left else "right")
    for row in rows:
        out.add_section() if row is None else out.add_row(*row)
    return out


def grouped(
    rows: Iterable[Any], name: Callable[[Any], str], cells: Callable[[Any], Sequence[str]]
) -> list[Sequence[str] | None]:
    """For `rich_table`: a line before each group of neighbours with the same name, which stands in
    the first row of the group alone.
    """
    lines: list[Sequence[str] | None] = []
    for shared, of in itertools.groupby(rows, name):
        lines.append(None)
        lines += [["" if k else shared, *cells(row)] for k, row in enumerate(of)]
    return lines


def table_of(rows: Iterable[Any], columns: Mapping[str, str], **options: Any) -> Any:
    """For the terminal: a line for each row, a dataclass. columns: what stands below each head, as
    "{field:.2f}".
    """
    lines = [[text.format(**vars(row)) for text in columns.values()] for row in rows]
    return rich_table(list(columns), lines, **options)


def rules_of(module: ModuleType, title: bool = True) -> str:
    """The docstring of a module as one paragraph, without its title if it has one."""
    text = str(module.__doc__)
    return " ".join((text.split("\n\n", 1)[1] if title else text).split())


def number(value: float, digits: int = 3) -> str:
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "infinite"
    return f"{value:.{digits}g}"


def plus_minus(value: float, se: float) -> str:
    """Both to the digit that the standard error has to say something about."""
    if not (math.isfinite(value) and math.isfinite(se)) or se <= 0 or max(abs(value), se) >= 1e6:
        return f"{number(value)} ± {number(se, 2)}"
    decimals = max(0, 1 - math.floor(math.log10(se)))
    if decimals > 8:
        return f"{number(value, 4)} ± {number(se, 2)}"
    return f"{value:.{decimals}f} ± {se:.{decimals}f}"


@dataclass
class Document:
    """Headings, paragraphs, tables and pictures, in order; written as report.md and report.html."""

    title: str
    markdown: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)

    def heading(self, text: str, level: int = 2) -> None:
        self._add(f"{'#' * level} {text}", f"<h{level}>{html.escape(text)}</h{level}>")

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
        said = html.escape(caption)
        picture = f'<img src="{name}" alt="{said}"><figcaption>{said}</figcaption>'
        picture = f"<figure>{picture}</figure>"
        self._add(f"![{caption}]({path.as_posix()})", picture)

    def drawn(self, out: Path, name: str, caption: str) -> None:
        """A figure, if it was drawn into `out`."""
        if (out / name).exists():
            self.figure(Path(name), caption)

    def figures(self, out: Path, captions: Mapping[str, str]) -> None:
        """Those that were drawn into `out`, under a heading."""
        self.heading("Figures")
        for name, caption in captions.items():
            self.drawn(out, name, caption)

    def items(self, items: Mapping[str, str]) -> None:
        """A list of terms and what they mean."""
        lines = [f"{name}: {text}" for name, text in items.items()]
        body = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
        self._add("\n".join(f"- {line}" for line in lines), f"<ul>{body}</ul>")

    def sessions(self, sessions: Iterable[Any], what: str = "parts") -> None:
        """How long it took, and what it was made with. sessions: of `driver`."""
        for each in sessions:
            self.text(
                f"From start to end: {each.seconds:.0f} seconds for {each.parts} {what} on"
                f" {each.processes} processes.{_made_with(each.made)}"
            )

    def claims(self, claims: Sequence[Claim]) -> None:
        self.heading("Claims")
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
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 75rem; margin: 2rem auto;
  padding: 0 1rem; }
table { border-collapse: collapse; font-size: .85rem; display: block; overflow-x: auto; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #ddd; text-align: left;
  vertical-align: top; }
img { max-width: 100%; } figure { margin: 1.5rem 0; } figcaption { color: #555; font-size: .9rem; }
.holds, .partly, .not { font-weight: bold; }
.untested { color: #666; }
.holds { color: #00614a; } .partly { color: #8a5a00; } .not { color: #a33b00; }
"""


def _made_with(made: Mapping[str, str]) -> str:
    if not made:
        return ""
    on = json.loads(made["machine"])
    command = f" by `{made['command']}`" if made["command"] else ""
    commit = made["commit"] or "unknown"
    busy = f", with a load of {on['load']:g} at the end" if "load" in on else ""
    return f" Made{command}, commit {commit}, on {on['cores']} cores of {on['processor']}{busy}."


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    style = {HOLDS: "holds", PARTLY: "partly", FAILS: "not", UNTESTED: "untested"}
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
