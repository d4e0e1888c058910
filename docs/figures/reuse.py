"""What using earlier generations again gains in a run: none, 3 generations with balance weights and
with plain ratios, at equal evaluations, over learning rates.

`python docs/figures/reuse.py` prints the table of docs/estimators/reuse.md.
"""

import functools

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import optax
from matplotlib.figure import Figure

import phenes
from phenes import estimators
from phenes.plots import STYLE

DIM, NOISE, STD, POPULATION, GENERATIONS, SEEDS = 10, 0.3, 0.3, 10, 300, 10
LAST = 30  # generations whose mean is what is reported
RATES = (0.25, 0.5, 1.0, 2.0, 4.0)
SCALES = 10.0 ** np.linspace(0, 2, DIM)
WAVES = 2 * np.pi
KINDS = {
    "no reuse": None,
    "balance, 3 generations": estimators.Reuse(3),
    "ratio, 3 generations": estimators.Reuse(3, estimators.ratio_weights),
}
LOOKS = {
    "no reuse": ("#D55E00", "o"),
    "balance, 3 generations": ("#0072B2", "s"),
    "ratio, 3 generations": ("#009E73", "v"),
}
PROBLEMS = {
    "sphere": lambda x: -jnp.sum(x**2),
    "ellipsoid, condition 100": lambda x: -jnp.sum(jnp.asarray(SCALES, x.dtype) * x**2),
    "cosine waves on a bowl": lambda x: -jnp.sum(x**2 + 3 * (1 - jnp.cos(WAVES * x))),
}


def regret(problem: str, m: np.ndarray) -> np.ndarray:
    """E f at the best aim minus E f at m, under the noise; exact."""
    if problem == "sphere":
        return np.sum(m**2, -1)
    if problem.startswith("ellipsoid"):
        return np.sum(SCALES * m**2, -1)
    damped = np.exp(-0.5 * (WAVES * NOISE) ** 2)
    return np.sum(m**2 + 3 * damped * (1 - np.cos(WAVES * m)), -1)


@functools.cache
def measure(problem: str, kind: str) -> np.ndarray:
    """Regret of the mean over the last generations, [rates, seeds]."""
    p = phenes.inputs.GaussianNoise(NOISE)
    oiu = phenes.OIU(p, PROBLEMS[problem])
    q0 = phenes.search.IsotropicGaussian(jnp.full(DIM, 2.0), STD)

    def one(rate, key):
        strategy = phenes.es(
            p,
            estimators.phenotype,
            phenes.weightings.standardise,
            optax.sgd(rate),
            POPULATION,
            std=STD,
            reuse=KINDS[kind],
        )
        report = lambda state, _: state.q.mean  # noqa: E731
        return phenes.run(key, oiu, strategy, q0, GENERATIONS, report)[1][1][-LAST:]

    keys = jax.random.split(jax.random.key(0), SEEDS)
    each = jax.vmap(jax.vmap(one, (None, 0)), (0, None))
    means = np.asarray(jax.jit(each)(jnp.asarray(RATES), keys))
    return regret(problem, means).mean(-1)


def figure() -> Figure:
    with matplotlib.rc_context(STYLE):
        out = Figure(figsize=(12, 4.2), layout="constrained")
        for ax, problem in zip(out.subplots(1, 3), PROBLEMS, strict=True):
            for kind, (colour, mark) in LOOKS.items():
                low, middle, high = np.quantile(measure(problem, kind), [0.25, 0.5, 0.75], axis=1)
                ax.fill_between(RATES, low, high, color=colour, alpha=0.2, linewidth=0)
                ax.plot(RATES, middle, marker=mark, color=colour, linewidth=1.6, label=kind)
            # plain ratios diverge where steps are long: the axis is that of the others
            others = [measure(problem, kind) for kind in list(KINDS)[:2]]
            ax.set(xscale="log", yscale="log", xlabel="learning rate", title=problem)
            ax.set_ylim(0.5 * np.min(others), 3 * np.max(others))
            ax.set_xticks(RATES, [f"{rate:g}" for rate in RATES])
            ax.set_xticks([], minor=True)
        out.axes[0].set_ylabel("regret after 3000 evaluations")
        out.axes[0].legend(fontsize=9)
    return out


def table() -> str:
    """Median and quartiles at the best rate of each."""
    lines = []
    for problem in PROBLEMS:
        for kind in KINDS:
            found = measure(problem, kind)
            best = int(np.argmin(np.median(found, axis=1)))
            low, middle, high = np.quantile(found[best], [0.25, 0.5, 0.75])
            said = f"{middle:.3g} ({low:.3g} to {high:.3g})"
            lines.append(f"| {problem} | {kind} | {RATES[best]:g} | {said} |")
    return "\n".join(lines)


def in_a_run(kind: str, share: float, runs: int = 4000) -> tuple[float, float, float]:
    """What the steps of generations 5 to 10 of a run are, in units of the exact ones, with standard
    error, and their variance: the sphere in 5 dimensions, 20 individuals, raw values, steps that
    take `share` of the way to the optimum.
    """
    p, d = phenes.inputs.GaussianNoise(NOISE), 5
    oiu, rate = phenes.OIU(p, PROBLEMS["sphere"]), share / (2 * STD**2)
    parts = estimators.phenotype, phenes.weightings.value, optax.sgd(rate)
    strategy = phenes.es(p, *parts, popsize=20, std=STD, reuse=KINDS[kind])
    q0 = phenes.search.IsotropicGaussian(jnp.ones(d), STD)

    def one(key):
        report = lambda state, _: state.q.mean  # noqa: E731
        return phenes.run(key, oiu, strategy, q0, 10, report)[1][1]

    means = np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(1), runs)))
    step, exact = np.diff(means, axis=1)[:, 3:] / rate, -2 * STD**2 * means[:, 3:-1]
    along, size = np.sum(step * exact, (1, 2)), np.sum(exact**2, (1, 2))
    share = along.sum() / size.sum()
    se = np.std(along - share * size) / np.mean(size) / np.sqrt(runs)
    return float(share), float(se), float(np.mean((step - exact) ** 2))


if __name__ == "__main__":
    print(table())
    for share in (0.05, 0.2):
        for kind in KINDS:
            print(share, kind, *(f"{value:.3g}" for value in in_a_run(kind, share)))
