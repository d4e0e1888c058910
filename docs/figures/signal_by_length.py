"""The share of signal in one gradient against the length of an episode, by estimator."""

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib.figure import Figure

from phenes import weightings
from phenes.batch import Batch
from phenes.plots import STYLE
from phenes.rl import policies, rollouts, trajectories
from phenes.search import IsotropicGaussian

POPSIZE, POPULATIONS, SPREAD, HIDDEN = 100, 100, 0.1, (16,)
# discrete actions and a short task, continuous ones and a task that can be made long
TASKS = {"CartPole-v1": (10, 30, 100), "Pendulum-v1": (10, 50, 200, 1000)}
ESTIMATORS = {
    "genotype: the return alone": trajectories.Genotype(),
    "score of the actions": trajectories.Reparameterised(),
    "information mix": trajectories.mix(32),
    "linearised (nearly unbiased)": trajectories.linearised(32),
}
COLOURS = ("#d55e00", "#56b4e9", "#009e73", "#0072b2")


def shares(name: str, steps: int) -> list[float]:
    """For each estimator, means over populations of |E g|^2 and E|g|^2, divided."""
    env = rollouts.load(name, max_episode_steps=steps)
    policy, theta = policies.policy(jax.random.key(1), env.spaces, HIDDEN, SPREAD, normalise=False)
    p, q = trajectories.Trajectories(policy, env), IsotropicGaussian(theta, SPREAD)

    @jax.jit
    def one(key):
        for_theta, for_x, own = jax.random.split(key, 3)
        xi = q.draw(for_theta, POPSIZE)
        population = jax.vmap(q.push)(xi)
        x = p.sample_all(for_x, population)
        f = trajectories.total(x)
        batch, w = Batch(population, x=x, f=f, xi=xi, key=own), weightings.standardise(f)
        each = [e.contributions(p, q, batch, w) for e in ESTIMATORS.values()]
        return jnp.stack([jnp.stack(trajectories.signal(g)) for g in each])

    keys = jax.random.split(jax.random.key(2), POPULATIONS)
    size, second = np.mean([np.asarray(one(key)) for key in keys], axis=0).T
    return (size / second).tolist()


def figure() -> Figure:
    with matplotlib.rc_context(STYLE):
        picture = Figure(figsize=(10, 4.2), layout="constrained")
        for ax, (name, lengths) in zip(picture.subplots(1, 2), TASKS.items(), strict=True):
            found = np.array([shares(name, steps) for steps in lengths])
            for label, column, colour in zip(ESTIMATORS, found.T, COLOURS, strict=True):
                ax.plot(lengths, column, marker="o", color=colour, label=label)
            ax.axhline(0, color="#bbbbbb", linewidth=0.8)
            ax.set(xscale="log", xlabel="longest episode, steps", title=name)
        picture.axes[0].set_ylabel("share of signal, |E g|² / E|g|²")
        picture.axes[0].legend(fontsize=9)
    return picture
