"""What comes back: SciPy-shaped, and readable when printed."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phenes._validate import FloatArray
from phenes.constraints import Constraints
from phenes.evidence.evaluations import Evaluations
from phenes.optimizer.answer import named_result
from phenes.risk import Risk, mean

if TYPE_CHECKING:
    from phenes.space import Point, Space

KINDS = ("convergence", "design", "pairs")  # of pictures
SHOWN = 20  # coordinates of a long theta that notebooks show


class Failing(NamedTuple):
    """How often evaluations at the answer failed.

    Attributes
    ----------
    share : float
        Of the evaluations at the answer; NaN if there are none.
    low, high : float
        95 % bounds of the probability (Clopper and Pearson).
    draws : int
        Evaluations that this rests on.
    """

    share: float
    low: float
    high: float
    draws: int


UNKNOWN = Failing(np.nan, 0.0, 1.0, 0)


class Best(NamedTuple):
    """The best single evaluation.

    With noise it was lucky: x was better than what aiming at theta gives on average.

    Attributes
    ----------
    theta : ndarray, shape (d,), or Point
        What was intended.
    x : ndarray, shape (d,), or Point
        What was realised; NaN coordinates were not measured.
    fun : float
        Its value f.
    """

    theta: FloatArray | Point
    x: FloatArray | Point
    fun: float


class Candidate(NamedTuple):
    """A theta that was considered, and what is known of E f there.

    Attributes
    ----------
    role : str
        "start", "proposal" (of the search), "rival", "mean" (of a search that is not verified yet),
        "best" or "answer".
    theta : ndarray, shape (d,), or Point
        The candidate.
    fun, fun_se : float
        Estimate of E f and its standard error.
    draws : int
        Evaluations at this very theta.
    effective : float
        Evaluations that the estimate is worth, with those nearby.
    failing : float
        Share of the draws that failed.
    """

    role: str
    theta: FloatArray | Point
    fun: float
    fun_se: float
    draws: int
    effective: float
    failing: float


@dataclass(frozen=True, eq=False)
class Result:
    """The answer of `minimize`, `maximize` and `Optimizer.result`.

    Fields can be read as items too: `result["x"]`.

    Attributes
    ----------
    x : ndarray, shape (d,), or Point
        The recommended theta, on the evidence of evaluations made there; where these are at most
        8, as with 30 evaluations, within a standard deviation of the noise of it. Without noise
        the best point that was evaluated. In a space by name: `result.x["width"]`.
    fun : float
        Estimate of E f at x.
    fun_se : float
        Standard error of `fun`.
    interval : tuple of float
        95 % interval of E f at x.
    nfev, nit : int
        Evaluations and updates of the search.
    success : bool
        Is the claim verified, and does nothing contradict it? What no evaluation has met is taken
        not to happen: with constraints the message says what draws alone confirm, and what share
        of x may fail all the same.
    status : int
        Why the run ended: 0 converged or reached the target, 1 used the budget, 2 nothing but
        failures, 3 a slope without an end, -1 not ended.
    message : str
        Why the run ended, and what is not trusted.
    verified : int
        Evaluations at x that gave a value, on which the claim rests; or beside it, see `x`.
    failing : Failing
        How often evaluations at x failed.
    best : Best or None
        The best single evaluation, which is luck where there is noise.
    evaluations : Evaluations
        All of them: theta, x and f.
    quantiles : dict of float to float
        Quantiles of f at x, by probability.
    candidates : tuple of Candidate
        The theta that were considered.
    failed : int
        Evaluations that gave no finite value.
    spread : ndarray, shape (d,)
        Standard deviation of the search in each coordinate.
    history : dict of str to ndarray
        One entry for each update; fun and fun_se in it are what the model of the search said.
    noise : str
        What was learnt of the noise.
    noise_cov : ndarray, shape (d,) or (d, d)
        Variances or covariance of the noise at x, declared or learnt, in the coordinates of
        vectors.
    errors : tuple of str
        What the first failed evaluations said, each once.
    space : Space or None
        The named parameters, if there are any. `spread` and `history` are in the coordinates of
        its vectors.
    constraints : Constraints or None
        What fresh draws at x show of each constraint by name, and of all together
        (`result.constraints.all`): how often it holds, the one-sided 95 % bound, on how many
        draws that rests, and whether it is met, confirmed and binding.
    objective : Risk
        What was minimised over theta: what this page says of E f is said of it.
    sign : float
        -1 if f was maximised, else 1.
    """

    # Any: a vector, or in a space a Point
    x: Any
    fun: float
    fun_se: float
    nfev: int
    nit: int
    success: bool
    message: str
    verified: int = 0
    failing: Failing = UNKNOWN
    best: Best | None = None
    evaluations: Evaluations = field(
        default_factory=lambda: Evaluations(np.empty((0, 0)), np.empty((0, 0)), np.empty(0)),
        repr=False,
    )
    quantiles: dict[float, float] = field(default_factory=dict[float, float])
    candidates: tuple[Candidate, ...] = field(default=(), repr=False)
    failed: int = 0
    spread: FloatArray = field(default_factory=lambda: np.empty(0))
    history: dict[str, NDArray[Any]] = field(default_factory=dict[str, NDArray[Any]], repr=False)
    noise: str = ""
    errors: tuple[str, ...] = ()
    status: int = -1
    space: Space | None = field(default=None, repr=False)
    constraints: Constraints | None = field(default=None, repr=False)
    noise_cov: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)
    objective: Risk = field(default_factory=mean, repr=False)
    sign: float = field(default=1.0, repr=False)  # -1 if f was maximised

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of E f at x.

        Two standard errors, which are enough however few evaluations there were.
        """
        low, high = self.objective.ends
        return max(self.fun - 2 * self.fun_se, low), min(self.fun + 2 * self.fun_se, high)

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Names of all fields.

        Returns
        -------
        list of str
        """
        return [*(f.name for f in fields(self)), "interval"]

    def negated(self) -> Result:
        """The result for the function with the other sign.

        Returns
        -------
        Result
            With values negated, and quantiles the other way round.
        """
        history = {
            name: -value if name in ("fun", "f_median") else value
            for name, value in self.history.items()
        }
        return replace(
            self,
            sign=-self.sign,
            fun=0.0 - self.fun,
            history=history,
            best=None if self.best is None else self.best._replace(fun=0.0 - self.best.fun),
            evaluations=self.evaluations._replace(f=0.0 - self.evaluations.f),
            quantiles={
                round(1 - q, 9): 0.0 - value for q, value in reversed(self.quantiles.items())
            },
            candidates=tuple(each._replace(fun=0.0 - each.fun) for each in self.candidates),
        )

    def placed(self, shift: float, slope: float) -> Result:
        """The result for an objective that users see at other values than those minimised.

        Parameters
        ----------
        shift, slope : float
            Where a value as minimised lies.

        Returns
        -------
        Result
            With the objective wherever it stands; values of f are left as they are.
        """
        kept, factor = 0.0 + shift, slope * self.sign  # `negated` has turned the sign already
        history = {
            name: kept + factor * value if name == "fun" else value
            for name, value in self.history.items()
        }
        return replace(
            self,
            fun=kept + factor * self.fun,
            history=history,
            candidates=tuple(
                each._replace(fun=kept + factor * each.fun) for each in self.candidates
            ),
        )

    @property
    def what(self) -> str:
        """What `fun` is, such as "E f(x)" or "CVaR 90 % of f(x)"."""
        return self.objective.label(self.sign)

    def __str__(self) -> str:
        width = max(8, len(self.what))
        rows = [
            ("x", self._place().replace("\n", "\n" + " " * (width + 2))),
            (self.what, f"{self.fun:.6g} ± {self.fun_se:.2g}{self._basis()}"),
            ("limits", self._held().replace("\n", "\n" + " " * (width + 2))),
            ("failing", self._failures()),
            ("best f", self._luck()),
            ("nfev", f"{self.nfev}" + (f", {self.failed} without a value" if self.failed else "")),
            ("nit", f"{self.nit}"),
            ("success", f"{self.success}: {self.message}"),
            ("noise", self.noise),
            ("errors", "; ".join(self.errors)),
        ]
        return "\n".join(f"{name:>{width}}  {value}" for name, value in rows if value)

    def _place(self) -> str:
        """x as text, or the table of its parameters."""
        if self.space is None:
            return np.array2string(self.x, precision=5, threshold=12, max_line_width=100)
        rows = [named_result.header(self.space), *named_result.table(self.space, self.x)]
        return "\n".join(named_result.aligned(rows))

    def _held(self) -> str:
        """The table of the constraints."""
        return "" if self.constraints is None else str(self.constraints)

    def _luck(self) -> str:
        if self.best is None or not 0 < self.fun_se < np.inf:
            return ""
        return f"{self.best.fun:.6g}, one evaluation: luck"

    def _basis(self) -> str:
        if not self.verified:
            return ", not verified"
        if self.fun_se == 0:
            return f", exactly ({_evaluations(self.verified)} at x)"
        return (
            f", 95 %: {self.interval[0]:.4g} to {self.interval[1]:.4g}, from"
            f" {_evaluations(self.verified)} at x"
        )

    def _failures(self) -> str:
        if not self.failing.draws or not (self.failed or self.failing.share):
            return ""
        return (
            f"{self.failing.share:.1%} of {_evaluations(self.failing.draws)} at x (95 %:"
            f" {self.failing.low:.1%} to {self.failing.high:.1%})"
        )

    def plot(self, kind: str = "convergence") -> Any:
        """Draw the run, or the design that came of it.

        Parameters
        ----------
        kind : str, optional
            "convergence": the estimate of E f, the recommended theta and the spread of the search
            against evaluations. "design": how f scatters at x, whose noise causes how much of
            that and of E f, and E f along each parameter (the six that matter most); all of it
            from the evaluations that there are. "pairs": what was realised of each pair of
            parameters, which of it failed or violated a limit, and the region where a model
            expects that.

        Returns
        -------
        matplotlib.figure.Figure
            Notebooks show it; `result.plot().savefig("run.png")` keeps it. What the evaluations
            do not say is said in words.

        Raises
        ------
        ValueError
            If there is no such kind, or no values have been told yet.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
        if not len(self.history.get("nfev", ())):
            raise ValueError("there is nothing to plot: no values have been told yet")
        if kind == "design":
            from phenes.optimizer.pictures.design import draw

            return draw(self)
        if kind == "pairs":
            from phenes.optimizer.pictures import pairs

            return pairs.draw(self)
        from phenes.plots.convergence import figure  # the core does not wait for matplotlib

        return figure(self)

    def _repr_html_(self) -> str:
        """For notebooks: the answer, why the run ended, and theta (first and last of many)."""
        head = (
            f"<b>{html.escape(self.what)} = {self.fun:.6g} ± {self.fun_se:.2g}</b>{self._basis()};"
            f" {self.nfev:,} evaluations in all"
        )
        notes = [
            self.message if self.success else f"not a success: {self.message}",
            self._failures(),
            f"{self.failed} evaluations without a value" if self.failed else "",
            self.noise,
            *self.errors,
        ]
        lines = "<br>".join(html.escape(note) for note in notes if note)
        if self.constraints is not None:
            lines += self.constraints._repr_html_()  # pyright: ignore[reportPrivateUsage]
        if self.space is not None:
            named = named_result.html_table(self.space, self.x)
            return f"<div><p>{head}<br>{lines}</p>{named}</div>"
        cells = "".join(
            f"<tr><td>{k}</td><td>{self.x[k]:.6g}</td><td>{_spread(self.spread, k)}</td></tr>"
            for k in self._shown()
        )
        left_out = (
            f"<p>{self.x.size - len(self._shown())} coordinates are not shown.</p>"
            if len(self._shown()) < self.x.size
            else ""
        )
        table = (
            "<table><tr><th>coordinate</th><th>theta</th><th>spread of the"
            f" search</th></tr>{cells}</table>"
        )
        return f"<div><p>{head}<br>{lines}</p>{table}{left_out}</div>"

    def _shown(self) -> list[int]:
        n = self.x.size
        return list(range(n)) if n <= SHOWN else [*range(SHOWN - 5), *range(n - 5, n)]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Notebooks show what print shows."""
        printer.text("Result(...)" if cycle else str(self))


def _evaluations(n: int) -> str:
    return "1 evaluation" if n == 1 else f"{n} evaluations"


def _spread(spread: FloatArray, k: int) -> str:
    return f"{spread[k]:.3g}" if k < spread.size else ""
