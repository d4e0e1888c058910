"""Five input laws of one variance, and what each makes of a realised x."""

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.figure import Figure

import phenes
from phenes import inputs
from phenes.plots import INK, STYLE

LAWS = {
    "Gaussian": (inputs.GaussianNoise(1.0), INK, "-"),
    "Laplace": (inputs.LaplaceNoise(0.5**0.5), "#009E73", "--"),
    "Student t, 3 degrees of freedom": (inputs.StudentTNoise(3**-0.5, df=3.0), "#D55E00", "-."),
    "uniform": (inputs.UniformNoise(3**0.5), "#0072B2", "-"),
    "mixture: 10 % far off": (
        inputs.GaussianMixtureNoise([0.9, 0.1], [0.5, 7.75**0.5]),
        "#CC79A7",
        ":",
    ),
}


def mean_score(p, q, x):
    """d log P(x) / d mean."""
    return phenes.estimators.phenotype(p, q, phenes.Batch(x[None], x[None]), jnp.ones(1)).mean[0]


def figure() -> Figure:
    r = np.linspace(-5, 5, 501, dtype=np.float32)[:, None]
    q = phenes.search.DiagonalGaussian(jnp.zeros(1), 1.0)
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(11, 4.2), layout="constrained")
        left, right = out.subplots(1, 2)
        for name, (p, colour, line) in LAWS.items():
            density, score = jax.jit(
                jax.vmap(lambda x, p=p: (jnp.exp(p.log_prob(x, jnp.zeros(1))), mean_score(p, q, x)))
            )(r)
            left.plot(r, density, line, color=colour, linewidth=2, label=name)
            right.plot(r, score, line, color=colour, linewidth=2, label=name)
        left.set(title="density of x - θ", xlabel="x - θ", xlim=(-4, 4))
        right.set(title="phenotype score of the mean", xlabel="x - m")
        right.axhline(0, color=INK, linewidth=0.5)
        right.legend(loc="upper left", fontsize=9)
    return out
