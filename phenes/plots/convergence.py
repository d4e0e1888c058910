"""The picture of one optimisation: what it is worth, where it went, how wide it searches."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from scipy.optimize import isotonic_regression

from phenes.plots import COLOURS, INK, STYLE
from phenes.plots.notebook import Picture

LINES = 12  # coordinates that can be told apart in a picture
LETTERS = 150  # characters of a line across the picture
# values beyond it are not drawn, nor below its inverse: the arithmetic of axes would overflow
HUGE = 1e150
# ratio of the largest to the smallest value above which the scale is logarithmic
RATIO, RATIO_WITH_ZERO = 30.0, 1e4
USUAL = (0.05, 0.95)  # quantiles of the values that are always shown
SQUEEZED = 20.0  # times that range: if all values need more, outliers are left out
LABEL = 8  # font size of a coordinate's number, in points
APART = 1.35 * LABEL  # distance of two labels, in points


class Answer(Protocol):
    """What is drawn of a result: `phenes.Result` has it all.

    candidates: with `role`, `fun` and `fun_se`. best: None, or with `fun`. evaluations: with `f`.
    space: None, or a `phenes.Space` with names and units. what: what `fun` is of, in words.
    """

    @property
    def x(self) -> Any: ...
    @property
    def fun(self) -> float: ...
    @property
    def fun_se(self) -> float: ...
    @property
    def nfev(self) -> int: ...
    @property
    def success(self) -> bool: ...
    @property
    def message(self) -> str: ...
    @property
    def verified(self) -> int: ...
    @property
    def candidates(self) -> Sequence[Any]: ...
    @property
    def best(self) -> Any: ...
    @property
    def evaluations(self) -> Any: ...
    @property
    def history(self) -> Mapping[str, np.ndarray]: ...
    @property
    def space(self) -> Any: ...
    @property
    def what(self) -> str: ...


def figure(result: Answer) -> Figure:
    """The value, the recommended theta and the spread of the search against evaluations.

    Parameters
    ----------
    result : Answer
        What `minimize`, `maximize` and `Optimizer.result` give, with a history of one update or
        more.

    Returns
    -------
    matplotlib.figure.Figure
        Left: what the search estimated on the way, and the claim as verified. Middle: the mean of
        the search, and x. Right: its spread. Notebooks show it.
    """
    history = result.history
    doubt = "" if result.success else textwrap.fill(f"not a success: {result.message}", LETTERS)
    end = max(history["nfev"][-1], result.nfev)
    with matplotlib.rc_context(STYLE):
        out = Picture(figsize=(12, 5 + 0.2 * len(doubt.splitlines())), layout="constrained")
        out.suptitle(_headline(result), x=0.01, ha="left", fontweight="bold")
        panels = out.add_subfigure(out.add_gridspec()[0])
        if doubt:
            panels.suptitle(doubt, x=0.01, ha="left", fontsize=10, color=COLOURS["accent"])
        value, place, spread = panels.subplots(1, 3, width_ratios=[1.4, 1, 1])
        _value(value, history, _marks(result, end), result.what)
        panels.legend(
            *value.get_legend_handles_labels(),
            loc="outside lower left",
            fontsize=9,
            ncols=3,
            handlelength=1.5,
            columnspacing=1.2,
        )
        drawn = _by_name(result) if result.space is not None else _by_number(result)
        _coordinates(place, history["nfev"], drawn.theta, end, drawn.x)
        _coordinates(spread, history["nfev"], drawn.spread, end)
        widths = drawn.spread.values
        if np.all(widths > 0) and np.max(widths, initial=0) > 10 * np.min(widths, initial=np.inf):
            spread.set_yscale("log")
        else:
            spread.set_ylim(bottom=0)
        for ax in (value, place, spread):
            ax.set_xlabel("evaluations")
            ax.set_xlim(0, 1.03 * end)
        out.draw_without_rendering()  # only now is it known how large the panels are
        for ax in (place, spread):
            _spread_labels(ax)
    return out


class _Lines(NamedTuple):
    """What a panel draws: values [n, k], and a label for each line."""

    title: str
    values: np.ndarray
    labels: Sequence[str]


class _Drawn(NamedTuple):
    theta: _Lines
    spread: _Lines
    x: np.ndarray  # [k], the answer


def _by_number(result: Answer) -> _Drawn:
    theta, spread = result.history["x"], result.history["spread"]
    labels = [str(k) for k in range(theta.shape[1])]
    return _Drawn(
        _Lines("recommended theta", theta, labels),
        _Lines("spread of the search", spread, labels),
        result.x,
    )


def _by_name(result: Answer) -> _Drawn:
    """Parameters with units of their own are drawn along their ranges, and end in their values."""
    space, point = result.space, result.x
    spread = space.spread_shares(result.history["spread"])
    values = np.array([*spread.values()]).reshape(len(spread), -1).T
    return _Drawn(
        _Lines(
            "theta, along its range",
            space.shares(result.history["x"]),
            [f"{name} = {point.with_unit(name)}" for name in space.names],
        ),
        _Lines("spread, share of the range", values, [*spread]),
        space.shares(point)[0],
    )


def _headline(result: Answer) -> str:
    claim = (
        f"{result.what} = {result.fun + 0.0:.6g} ± {result.fun_se:.2g}"
        if np.isfinite(result.fun)
        else f"{result.what} is not known"
    )
    return f"{claim}, {_at_x(result) or 'not verified'}; {result.nfev} in all"


def _at_x(result: Answer) -> str:
    if not result.verified:
        return ""
    return f"{result.verified} evaluation{'s' if result.verified > 1 else ''} at x"


def figure_of_curve(run: dict[str, Any]) -> Figure:
    """The figure of a run that is stored, from its snapshot.

    Parameters
    ----------
    run : dict
        `id`, `status`, `done` (evaluations) and `curve`: lists `nfev`, `fun`, `fun_se`, `f_median`,
        `step`, `noise` and `gain` with one entry for each update.

    Returns
    -------
    matplotlib.figure.Figure
        Left: the estimate of E f. Middle: the step of the search beside the noise. Right: what
        measuring x gains.
    """
    history = {
        name: np.array([np.nan if v is None else v for v in values], float)
        for name, values in run["curve"].items()
    }
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(12, 4.2), layout="constrained")
        value, step, gain = out.subplots(1, 3)
        out.suptitle(
            f"run {run['id']}, {run['status']}: {run['done']} evaluations",
            x=0.01,
            ha="left",
            fontweight="bold",
        )
        _value(value, history, what=run.get("what") or "E f(x)")
        value.legend(loc="best", fontsize=9)
        for name, colour, label in (
            ("step", COLOURS["main"], "step of the search"),
            ("noise", COLOURS["accent"], "noise of the inputs"),
        ):
            step.plot(history["nfev"], history[name], color=colour, linewidth=2, label=label)
        step.set_yscale("log" if np.all(history["step"] > 0) else "linear")
        step.set_title("standard deviations")
        step.legend(loc="best", fontsize=9)
        gain.plot(history["nfev"], history["gain"], color=INK, linewidth=2)
        gain.set_title("gain of measuring x, 1 + C/S")
        for ax in (value, step, gain):
            ax.set_xlabel("evaluations")
    return out


class _Mark(NamedTuple):
    """A value that rests on evaluations. half: of its 95 % interval, 0 where there is none.

    role: the axis shows all of a "claim", the value of a "start", and "luck" where there is room.
    """

    role: str
    at: float
    fun: float
    half: float
    label: str
    style: dict[str, Any]


def _marks(result: Answer, end: float) -> list[_Mark]:
    """The start, the best sample where it was luck, and the claim."""
    out = []
    for each in result.candidates:
        if each.role == "start" and _drawable(each.fun):
            style = {"fmt": "s", "color": INK, "markersize": 5}
            label = f"start: {each.fun + 0.0:.4g}"
            out.append(_Mark("start", 0, each.fun, _half(each.fun_se), label, style))
    best, f = result.best, result.evaluations.f
    rows = (
        np.flatnonzero(f == best.fun)
        if best is not None and result.fun_se > 0 and _drawable(best.fun)
        else np.empty(0)
    )
    if best is not None and rows.size and np.any(f[np.isfinite(f)] != best.fun):
        at = result.nfev - f.size + 1 + rows[0]  # of very long runs the last rows are there
        style = {"fmt": "*", "color": COLOURS["accent"], "markersize": 7, "markeredgewidth": 0}
        label = f"best single evaluation (luck): {best.fun + 0.0:.4g}"
        out.append(_Mark("luck", at, best.fun, 0.0, label, style))
    if _drawable(result.fun):
        label = f"verified, {_at_x(result)}" if result.verified else "the claim, not verified"
        style = {
            "fmt": "o",
            "color": INK,
            "markersize": 4.5,
            "markerfacecolor": INK if result.verified else "white",
        }
        out.append(_Mark("claim", end, result.fun, _half(result.fun_se), label, style))
    return out


def _half(se: float) -> float:
    return 2 * se if _drawable(se) else 0.0


def _drawable(values: Any) -> Any:
    return np.abs(values) < HUGE  # NaN is not


def _value(
    ax: Axes,
    history: Mapping[str, np.ndarray],
    marks: list[_Mark] | None = None,
    what: str = "E f(x)",
) -> None:
    """What the model of the search said of `what` on the way, and what the evaluations say."""
    marks = marks or []
    n, fun, se, median = (
        np.asarray(history[name], float) for name in ("nfev", "fun", "fun_se", "f_median")
    )
    drawn, known = _drawable(fun), _drawable(median)
    low, high = _frame(ax, fun[drawn], median[known], marks)
    if known.any():
        look = {"color": "#bbbbbb", "markersize": 3, "zorder": 1}
        ax.plot(n[known], median[known], ".", label="median of a generation", **look)
    half = 2 * np.where(_drawable(se), se, 0.0)[drawn]
    if np.any(half > 0):
        bottom, top = (np.clip(side, low, high) for side in (fun[drawn] - half, fun[drawn] + half))
        look = {"color": COLOURS["main"], "alpha": 0.25, "linewidth": 0}
        ax.fill_between(n[drawn], bottom, top, label="two standard errors", **look)
    if drawn.any():
        dot = "o" if drawn.sum() == 1 else None
        look = {"color": COLOURS["main"], "linewidth": 2, "marker": dot}
        ax.plot(n[drawn], fun[drawn], label=f"model's estimate of {what} at the mean", **look)
    for mark in marks:
        _draw_mark(ax, mark, low, high)
    ax.set_ylim(low, high)
    ax.set_title("value")


def _draw_mark(ax: Axes, mark: _Mark, low: float, high: float) -> None:
    """A point with its interval, as far as the axis from low to high shows it."""
    sides = np.clip(
        [mark.fun - mark.half, mark.fun + mark.half], min(low, mark.fun), max(high, mark.fun)
    )
    bar = np.abs(sides - mark.fun)[:, None] if mark.half else None
    clipped = mark.role == "luck"  # the others may lie on the edge, but not beyond
    look = {"capsize": 4, "zorder": 5, "clip_on": clipped, **mark.style}
    ax.errorbar([mark.at], [mark.fun], yerr=bar, label=mark.label, **look)


def _frame(
    ax: Axes, fun: np.ndarray, median: np.ndarray, marks: list[_Mark]
) -> tuple[float, float]:
    """Sets the scale of the value axis and returns its limits.

    They include all values, or all but a few outliers that would squeeze the others.
    """
    marked = [mark.fun for mark in marks if mark.role != "luck"]
    ends = [
        side
        for mark in marks
        if mark.role == "claim"
        for side in (mark.fun - mark.half, mark.fun + mark.half)
    ]
    values = np.concatenate([fun, median, marked, ends])
    if not values.size:
        return 0.0, 1.0
    low, high = values.min(), values.max()
    # the scale is chosen by observed values: a model may predict negative values of a positive f
    solid = np.concatenate([median, marked]) if median.size + len(marked) else fun
    size = np.abs(solid)[solid != 0]
    if _logarithmic(ax, solid, size):
        low, high = max(low, -10 * size.max()), min(high, 10 * size.max())
        low = max(values[values > 0].min(), size.min() / 10, 1 / HUGE) if solid.min() > 0 else low
    elif fun.size + median.size:
        usual = np.concatenate([np.quantile(np.concatenate([fun, median]), USUAL), marked, ends])
        if 0 < SQUEEZED * np.ptp(usual) < high - low:
            low, high = usual.min(), usual.max()
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        pad = 0.05 * abs(high) or 1.0
        return low - pad, high + pad
    scale = ax.yaxis.get_transform()
    bottom, top = scale.transform(np.array([low, high]))
    room = top - bottom
    for luck in scale.transform(np.array([mark.fun for mark in marks if mark.role == "luck"])):
        if bottom - room / 2 < luck < top + room / 2:
            bottom, top = min(bottom, luck), max(top, luck)
    low, high = scale.inverted().transform(np.array([bottom - 0.05 * room, top + 0.05 * room]))
    return float(low), float(high)


def _logarithmic(ax: Axes, values: np.ndarray, size: np.ndarray) -> bool:
    """Sets a logarithmic scale where the values have one sign and many magnitudes."""
    if not size.size or (values.min() < 0 < values.max()):
        return False
    if not size.max() > (RATIO if size.size == values.size else RATIO_WITH_ZERO) * size.min():
        return False
    if values.min() > 0:
        ax.set_yscale("log", nonpositive="mask")
    else:
        ax.set_yscale("symlog", linthresh=max(size.min(), 1e-15 * size.max()))
    return True


def _coordinates(
    ax: Axes, n: np.ndarray, lines: _Lines, end: float, x: np.ndarray | None = None
) -> None:
    """x: the answer, marked at the end."""
    values = lines.values
    ax.set_title(lines.title)
    rows = np.all(_drawable(values), axis=1)
    n, values = n[rows], values[rows]
    if values.shape[1] > LINES:
        _as_band(ax, n, values, end, x)
        return
    last = x
    if last is None:
        last = values[-1] if len(values) else np.full(values.shape[1], np.nan)
    dot = "o" if len(values) == 1 else None
    for k, column in enumerate(values.T):
        colour = matplotlib.colormaps["viridis"](k / max(values.shape[1] - 1, 1) * 0.9)
        ax.plot(n, column, color=colour, linewidth=1.3, marker=dot, markersize=3)
        if not _drawable(last[k]):
            continue
        if x is not None:
            ax.plot([end], [x[k]], "o", color=colour, markersize=4, clip_on=False)
        line = {"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
        ax.annotate(
            lines.labels[k],
            (end if x is not None else n[-1], last[k]),
            color=colour,
            fontsize=LABEL,
            xytext=(14, 0),
            textcoords="offset points",
            va="center",
            arrowprops=line,
        )


def _as_band(ax: Axes, n: np.ndarray, values: np.ndarray, end: float, x: np.ndarray | None) -> None:
    """More coordinates than lines can be told apart: their range and their median."""
    if len(values):
        low, middle, high = np.quantile(values, [0, 0.5, 1], axis=1)
        ax.fill_between(n, low, high, color=INK, alpha=0.15, linewidth=0, label="all coordinates")
        dot = "o" if len(values) == 1 else None
        ax.plot(n, middle, color=INK, marker=dot, markersize=3, label="their median")
    if x is not None:
        look = {"color": COLOURS["main"], "alpha": 0.5, "clip_on": False}
        ax.plot(np.full(x.size, end), x, "_", label="x", **look)
    ax.legend(loc="best", fontsize=9)


def _spread_labels(ax: Axes) -> None:
    """Moves the labels of coordinates off each other, as little as it takes, within the panel."""
    labels = [text for text in ax.texts if isinstance(text, Annotation)]
    if not labels:
        return
    points = 72 / ax.get_figure(root=True).dpi  # pyright: ignore[reportOptionalMemberAccess]
    at = np.round(points * ax.transData.transform([label.xy for label in labels])[:, 1])
    # labels that coincide are ordered by coordinate, the first on top
    order = np.lexsort((-np.arange(len(labels)), at))
    steps = APART * np.arange(len(labels))
    low, high = points * ax.bbox.y0, points * ax.bbox.y1
    # labels at least APART from each other, as close as possible to where they belong: isotonic
    # regression of the positions less multiples of APART
    moved = (
        np.clip(isotonic_regression(at[order] - steps).x, low, max(high - steps[-1], low)) + steps
    )
    for k, y in zip(order, moved, strict=True):
        labels[k].xyann = (14, float(y - at[k]))
