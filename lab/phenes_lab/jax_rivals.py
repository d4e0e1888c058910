"""Contenders that are written in JAX: ask and tell are compiled once for a dimension, and f is
evaluated between them as for all contenders.

The whole run as one compiled loop would be a little faster, and would have to be compiled anew for
each function, which takes longer than the run.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import phenes
from phenes_lab.rivals import Start, lenient
from phenes_lab.simulator import World


class Evosax:
    """An algorithm of evosax, told theta: f is told for the population that it proposed. It has no
    stopping criteria (blind).
    """

    blind = True

    def __init__(self, start: Start, name: str, popsize: int):
        popsize = start.grown * popsize
        with lenient():
            self.algorithm, parameters = _evosax(name, popsize, start.mean.size)
            self.parameters = parameters.replace(std_init=jnp.asarray(start.sigma0))
            # the key is not used
            state = self.algorithm.init(jax.random.key(0), jnp.asarray(start.mean), self.parameters)
            # strong dtypes: compiled once
            self.state = jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype), state)
        self.keys, self.popsize = _keys(start.seed), popsize

    def step(self, world: World) -> None:
        with lenient():
            theta, state = self.algorithm.ask(next(self.keys), self.state, self.parameters)
            _, f = world(np.asarray(theta))
            self.state, _ = self.algorithm.tell(
                next(self.keys), theta, jnp.asarray(f), state, self.parameters
            )

    def stopped(self) -> bool:
        return False

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.state.mean)


class Paes:
    """The paper's own method with the settings of its BBOB section: told x, but with a fixed
    learning rate.
    """

    popsize = 100

    def __init__(self, start: Start):
        d = start.mean.size
        self.q = phenes.search.Gaussian(jnp.asarray(start.mean), start.sigma0**2 * jnp.eye(d))
        self.noise, self.keys = jnp.asarray(start.noise), _keys(start.seed)

    def step(self, world: World) -> None:
        ask, tell = _paes(self.popsize)
        batch = ask(next(self.keys), self.noise, self.q)
        x, f = world(np.asarray(batch.theta))
        self.q = tell(self.noise, self.q, batch._replace(x=jnp.asarray(x), f=-jnp.asarray(f)))

    def stopped(self) -> bool:
        return False

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.q.mean)


@functools.cache
def _evosax(name: str, popsize: int, dim: int) -> tuple[Any, Any]:
    """One object for all runs: JAX finds its compiled functions by the identity of this object."""
    import evosax.algorithms

    algorithm = getattr(evosax.algorithms, name)(population_size=popsize, solution=jnp.zeros(dim))
    return algorithm, algorithm.default_params


@functools.cache
def _paes(popsize: int) -> tuple[Any, Any]:
    # weights summed over the population, as in `phenes reproduce bbob`
    weights = phenes.weightings.summed(phenes.weightings.truncated_ranks(0.8, 0.1))
    estimator, metric = phenes.estimators.phenotype, phenes.metric.natural_marginal

    def strategy(sigma):
        p, optimiser = phenes.inputs.GaussianNoise(sigma), optax.sgd(0.01)
        return phenes.es(p, estimator, weights, optimiser, popsize, metric=metric)

    def ask(key, sigma, q):
        each = strategy(sigma)
        # plain SGD carries nothing from one generation to the next
        return each.ask(key, each.init(q))

    def tell(sigma, q, batch):
        each = strategy(sigma)
        return each.tell(each.init(q), batch)[0].q

    return jax.jit(ask), jax.jit(tell)


def _keys(seed: int) -> Any:
    """Keys in blocks: making a single key costs as much as a generation."""
    block = 0
    while True:
        yield from jax.random.split(jax.random.fold_in(jax.random.key(seed), block), 512)
        block += 1
