"""store -> the data profile: how much is solved within how many evaluations. Nothing is run
here.
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from phenes.store import Store
from phenes_lab.bench.peers import verdicts
from phenes_lab.bench.peers.contenders import OURS
from phenes_lab.bench.peers.results import Results, load
from phenes_lab.bench.peers.verdicts import Group
from phenes_lab.bench.peers.writing import PICTURE
from phenes_lab.reproduce.bbob.pictures import INK, STYLE, _save

# a colour for each library, a line for each way of using it; Okabe and Ito's palette
COLOURS = {
    "phenes": "#0072B2",
    "paes": "#56B4E9",
    "pycma": "#D55E00",
    "cmaes": "#009E73",
    "evosax": "#CC79A7",
}
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
COLUMNS = 3


def figures(store: Store, out: Path) -> list[Path]:
    results = load(store)
    # peers alone, to be joined later: there is nothing to compare yet
    if not verdicts.groups(results):
        return []
    with matplotlib.rc_context(STYLE):
        return [_save(profile(results), out / PICTURE)]


def profile(results: Results) -> Figure:
    """One panel for each dimension, noise and kind of instance."""
    groups = verdicts.groups(results)
    columns = min(COLUMNS, len(groups))
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(max(11, 5 * columns + 1), 4 * rows + 1.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    figure.suptitle(
        "Share of (function, target, seed) solved, against evaluations for each dimension",
        x=0.01,
        ha="left",
    )
    for ax, group in zip(axes, groups, strict=False):
        _panel(ax, results, group)
    for ax in axes[len(groups) :]:
        ax.set_axis_off()
    handles = {
        label: line
        for ax in axes
        for line, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=7)
    return figure


def _panel(ax: Axes, results: Results, group: Group) -> None:
    budget = float(results.conditions["budget"])
    evaluations = np.geomspace(4, budget, 200)
    own = verdicts.problems_of(results, group)
    names = [
        name for name in dict.fromkeys(n for p in own for n in results.peers(p)) if name != OURS
    ]
    used: dict[str, int] = {}
    for name in [*names, OURS]:  # ours last, above the others
        library = name.split("-")[0]
        line = "-" if name == OURS else LINES[used.get(library, library == OURS) % len(LINES)]
        used[library] = used.get(library, library == OURS) + 1
        solved = verdicts.solved(results, group, name, evaluations)
        ax.plot(
            evaluations,
            solved,
            color=COLOURS[library],
            linestyle=line,
            linewidth=3 if name == OURS else 1.3,
            label=name,
        )
    ax.set(xscale="log", xlim=(4, budget), ylim=(0, 1), xlabel="evaluations / d", ylabel="solved")
    ax.set_title(
        f"{group.name} ({len({p.function for p in own})} functions)", color=INK, fontsize=9
    )
    ax.grid(alpha=0.25)
