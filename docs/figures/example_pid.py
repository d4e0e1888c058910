"""Step responses of regulators as they are built: the design on paper, and the robust one."""

import runpy
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from phenes.plots import COLOURS, STYLE

EXAMPLE = Path(__file__).parents[2] / "examples" / "pid_overshoot.py"
# what the example finds: gain, integral, derivative
DESIGNS = {
    "on paper": (2.4843, 0.39351, 0.16805),
    "for the worst tenth": (2.3854, 0.35168, 0.14609),
}


def figure() -> Figure:
    response = runpy.run_path(str(EXAMPLE))["response"]
    tolerances = np.exp(0.1 * np.random.default_rng(0).standard_normal((40, 3)))
    with matplotlib.rc_context(STYLE):
        out, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
        for ax, (name, design), colour in zip(
            axes, DESIGNS.items(), ("accent", "main"), strict=True
        ):
            for built in design * tolerances:
                level = response(*built)
                time = 0.05 * np.arange(1, level.size + 1)
                ax.plot(time, level, color=COLOURS[colour], alpha=0.25, linewidth=1)
            ax.axhline(1, color="black", linewidth=0.8)
            ax.set(title=f"best {name}", xlabel="seconds", xlim=(0, 12))
        axes[0].set_ylabel("level")
    return out
