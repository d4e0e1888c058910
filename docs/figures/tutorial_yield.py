"""What the nominal and the robust setting make, and what the log was worth."""

import matplotlib
import numpy as np
from blocks import DOCS, namespace
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import phenes
from phenes.plots import COLOURS, STYLE, band

SEEDS = 20


def figure() -> Figure:
    page = namespace(DOCS / "tutorial.md", 4)
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(11, 4), layout="constrained")
        left, right = out.subplots(1, 2)
        _histograms(left, page)
        _campaigns(right, page)
    return out


def _made(page: dict, theta: np.ndarray, n: int) -> np.ndarray:
    return page["product"](
        theta + page["OFFSET"] + page["ERROR"] * np.random.default_rng(1).standard_normal((n, 3))
    )


def _histograms(ax: Axes, page: dict) -> None:
    for name, colour in (("nominal", "accent"), ("robust", "main")):
        made = _made(page, page[name].x, 20_000)
        ax.hist(
            made,
            bins=np.arange(0, 101, 2.5),
            color=COLOURS[colour],
            alpha=0.6,
            label=f"{name}: {made.mean():.0f} % on average",
        )
    ax.set(xlabel="yield of a batch, %", yticks=[], title="20,000 fresh batches")
    ax.legend(loc="upper left")


def _campaigns(ax: Axes, page: dict) -> None:
    grid = np.arange(28, 841, 14)
    for told, method, label in ((True, "PAES", "told the log"), (False, "ES", "not told the log")):
        runs = np.array([_campaign(page, seed, told, grid) for seed in range(SEEDS)])
        band(ax, grid, runs, method, label)
    ax.set(xlabel="batches", ylabel="average yield, %", title="at the recommended setting")
    ax.legend(loc="lower right")


def _campaign(page: dict, seed: int, told: bool, grid: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(1000 + seed)
    opt = phenes.Optimizer(
        **page["START"],
        noise="learn" if told else None,
        maximize=True,
        batch=7,
        budget=840,
        seed=seed,
    )
    while not opt.stop():
        theta = opt.ask()
        x = theta + page["OFFSET"] + page["ERROR"] * rng.standard_normal(theta.shape)
        opt.tell(theta, page["product"](x), realised=x if told else None)
    history = opt.result.history
    last = np.searchsorted(history["nfev"], grid, side="right") - 1
    worth = {k: _made(page, history["x"][k], 1000).mean() for k in np.unique(last)}
    return np.array([worth[k] for k in last])
