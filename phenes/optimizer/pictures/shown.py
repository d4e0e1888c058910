"""An Optimizer in a few lines, for print and for notebooks."""

from __future__ import annotations

import html
from typing import NamedTuple

import numpy as np

from phenes._validate import FloatArray
from phenes.space import Point

ASKS = {
    "gp": "Gaussian process",
    "relay": "Gaussian process, then evolution strategy",
    "adaptive": "evolution strategy",
}
SHOWN = 12  # coordinates in a table; of more, the first and the last


class Shown(NamedTuple):
    """What is said of a run.

    answer (d,), fun, fun_se: what is recommended now. pending (n, d): what is under way. why: the
    reasons to stop, if there are any.
    """

    engine: str
    phase: str
    nfev: int
    failed: int
    budget: int
    batch: int
    answer: FloatArray
    fun: float
    fun_se: float
    pending: FloatArray
    why: str
    named: Point | None = None  # the answer by name, in a space
    what: str = "E f(x)"  # what is minimised

    @property
    def used(self) -> str:
        """Evaluations used, under way and left."""
        under_way = len(self.pending)
        left = max(self.budget - self.nfev - under_way, 0)
        parts = [f"{self.nfev} of {self.budget}"]
        parts += [f"{self.failed} without a value"] if self.failed else []
        parts += [f"{under_way} under way"] if under_way else []
        return ", ".join([*parts, f"{left} left"])

    @property
    def value(self) -> str:
        """What is minimised, at the answer."""
        if not np.isfinite(self.fun):
            return "not known yet"
        return f"{self.fun + 0.0:.6g} ± {self.fun_se:.2g}"

    def line(self) -> str:
        """In one line."""
        what = f"d={self.answer.size}" if self.named is None else ", ".join(self.named)
        return f"Optimizer({what}, engine={self.engine!r}: {self.used})"

    def rows(self) -> list[tuple[str, str]]:
        """Names and texts."""
        asks = ASKS[self.engine]
        return [
            ("evaluations", self.used),
            ("asks", f"{asks}, {self.phase}; {self.batch} at once"),
            (self.what, self.value),
            ("stop", self.why),
        ]

    def text(self) -> str:
        """For print."""
        x = str(self.named)
        if self.named is None:
            x = np.array2string(self.answer, precision=5, threshold=12, max_line_width=100)
        first, *others = self.rows()
        width = max(11, len(self.what))
        rows = [first, ("x now", x.replace("\n", "\n" + " " * (width + 2))), *others]
        return "\n".join(f"{name:>{width}}  {value}" for name, value in rows if value)

    def html(self) -> str:
        """For notebooks: the same, with a table of the answer and of what is under way."""
        said = "<br>".join(
            f"<b>{html.escape(name)}</b> {html.escape(value)}"
            for name, value in self.rows()
            if value
        )
        if self.named is not None:
            cells = "".join(
                f"<tr><td>{html.escape(name)}</td><td>{html.escape(self.named.with_unit(name))}</td></tr>"
                for name in self.named
            )
            head = "<tr><th>parameter</th><th>x now</th></tr>"
            return f"<div><p>{said}</p><table>{head}{cells}</table></div>"
        d = self.answer.size
        shown = [*range(d)] if d <= SHOWN else [*range(SHOWN - 5), *range(d - 5, d)]
        cells = "".join(
            f"<tr><td>{k}</td><td>{self.answer[k]:.6g}</td><td>{self._range(k)}</td></tr>"
            for k in shown
        )
        head = "<tr><th>coordinate</th><th>x now</th><th>under way</th></tr>"
        left_out = f"<p>{d - SHOWN} coordinates are not shown.</p>" if d > SHOWN else ""
        return f"<div><p>{said}</p><table>{head}{cells}</table>{left_out}</div>"

    def _range(self, k: int) -> str:
        if not len(self.pending):
            return ""
        low, high = self.pending[:, k].min(), self.pending[:, k].max()
        return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
