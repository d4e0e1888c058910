"""What comes back: SciPy-shaped, and readable when printed."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np


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

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks show what print shows."""
        printer.text(str(self))
