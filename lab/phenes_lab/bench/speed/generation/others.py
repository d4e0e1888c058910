"""Other libraries on the sphere, and the sphere by itself."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import PRNGKeyArray

from phenes_lab.bench.speed.generation.ours import start_of
from phenes_lab.bench.speed.generation.rows import Timed, from_second, host_length, loop_length
from phenes_lab.rivals import lenient


def _sphere(x: np.ndarray) -> float:
    return float(np.sum(x**2))


def _sphere_of_all(x: np.ndarray) -> np.ndarray:
    return np.sum(x**2, axis=1)


def spheres(d: int, n: int) -> list[Timed]:
    """The objective by itself, to be subtracted where it matters."""
    x = np.random.default_rng(0).standard_normal((n, d))

    def one_by_one() -> None:
        for _ in range(20):
            [_sphere(one) for one in x]

    def all_at_once() -> None:
        for _ in range(20):
            _sphere_of_all(x)

    return [
        Timed("objective", "sphere in NumPy, one by one", 20, lambda seed: one_by_one),
        Timed("objective", "sphere in NumPy, all at once", 20, lambda seed: all_at_once),
    ]


def pycma(cma: Any, d: int, n: int) -> list[Timed]:
    def start(seed: int) -> Callable[[], Any]:
        def generation(strategy: Any) -> Any:
            x = strategy.ask()
            strategy.tell(x, [_sphere(one) for one in x])
            return strategy

        options = {"popsize": n, "seed": seed + 1, "verbose": -9}
        return from_second(
            generation, cma.CMAEvolutionStrategy(np.full(d, 2.0), 0.5, options), host_length(d)
        )

    return [Timed("generation", "pycma", host_length(d), start)]


def cmaes(cmaes: Any, d: int, n: int) -> list[Timed]:
    def start(seed: int) -> Callable[[], Any]:
        def generation(strategy: Any) -> Any:
            asked = [strategy.ask() for _ in range(n)]
            strategy.tell([(x, _sphere(x)) for x in asked])
            return strategy

        strategy = cmaes.CMA(mean=np.full(d, 2.0), sigma=0.5, population_size=n, seed=seed)
        return from_second(generation, strategy, host_length(d))

    return [Timed("generation", "cmaes", host_length(d), start)]


def evosax(algorithms: Any, d: int, n: int) -> list[Timed]:
    with lenient():
        algorithm = algorithms.CMA_ES(population_size=n, solution=jnp.zeros(d))
        parameters = algorithm.default_params.replace(std_init=jnp.asarray(0.5))

    def fresh(seed: int) -> Any:
        state = algorithm.init(jax.random.key(seed), start_of(d), parameters)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype), state)

    def generation(state: Any, keys: Any, sphere: Callable[[Any], Any]) -> Any:
        x, state = algorithm.ask(keys[0], state, parameters)
        return algorithm.tell(keys[1], x, sphere(x), state, parameters)[0]

    def compiled(state: Any, keys: PRNGKeyArray) -> tuple[Any, None]:
        return generation(state, keys, lambda x: jnp.sum(x**2, axis=1)), None

    loop = jax.jit(lambda state, keys: lax.scan(compiled, state, keys)[0])

    def start_loop(seed: int) -> Callable[[], Any]:
        with lenient():
            state, keys = fresh(seed), jax.random.split(jax.random.key(seed), (loop_length(d), 2))
        return lambda: leniently(lambda: loop(state, keys))

    def start_host(seed: int) -> Callable[[], Any]:
        with lenient():
            keys = iter(list(jax.random.split(jax.random.key(seed), 2 * (1 + host_length(d)))))
            host = from_second(
                lambda state: generation(
                    state,
                    (next(keys), next(keys)),
                    lambda x: jnp.asarray(_sphere_of_all(np.asarray(x))),
                ),
                fresh(seed),
                host_length(d),
            )
        return lambda: leniently(host)

    return [
        Timed("generation", "evosax CMA_ES, compiled loop", loop_length(d), start_loop),
        Timed("generation", "evosax CMA_ES, ask and tell", host_length(d), start_host),
    ]


def leniently(call: Callable[[], Any]) -> Any:
    with lenient():
        return jax.block_until_ready(call())
