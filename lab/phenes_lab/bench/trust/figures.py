"""Rows -> one picture: coverage by family, and z beside the normal law."""

import math
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binomtest, norm

from phenes.plots import INK, STYLE, save
from phenes_lab.bench.trust.tables import claimants, groups
from phenes_lab.bench.trust.truth import TrustRow
from phenes_lab.palette import BLUE, ORANGE

PICTURE = "trust.png"
COLOURS = (BLUE, ORANGE)
WANTED = 95.4  # per cent within two standard errors
EDGE = 4.0  # of z in the picture


def figures(rows: list[TrustRow], out: Path) -> list[Path]:
    return [save(picture(rows), out / PICTURE)]


def picture(rows: list[TrustRow]) -> Figure:
    families = list(groups(rows, lambda row: row.family))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12, max(3.5, 0.27 * len(families) + 1.5)), layout="constrained")
        left, right = figure.subplots(1, 2)
        for k, ours in enumerate(claimants(rows)):
            of = [row for row in rows if row.contender == ours]
            shift = 0.15 * (2 * k - 1) if len(claimants(rows)) > 1 else 0.0
            _coverage(left, of, families, ours, COLOURS[k], shift)
            _distribution(right, of, ours, COLOURS[k])
        _finish(left, right, families)
    return figure


def _coverage(
    ax: Axes, rows: list[TrustRow], families: list[str], label: str, colour: str, shift: float
) -> None:
    """Each family's share with Wilson's interval of 95 %."""
    for k, family in enumerate(families):
        of = [row.covered for row in rows if row.family == family]
        if of:
            low, high = binomtest(sum(of), len(of)).proportion_ci(method="wilson")
            ax.plot([100 * low, 100 * high], [k + shift] * 2, color=colour, linewidth=1.2)
            name = label if k == 0 else None
            ax.plot(100 * np.mean(of), k + shift, "o", color=colour, markersize=5, label=name)


def _distribution(ax: Axes, rows: list[TrustRow], label: str, colour: str) -> None:
    """Of claims that leave room for an error."""
    z = np.array([row.z for row in rows if row.fun_se > 0 and not math.isnan(row.z)])
    if z.size:
        ax.hist(
            np.clip(z, -EDGE, EDGE),
            bins=np.linspace(-EDGE, EDGE, 41).tolist(),
            density=True,
            histtype="step",
            color=colour,
            label=label,
        )


def _finish(left: Axes, right: Axes, families: list[str]) -> None:
    left.axvline(WANTED, color=INK, linewidth=1, linestyle=":")
    left.set_yticks(range(len(families)), families, fontsize=9)
    left.set_ylim(len(families) - 0.5, -0.5)
    left.set(xlabel="covered, % (dotted: 95.4)", xlim=(min(40.0, left.get_xlim()[0]), 101))
    left.set_title("Is E f within two standard errors of the claim?")
    grid = np.linspace(-EDGE, EDGE, 200)
    right.plot(grid, norm.pdf(grid), color=INK, linestyle=":", label="normal")
    right.set(xlabel="(fun - E f) / joint standard error; beyond 4: at the edge", ylabel="density")
    right.set_title("How far off, in standard errors")
    right.legend(fontsize=9)
