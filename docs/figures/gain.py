"""Measured variances of the genotype and the phenotype estimate of the mean, over C/S and over the
share of x that is measured.
"""

import functools

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import phenes
from phenes.diagnostics import individual_scores
from phenes.plots import COLOURS, INK, STYLE

DIM, BATCHES, POPULATION = 10, 20, 2000
FUNCTIONS = {"slope": lambda x: jnp.sum(x, axis=1), "bowl": lambda x: -jnp.sum(x**2, axis=1)}
MARKS = {"slope": ("o", COLOURS["main"]), "bowl": ("s", COLOURS["accent"])}


@functools.partial(jax.jit, static_argnums=0)
def scores(name: str, ratio: float, key) -> tuple:
    """Weighted scores of the mean [n, d] of one population, genotype and phenotype."""
    p, q = (
        phenes.inputs.GaussianNoise(jnp.sqrt(ratio)),
        phenes.search.IsotropicGaussian(jnp.zeros(DIM), 1.0),
    )
    for_theta, for_x = jax.random.split(key)
    theta = jax.vmap(q.push)(q.draw(for_theta, POPULATION))
    batch = phenes.Batch(theta=theta, x=p.sample_all(for_x, theta))
    w = phenes.weightings.standardise(FUNCTIONS[name](batch.x))
    both = (phenes.estimators.genotype, phenes.estimators.phenotype)
    return tuple(
        w[:, None] * individual_scores(estimator, p, q, batch)[:, :DIM] for estimator in both
    )


def variances(name: str, ratio: float, share: float = 1.0) -> np.ndarray:
    """[batches, 2]: genotype, and phenotype where x is measured (for this share of the
    individuals).
    """
    out = []
    for key in jax.random.split(jax.random.key(0), BATCHES):
        genotype, phenotype = (np.asarray(s) for s in scores(name, ratio, key))
        mixed = np.where(np.arange(POPULATION)[:, None] < share * POPULATION, phenotype, genotype)
        out.append([np.var(genotype, axis=0).sum(), np.var(mixed, axis=0).sum()])
    return np.array(out)


def ratio_of(v: np.ndarray) -> tuple[float, float]:
    """Of the means, and its standard error by the jackknife."""
    value = v[:, 0].mean() / v[:, 1].mean()
    without = (v[:, 0].sum() - v[:, 0]) / (v[:, 1].sum() - v[:, 1])
    return value, float(np.sqrt((len(v) - 1) * np.var(without)))


def figure() -> Figure:
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(11, 4.3), layout="constrained")
        left, right = out.subplots(1, 2)
        _over_noise(left)
        _over_share(right)
    return out


def _over_noise(ax: Axes) -> None:
    ratios, fine = np.logspace(-2, 1.5, 8), np.logspace(-2, 1.5, 100)
    theory = {
        "slope": (1 + fine / (1 + 1 / DIM), "1 + (C/S) / (1 + 1/d)"),
        "bowl": (1 + fine / (1 + 4 / DIM), "1 + (C/S) / (1 + 4/d)"),
    }
    for name, (curve, formula) in theory.items():
        mark, colour = MARKS[name]
        measured = np.array([ratio_of(variances(name, float(r))) for r in ratios])
        ax.plot(fine, curve, color=colour, linewidth=1.5, label=formula)
        ax.errorbar(
            ratios,
            measured[:, 0],
            2 * measured[:, 1],
            fmt=mark,
            color=colour,
            markersize=6,
            label=f"measured on a {name}",
        )
    ax.axhline(1, color=INK, linewidth=0.8, linestyle=":")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel="C/S: variance of the noise over that of the search",
        title=f"gain in variance, d = {DIM}",
    )
    ax.set_yticks([1, 2, 5, 10, 30], ["1", "2", "5", "10", "30"])
    ax.minorticks_off()
    ax.legend(loc="upper left", fontsize=10)


def _over_share(ax: Axes) -> None:
    shares, fine, ratio = np.linspace(0, 1, 6), np.linspace(0, 1, 100), 3.0
    mark, colour = MARKS["slope"]
    measured = np.array([ratio_of(variances("slope", ratio, float(share))) for share in shares])
    gain = 1 + ratio / (1 + 1 / DIM)
    ax.plot(
        fine,
        1 / (fine / gain + 1 - fine),
        color=colour,
        linewidth=1.5,
        label="1 / (share / gain + 1 - share)",
    )
    ax.errorbar(
        shares,
        measured[:, 0],
        2 * measured[:, 1],
        fmt=mark,
        color=colour,
        markersize=6,
        label="measured on a slope",
    )
    ax.set(
        xlabel="share of the individuals whose x is measured",
        ylim=(0, 4.4),
        title="the same if x is not always measured, C/S = 3",
    )
    ax.legend(loc="upper left", fontsize=10)
