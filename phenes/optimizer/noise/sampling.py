"""Draws from input laws that are written in JAX, as NumPy arrays."""

# many signatures of JAX and equinox are typed in part only
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUntypedFunctionDecorator=false

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from phenes._validate import FloatArray

BLOCK = 64  # individuals that are drawn per call


def sample(law: Any, seed: int, generation: int, theta: FloatArray) -> FloatArray:
    """x_i ~ p_theta_i in double precision.

    In blocks of one size: one compilation for populations of any size.
    """
    import jax

    n = len(theta)
    padded = np.concatenate([theta, np.repeat(theta[-1:], -n % BLOCK, axis=0)])
    with jax.enable_x64(True):
        key = jax.random.fold_in(jax.random.key(_seed(seed)), generation)
        blocks = [
            _compiled()(law, key, np.asarray(i), padded[i : i + BLOCK]) for i in range(0, n, BLOCK)
        ]
        return np.concatenate([np.asarray(block) for block in blocks])[:n]


def _seed(seed: int) -> int:
    """`seed` as JAX takes it; larger ones, which NumPy takes, are mixed down."""
    if seed < 2**63:
        return seed
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> np.uint64(1))


@functools.cache
def _compiled() -> Callable[[Any, Any, Any, FloatArray], Any]:
    import equinox as eqx
    import jax

    from phenes._population import realise

    # less optimisation by XLA: rejection samplers take seconds to compile and gain nothing from it
    quickly: dict[str, Any] = {}
    if jax.default_backend() == "cpu":
        quickly = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}

    @eqx.filter_jit(compiler_options=quickly)  # pyright: ignore[reportCallIssue]  # goes on to jax.jit
    def draw(law: Any, key: Any, first: Any, theta: Any) -> Any:
        # a key of its own for each individual, whatever the size of the population
        keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(first + jax.numpy.arange(len(theta)))
        return jax.vmap(lambda key, theta: realise(law, key, theta[None])[0])(keys, theta)

    return draw
