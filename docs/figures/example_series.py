"""Corner frequency and quality of filters as they are soldered, around two designs."""

import runpy
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from phenes.plots import COLOURS, INK, STYLE

EXAMPLE = Path(__file__).parents[2] / "examples" / "component_series.py"


def figure() -> Figure:
    example = runpy.run_path(str(EXAMPLE))
    designs = {"on paper": example["on_paper"], "phenes": np.asarray(example["result"].x)}
    errors = example["STEPS"] * np.random.default_rng(1).standard_normal((400, 4))
    turn = np.linspace(0, 2 * np.pi, 200)
    with matplotlib.rc_context(STYLE):
        out, axes = plt.subplots(1, 2, figsize=(7.5, 3.4), sharey=True, layout="constrained")
        for ax, (name, design) in zip(axes, designs.items(), strict=True):
            f0, q = np.array([_filter(example, built) for built in design + errors]).T
            good = example["loss"](*(design + errors).T) < 1
            ax.plot(f0[good], q[good], ".", color=COLOURS["main"], alpha=0.5, label="good")
            ax.plot(f0[~good], q[~good], ".", color=COLOURS["accent"], alpha=0.5, label="not good")
            ax.plot(1000 * np.exp(0.07 * np.cos(turn)), 0.707 * np.exp(0.07 * np.sin(turn)), INK)
            ax.set_title(f"{name}: {100 * good.mean():.0f} % of 400 filters are good")
            ax.set(xlabel="corner frequency, Hz")
        axes[0].set_ylabel("quality Q")
        axes[1].legend(loc="lower right")
    return out


def _filter(example: dict, numbers: np.ndarray) -> tuple[float, float]:
    """Corner frequency and quality with parts of these numbers of their series."""
    part = example["part"]
    r1, r2 = (part(number, example["OHM"], 24) for number in numbers[:2])
    c1, c2 = (part(number, example["FARAD"], 12) for number in numbers[2:])
    root = np.sqrt(r1 * r2 * c1 * c2)
    return 1 / (2 * np.pi * root), root / (c2 * (r1 + r2))
