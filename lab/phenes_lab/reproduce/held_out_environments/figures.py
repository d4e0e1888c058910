"""Results -> the picture."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from phenes import plots
from phenes.plots import INK, STYLE
from phenes_lab.palette import titled
from phenes_lab.reproduce.control.figures import COLOURS, LABELS, series
from phenes_lab.reproduce.held_out_environments.results import HeldOutResults


def figures(results: HeldOutResults, out: Path) -> list[Path]:
    return [plots.save(draw(results), out / "untuned-learning.png")]


def draw(results: HeldOutResults) -> Figure:
    """Returns of the mean policy by episodes, one line for each run."""
    with matplotlib.rc_context(STYLE):
        n = len(results.runs)
        picture = Figure(figsize=(4 * n, 4.2), layout="constrained")
        titled(picture, "Return of the mean policy with its best actions; each line is a seed")
        for ax, (env, methods) in zip(
            picture.subplots(1, n, squeeze=False)[0], results.runs.items(), strict=True
        ):
            for method, runs in methods.items():
                for k, one in enumerate(runs):
                    x, y = series(one, "episodes", True)
                    label = LABELS[method] if k == 0 else None
                    ax.plot(x, y, color=COLOURS[method], linewidth=1.4, label=label)
            threshold = results.thresholds[env]
            if threshold is not None:
                ax.axhline(threshold, color=INK, linestyle=":", linewidth=1, label="solved")
            ax.set(xlabel="episodes", title=env)
            ax.legend(loc="best", fontsize=8)
        picture.axes[0].set_ylabel("return")
    return picture
