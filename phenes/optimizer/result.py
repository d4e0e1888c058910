"""What comes back: SciPy-shaped, and readable when printed."""

import html
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

SHOWN = 20  # coordinates of a long theta that notebooks show


@dataclass(frozen=True)
class Result:
    """The answer of `minimize`, `maximize` and `Optimizer.result`.

    x: the recommended theta, the mean of the search, never the luckiest sample. fun: estimate of E f(x) there, fun_se: its standard
    error. nfev: evaluations, nit: updates. failed: evaluations that gave no finite value. spread: standard deviation of the search in
    each coordinate. history: arrays, one entry for each update. noise: what was learnt or declared. Fields can be read as items too.
    """

    x: np.ndarray
    fun: float
    fun_se: float
    nfev: int
    nit: int
    success: bool
    message: str
    failed: int = 0
    spread: np.ndarray = field(default_factory=lambda: np.empty(0))
    history: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    noise: str = ""
    errors: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        return [f.name for f in fields(self)]

    def negated(self) -> "Result":
        """Of the function with the other sign."""
        history = {name: -value if name in ("fun", "f_median") else value for name, value in self.history.items()}
        return replace(self, fun=-self.fun, history=history)

    def __str__(self) -> str:
        shown = np.array2string(self.x, precision=5, threshold=12, max_line_width=100)
        rows = [
            ("x", shown.replace("\n", "\n" + " " * 10)),
            ("E f(x)", f"{self.fun:.6g} ± {self.fun_se:.2g}"),
            ("nfev", f"{self.nfev}" + (f", {self.failed} without a value" if self.failed else "")),
            ("nit", f"{self.nit}"),
            ("success", f"{self.success}: {self.message}"),
            ("noise", self.noise),
            ("errors", "; ".join(self.errors)),
        ]
        return "\n".join(f"{name:>8}  {value}" for name, value in rows if value)

    def plot(self) -> Any:
        """A matplotlib Figure: the estimate of E f, the recommended theta and the spread of the search against evaluations.

        Notebooks show it; `result.plot().savefig("run.png")` keeps it.
        """
        if not len(self.history.get("nfev", ())):
            raise ValueError("there is nothing to plot: no values have been told yet")
        from phenes.plots.convergence import figure  # the core does not wait for matplotlib

        return figure(self)

    def _repr_html_(self) -> str:
        """For notebooks: the answer in a line, why the run ended, and theta coordinate by coordinate (the first and last of many)."""
        head = f"<b>E f(x) = {self.fun:.6g} ± {self.fun_se:.2g}</b> after {self.nfev:,} evaluations"
        notes = [self.message, f"{self.failed} evaluations without a value" if self.failed else "", self.noise, *self.errors]
        lines = "<br>".join(html.escape(note) for note in notes if note)
        cells = "".join(f"<tr><td>{k}</td><td>{self.x[k]:.6g}</td><td>{_spread(self.spread, k)}</td></tr>" for k in self._shown())
        left_out = f"<p>{self.x.size - len(self._shown())} coordinates are not shown.</p>" if len(self._shown()) < self.x.size else ""
        table = f"<table><tr><th>coordinate</th><th>theta</th><th>spread of the search</th></tr>{cells}</table>"
        return f"<div><p>{head}<br>{lines}</p>{table}{left_out}</div>"

    def _shown(self) -> list[int]:
        n = self.x.size
        return list(range(n)) if n <= SHOWN else [*range(SHOWN - 5), *range(n - 5, n)]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks show what print shows."""
        printer.text("Result(...)" if cycle else str(self))


def _spread(spread: np.ndarray, k: int) -> str:
    return f"{spread[k]:.3g}" if k < spread.size else ""
