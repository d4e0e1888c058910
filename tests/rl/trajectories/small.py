"""Problems of which the exact gradient is known for every theta: few steps, and all that can happen
in them written down.

Given theta, the mean of an estimator over all that can happen is a finite sum (discrete actions) or
a quadrature (Gaussian actions), and so is the true gradient. Only theta is drawn, and the error of
an estimator is seen as a paired difference.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from phenes.batch import Batch
from phenes.rl.policies import MLP, GaussianHead, Softmax, from_network
from phenes.rl.trajectories import Trajectories, Trajectory
from phenes.search import IsotropicGaussian

M = jnp.asarray([[0.9, -0.7], [0.6, 0.8]])
START = jnp.asarray([0.8, -0.5])
NODES = 10  # in each of two actions


def follow(s, push):
    return jnp.tanh(M @ s + push)


def paid(s, a):
    return jnp.sin(2 * s[0]) + a * s[1] + 0.5 * s[0] * s[1] * a**2


class Discrete:
    """Three steps with two actions, or two with three; two times action 1 at the start ends the
    episode.
    """

    def __init__(self, actions, steps, sigma, seed=0):
        self.policy, m = from_network(MLP(jax.random.key(seed), 2, actions, (3,)), Softmax(actions))
        self.q, self.p = IsotropicGaussian(m, sigma), Trajectories(self.policy)
        self.x, self.times = _all(actions, steps)

    def given(self, theta):
        """All trajectories and their probabilities at theta."""
        return (
            self.x,
            jnp.exp(jax.vmap(self.p.log_prob, in_axes=(0, None))(self.x, theta)) / self.times,
        )


def _all(actions, steps):
    parts, times = [], []
    for sequence in itertools.product(range(actions), repeat=steps):
        s, seen, mask, reward, over = START, [], [], [], False
        for t, a in enumerate(sequence):
            seen.append(s)
            mask.append(not over)
            reward.append(0.0 if over else paid(s, float(a)))
            over = over or (t == 1 and sequence[:2] == (1, 1))
            s = follow(s, jnp.asarray([0.7 * a, -0.4 * a]))
        parts.append(
            (
                jnp.stack(seen),
                jnp.asarray(sequence),
                jnp.stack([jnp.asarray(r) for r in reward]),
                jnp.asarray(mask),
            )
        )
        # what comes after the end is written down once for every way to go on
        times.append(actions ** (steps - sum(mask)))
    obs, action, reward, mask = (jnp.stack(leaf) for leaf in zip(*parts, strict=True))
    return Trajectory(
        obs, action, reward, mask, jnp.zeros(len(parts), bool), obs[:, -1]
    ), jnp.asarray(times, jnp.float64)


class Continuous:
    """Two steps with one Gaussian action each."""

    def __init__(self, sigma, noise, nodes=NODES, seed=0):
        self.noise = noise
        self.policy, m = from_network(
            MLP(jax.random.key(seed), 2, 1, (3,)), GaussianHead(noise, [-jnp.inf], [jnp.inf])
        )
        self.q, self.p = IsotropicGaussian(m, sigma), Trajectories(self.policy)
        z, weight = np.polynomial.hermite_e.hermegauss(nodes)
        weight = weight / weight.sum()
        self.z = jnp.asarray(list(itertools.product(z, z)))
        self.chance = jnp.asarray([a * b for a, b in itertools.product(weight, weight)])

    def given(self, theta):
        return jax.vmap(lambda z: self._play(theta, z))(self.z), self.chance

    def _play(self, theta, z):
        s, parts = START, []
        for t in range(2):
            a = self.policy.output(theta, s) + self.noise * z[t : t + 1]
            parts.append((s, a, paid(s, a[0])))
            s = follow(s, jnp.asarray([0.7, -0.4]) * a)
        obs, action, reward = (jnp.stack(leaf) for leaf in zip(*parts, strict=True))
        return Trajectory(obs, action, reward, jnp.ones(2, bool), jnp.zeros((), bool), s)


def value(problem, theta):
    """E[f | theta], exactly; its slope is the true gradient at theta."""
    x, chance = problem.given(theta)
    return chance @ jnp.sum(jnp.where(x.mask, x.reward, 0.0), axis=1)


def conditional(problem, estimator, xi, key, own_weights=False):
    """E[f(x) s(x, theta) | theta] of an estimator, [n, d], for n draws of theta."""
    theta = jax.vmap(problem.q.push)(xi)
    x, chance = jax.vmap(problem.given)(theta)
    n, k = chance.shape
    flat = jax.tree.map(lambda leaf: leaf.reshape(n * k, *leaf.shape[2:]), x)
    batch = Batch(jnp.repeat(theta, k, axis=0), flat, None, jnp.repeat(xi, k, axis=0), key)
    f = jnp.sum(jnp.where(flat.mask, flat.reward, 0.0), axis=1)
    each = estimator.scores(problem.p, problem.q, batch) * (1.0 if own_weights else f[:, None])
    return jnp.sum(each.reshape(n, k, -1) * chance[:, :, None], axis=1)


def truth(problem, xi):
    return jax.vmap(jax.grad(lambda theta: value(problem, theta)))(jax.vmap(problem.q.push)(xi))
