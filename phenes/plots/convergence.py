"""The picture and the table of one optimisation: what it is worth, where it went, how far it still looks around."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.optimizer.result import Result
from phenes.plots import COLOURS, INK, STYLE
from phenes.plots.notebook import Picture

LINES = 12  # coordinates that can be told apart in a picture


def figure(result: Result) -> Figure:
    """Left: the estimate of E f at the mean with two standard errors. Middle: the mean. Right: the spread of the search."""
    history = result.history
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(12, 4.2), layout="constrained")
        value, place, spread = out.subplots(1, 3)
        out.suptitle(
            f"E f(x) = {result.fun:.6g} ± {result.fun_se:.2g} after {result.nfev} evaluations", x=0.01, ha="left", fontweight="bold"
        )
        _value(value, history)
        _coordinates(place, history["nfev"], history["x"], "recommended theta, by coordinate")
        _coordinates(spread, history["nfev"], history["spread"], "spread of the search, by coordinate")
        if np.all(history["spread"] > 0):
            spread.set_yscale("log")
        for ax in (value, place, spread):
            ax.set_xlabel("evaluations")
    return out


def figure_of_curve(run: dict[str, Any]) -> Figure:
    """A run of the record. Left: the estimate of E f. Middle: the step of the search beside the noise. Right: what measuring x gains."""
    history = {name: np.array([np.nan if v is None else v for v in values], float) for name, values in run["curve"].items()}
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(12, 4.2), layout="constrained")
        value, step, gain = out.subplots(1, 3)
        out.suptitle(f"run {run['id']}, {run['status']}: {run['done']} evaluations", x=0.01, ha="left", fontweight="bold")
        _value(value, history)
        step.plot(history["nfev"], history["step"], color=COLOURS["PAES"], linewidth=2, label="step of the search")
        step.plot(history["nfev"], history["noise"], color=COLOURS["ES"], linewidth=2, label="noise of the inputs")
        step.set_yscale("log" if np.all(history["step"] > 0) else "linear")
        step.set_title("standard deviations")
        step.legend(loc="best", fontsize=9)
        gain.plot(history["nfev"], history["gain"], color=INK, linewidth=2)
        gain.set_title("gain of measuring x, 1 + C/S")
        for ax in (value, step, gain):
            ax.set_xlabel("evaluations")
    return out


def _value(ax: Axes, history: dict[str, np.ndarray]) -> None:
    """Cut off at the top, where the first estimates would squeeze everything else."""
    n, fun, se = history["nfev"], history["fun"], history["fun_se"]
    ax.plot(n, history["f_median"], ".", color="#bbbbbb", markersize=3, label="median of a generation", zorder=1)
    finite = np.isfinite(fun)
    band = 2 * np.where(np.isfinite(se), se, 0.0)
    ax.fill_between(n[finite], (fun - band)[finite], (fun + band)[finite], color=COLOURS["PAES"], alpha=0.25, linewidth=0)
    ax.plot(n[finite], fun[finite], color=COLOURS["PAES"], linewidth=2, label="estimate of E f at the mean")
    shown = np.concatenate([fun[finite], history["f_median"][np.isfinite(history["f_median"])]])
    if shown.size and shown.min() > 0 and shown.max() > 30 * shown.min():
        ax.set_yscale("log")
    ax.set_title("value")
    ax.legend(loc="best", fontsize=9)


def _coordinates(ax: Axes, n: np.ndarray, values: np.ndarray, title: str) -> None:
    ax.set_title(title)
    if values.shape[1] > LINES:
        low, middle, high = np.quantile(values, [0, 0.5, 1], axis=1)
        ax.fill_between(n, low, high, color=INK, alpha=0.15, linewidth=0, label="all coordinates")
        ax.plot(n, middle, color=INK, label="their median")
        ax.legend(loc="best", fontsize=9)
        return
    for k, column in enumerate(values.T):
        colour = matplotlib.colormaps["viridis"](k / max(values.shape[1] - 1, 1) * 0.9)
        ax.plot(n, column, color=colour, linewidth=1.3)
        ax.annotate(f"{k}", (n[-1], column[-1]), color=colour, fontsize=8, xytext=(3, 0), textcoords="offset points", va="center")


def table(result: Result) -> Any:
    """For the terminal: the answer, coordinate by coordinate (the first and last of many)."""
    from rich.table import Table

    title = f"E f(x) = {result.fun:.6g} ± {result.fun_se:.2g}, {result.nfev} evaluations: {result.message}"
    out = Table("coordinate", "theta", "spread of the search", title=title, title_justify="left")
    rows = range(result.x.size) if result.x.size <= 20 else [*range(10), *range(result.x.size - 5, result.x.size)]
    for k in rows:
        out.add_row(str(k), f"{result.x[k]:.6g}", f"{result.spread[k]:.3g}")
    return out
