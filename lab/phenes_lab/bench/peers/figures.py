"""Results -> the data profile: how much is solved within how many evaluations."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.plots import save
from phenes_lab.bench.peers import scoring
from phenes_lab.bench.peers.report import PICTURE
from phenes_lab.bench.peers.results import PeersResults
from phenes_lab.bench.peers.scoring import Group
from phenes_lab.contenders import OURS
from phenes_lab.palette import INK, LIBRARIES, SKY, SMALL, legend_below, panels, titled

# a colour for each library, a line for each way of using it
COLOURS = LIBRARIES | {"paes": SKY}
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
COLUMNS = 3


def figures(results: PeersResults, out: Path) -> list[Path]:
    # peers alone, to be joined later: there is nothing to compare yet
    if not scoring.groups(results):
        return []
    with matplotlib.rc_context(SMALL):
        return [save(profile(results), out / PICTURE, 120, SMALL)]


def profile(results: PeersResults) -> Figure:
    """One panel for each dimension, noise and kind of instance."""
    groups = scoring.groups(results)
    figure, axes = panels(len(groups), COLUMNS, (5, 4), room=(1, 1.5), least=11)
    titled(
        figure, "Share of (function, target, seed) solved, against evaluations for each dimension"
    )
    for ax, group in zip(axes, groups, strict=True):
        _panel(ax, results, group)
    legend_below(figure, axes, ncols=7)
    return figure


def _panel(ax: Axes, results: PeersResults, group: Group) -> None:
    budget = float(results.conditions["budget"])
    evaluations = np.geomspace(4, budget, 200)
    own = scoring.problems_of(results, group)
    names = [
        name for name in dict.fromkeys(n for p in own for n in results.peers(p)) if name != OURS
    ]
    used: dict[str, int] = {}
    for name in [*names, OURS]:  # ours last, above the others
        library = name.split("-")[0]
        line = "-" if name == OURS else LINES[used.get(library, library == OURS) % len(LINES)]
        used[library] = used.get(library, library == OURS) + 1
        solved = scoring.solved(results, group, name, evaluations)
        style = {"linestyle": line, "linewidth": 3 if name == OURS else 1.3, "label": name}
        ax.plot(evaluations, solved, color=COLOURS[library], **style)
    ax.set(xscale="log", xlim=(4, budget), ylim=(0, 1), xlabel="evaluations / d", ylabel="solved")
    ax.set_title(
        f"{group.name} ({len({p.function for p in own})} functions)", color=INK, fontsize=9
    )
    ax.grid(alpha=0.25)
