"""Yields of many flasks for a recipe that is perfect on paper, and for the one recommended."""

import runpy
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from phenes.plots import COLOURS, STYLE

EXAMPLE = Path(__file__).parents[2] / "examples" / "buffer_lab.py"
RECIPES = {
    "on paper: 2 g acid, 3.2 g base, 6.8 g salt": {"acid": 2.0, "base": 3.17, "salt": 6.83},
    "recommended: 4.7 g acid, 7.4 g base": {"acid": 4.68895, "base": 7.41658, "salt": 0.0},
}


def figure() -> Figure:
    lab = runpy.run_path(str(EXAMPLE))["lab"]
    with matplotlib.rc_context(STYLE):
        out, ax = plt.subplots(figsize=(7.5, 3), layout="constrained")
        for (name, recipe), colour in zip(RECIPES.items(), ("accent", "main"), strict=True):
            found = np.array([y for y in (lab(recipe)[1] for _ in range(4000)) if y is not None])
            label = f"{name}: {found.mean():.0f} % on average"
            ax.hist(found, np.linspace(0, 92, 60), color=COLOURS[colour], alpha=0.5, label=label)
        ax.set(xlabel="yield, %", ylabel="flasks", yticks=[])
        ax.legend(loc="upper left")
    return out
