"""The campaign of the tutorial: settings and batches of the first and the last rounds."""

import matplotlib
import numpy as np
from blocks import DOCS, namespace
from matplotlib.figure import Figure

import phenes
from phenes.plots import COLOURS, INK, STYLE

ROUNDS = 9  # shown of the beginning and of the end


def campaign(page: dict) -> list[tuple[np.ndarray, np.ndarray]]:
    """Settings and log of every round, as the page runs it."""
    opt = phenes.Optimizer(
        **page["START"], noise="learn", maximize=True, batch=7, budget=840, seed=0
    )
    rounds = []
    while not opt.stop():
        theta = opt.ask()
        log, yields = page["lab"](theta)
        opt.tell(theta, yields, realised=log)
        rounds.append((theta, log))
    return rounds


def figure() -> Figure:
    page = namespace(DOCS / "tutorial.md", 4)
    rounds = campaign(page)
    nominal, robust = page["nominal"].x, page["robust"].x
    heat, dose = np.meshgrid(np.linspace(52, 98, 240), np.linspace(0.2, 3.4, 240))
    made = page["product"](np.stack([heat, dose, np.full_like(heat, robust[2])], axis=-1))
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(11, 4.4), layout="constrained")
        axes = out.subplots(1, 2, sharey=True)
        for ax, some, title in zip(
            axes,
            (rounds[:ROUNDS], rounds[-ROUNDS:]),
            ("the first nine rounds", "the last nine rounds"),
            strict=True,
        ):
            colours = ax.contourf(
                heat, dose, made, levels=np.arange(0, 101, 10), cmap="Greys", alpha=0.6
            )
            for theta, log in some:
                ax.plot(
                    [theta[:, 0], log[:, 0]],
                    [theta[:, 1], log[:, 1]],
                    color=INK,
                    linewidth=0.5,
                    alpha=0.5,
                )
                ax.plot(
                    theta[:, 0],
                    theta[:, 1],
                    "o",
                    markerfacecolor="white",
                    markeredgecolor=COLOURS["accent"],
                    markersize=4,
                )
                ax.plot(log[:, 0], log[:, 1], "o", color=COLOURS["main"], markersize=3.5)
            ax.plot(
                *nominal[:2],
                "X",
                color=COLOURS["accent"],
                markeredgecolor="white",
                markersize=13,
                label="nominal",
            )
            ax.plot(
                *robust[:2],
                "*",
                color=COLOURS["main"],
                markeredgecolor="white",
                markersize=18,
                label="recommended",
            )
            ax.set(xlim=(52, 98), ylim=(0.2, 3.4), xlabel="temperature, °C", title=title)
        axes[0].set_ylabel("dose, g")
        axes[1].legend(loc="lower left", frameon=True, facecolor="white", framealpha=0.9)
        out.colorbar(colours, ax=axes, label="yield, %")
    return out
