"""Reflectance of coatings as they are deposited, beside the limit that 95 % must meet."""

import runpy
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from phenes.plots import COLOURS, STYLE

EXAMPLE = Path(__file__).parents[2] / "examples" / "coating_chance.py"
DESIGN = (91.9462, 111.164, 40.176, 5.0)  # nm: what the example finds
LIMIT = 0.5


def figure() -> Figure:
    example = runpy.run_path(str(EXAMPLE))
    rng = np.random.default_rng(0)
    with matplotlib.rc_context(STYLE):
        out, ax = plt.subplots(figsize=(7.5, 3), layout="constrained")
        for made in DESIGN + 1.5 * rng.standard_normal((40, 4)):
            r = 100 * example["reflectance"](made)
            good = r.max() <= LIMIT
            ax.plot(example["WAVES"], r, color=COLOURS["main" if good else "accent"], alpha=0.4)
        ax.plot(
            example["WAVES"], 100 * example["reflectance"](DESIGN), color="black", label="on paper"
        )
        ax.axhline(LIMIT, color="black", linestyle="--", label="the limit")
        ax.set(xlabel="wavelength, nm", ylabel="reflectance, %", ylim=(0, 0.6))
        ax.legend(loc="upper center")
    return out
