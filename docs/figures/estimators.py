"""Variances of the estimators relative to phenotype, over C/S, under Gaussian and Student t
noise.
"""

import functools

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.figure import Figure

import phenes
from phenes import estimators
from phenes.diagnostics import individual_scores
from phenes.plots import STYLE

DIM, POPULATION = 10, 8000
LAWS = {
    "Gaussian noise": lambda c: phenes.inputs.GaussianNoise(jnp.sqrt(c)),
    "Student t noise, 3 degrees of freedom": lambda c: phenes.inputs.StudentTNoise(
        jnp.sqrt(c / 3), df=3.0
    ),
}
# Okabe and Ito's palette, as in all pictures of the library; a mark of its own for each as well
LOOKS = {
    "genotype": ("#D55E00", "o"),
    "reparameterised": ("#CC79A7", "v"),
    "exchangeable_coordinates(60)": ("#009E73", "s"),
    "information_mix": ("#E69F00", "D"),
    "phenotype": ("#0072B2", "*"),
}


@functools.partial(jax.jit, static_argnums=0)
def measure(law: str, ratio: float, key) -> dict:
    """Variance of the weighted score of the mean, by estimator."""
    p, q = LAWS[law](ratio), phenes.search.DiagonalGaussian(jnp.zeros(DIM), 1.0)
    past, now = (population(p, q, k) for k in jax.random.split(key))
    w = phenes.weightings.standardise(jnp.sum(now.x, axis=1))
    mix = estimators.information_mix()
    members = {
        "genotype": estimators.genotype,
        "reparameterised": estimators.reparameterised,
        "exchangeable_coordinates(60)": estimators.exchangeable_coordinates(60),
        "information_mix": mix.start(p, q, past).observe(p, q, past),
        "phenotype": estimators.phenotype,
    }
    rows = {
        name: w[:, None] * individual_scores(member, p, q, now)[:, :DIM]
        for name, member in members.items()
    }
    return {name: jnp.sum(jnp.var(row, axis=0)) for name, row in rows.items()}


def population(p, q, key) -> phenes.Batch:
    for_theta, for_x, own = jax.random.split(key, 3)
    xi = q.draw(for_theta, POPULATION)
    theta = jax.vmap(q.push)(xi)
    x = jax.vmap(p.sample)(jax.random.split(for_x, POPULATION), theta)
    return phenes.Batch(theta=theta, x=x, xi=xi, key=own)


def figure() -> Figure:
    ratios = np.logspace(-2, 2, 7)
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(11, 4.4), layout="constrained")
        axes = out.subplots(1, 2, sharey=True)
        for ax, law in zip(axes, LAWS, strict=True):
            found = [measure(law, float(r), jax.random.key(0)) for r in ratios]
            for name, (colour, mark) in LOOKS.items():
                relative = [float(row[name] / row["phenotype"]) for row in found]
                ax.plot(
                    ratios,
                    relative,
                    marker=mark,
                    color=colour,
                    linewidth=1.6,
                    markersize=6,
                    label=name,
                )
            ax.set(xscale="log", yscale="log", xlabel="C/S", title=law)
        axes[0].set_ylabel("variance over that of phenotype")
        axes[0].legend(loc="upper center", fontsize=9)
    return out
