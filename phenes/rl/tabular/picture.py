"""The learning curve and the learnt policy as a picture. Imported by commands only: it brings
matplotlib.
"""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from phenes.rl.tabular import show
from phenes.rl.tabular.environment import Environment, Scene
from phenes.rl.tabular.training import Trained

INK, BLUE, ORANGE = "#222222", "#0072B2", "#D55E00"
TINTS = {"H": "#BBBBBB", "#": "#BBBBBB", "G": "#9FD8C4"}
STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "legend.frameon": False,
}


def save(trained: Trained, environment: Environment, path: Path) -> Path:
    with matplotlib.rc_context(STYLE):
        draw(trained, environment).savefig(
            path, dpi=120, facecolor="white", metadata={"Software": None}
        )
    return path


def draw(trained: Trained, environment: Environment) -> Figure:
    """Left: exact value of the greedy policy and mean return of the population. Right: the maps."""
    scenes = environment.scenes
    figure = Figure(figsize=(13 if scenes else 7.5, 4.8), layout="constrained")
    score = trained.score
    figure.suptitle(
        f"{trained.name}: the greedy policy is worth {score.greedy:.4g}, the best possible"
        f" {score.optimum:.4g}",
        x=0.01,
        ha="left",
    )
    if not scenes:
        _curve(figure.subplots(), trained)
        return figure
    left, right = np.ravel(np.asarray(figure.subfigures(1, 2, width_ratios=[1.15, 1])))
    _curve(left.subplots(), trained)
    rows = -(-len(scenes) // show.ABREAST)
    axes = np.ravel(right.subplots(rows, -(-len(scenes) // rows), squeeze=False))
    for ax, scene in zip(axes, scenes, strict=True):
        _map(
            ax, environment, scene, np.argmax(trained.probabilities, axis=1), small=len(scenes) > 1
        )
    return figure


def _curve(ax: Axes, trained: Trained) -> None:
    generation = np.arange(1, trained.curve.size + 1)
    score = trained.score
    ax.plot(
        generation,
        trained.population,
        color=ORANGE,
        linewidth=1,
        label="mean return of the population",
    )
    ax.plot(
        generation,
        trained.curve,
        color=BLUE,
        linewidth=1.8,
        label=f"greedy policy, exact, {score.limit} steps",
    )
    ax.axhline(score.optimum, color=INK, linestyle=":", linewidth=1, label="best possible")
    ax.set(xlabel="generation", ylabel="expected return", xlim=(0, generation[-1]))
    seen = np.concatenate([trained.curve, trained.population])
    if score.optimum - seen.min() > 100:
        # the first policies fall off cliffs all day: what comes after them would be a flat line
        ax.set_yscale("symlog", linthresh=10)
    else:
        room = 0.05 * max(score.optimum - seen.min(), 1e-9)
        ax.set_ylim(seen.min() - room, max(score.optimum, seen.max()) + room)
    ax.legend(loc="lower right")


def _map(ax: Axes, environment: Environment, scene: Scene, policy: np.ndarray, small: bool) -> None:
    rows, columns = scene.states.shape
    text = show.signs(environment, scene, policy)
    size = (10 if small else 200 / max(rows, columns) / 1.6) if max(rows, columns) > 4 else 24
    for (i, j), sign in np.ndenumerate(text):
        tint = TINTS.get(str(scene.signs[i, j]), "white")
        ax.add_patch(Rectangle((j, i), 1, 1, facecolor=tint, edgecolor="#DDDDDD"))
        ax.text(j + 0.5, i + 0.5, sign, ha="center", va="center", fontsize=min(size, 24), color=INK)
    ax.set(
        xlim=(0, columns), ylim=(rows, 0), aspect="equal", xticks=[], yticks=[], title=scene.title
    )
    ax.spines[:].set_visible(False)
