"""Functions written in JAX, on whole populations: compiled, and spread over the devices."""

# many signatures of JAX are typed in part only
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from collections.abc import Callable
from typing import Any

import numpy as np

from phenes._validate import FloatArray


def compiled(f: Callable[..., Any], point: FloatArray) -> Callable[[FloatArray], FloatArray] | None:
    """f on rows [n, d] -> [n] under jit, if it can be traced.

    On CPUs a row's value does not depend, to the last bit, on the other rows, on the number of
    devices, or on whether it was a worker that evaluated it: rows go through the same small program
    one after the other, which costs no more there than all of them at once.
    """
    import jax

    with jax.enable_x64(True):
        try:
            jax.eval_shape(f, jax.numpy.asarray(point))
        except Exception:
            return None
    devices = jax.local_devices()
    shares = _shares(f, devices)

    def evaluate(points: FloatArray) -> FloatArray:
        n, k = len(points), len(devices)
        # padded to a power of two for each device, so that not every population size is compiled
        size = 1 << (-(-n // k) - 1).bit_length()
        place = np.arange(n) % k * size + np.arange(n) // k  # round-robin over the devices
        padded = np.repeat(points[-1:], k * size, axis=0)
        padded[place] = points
        counts = np.maximum(-(-(n - np.arange(k)) // k), 0)
        with jax.enable_x64(True):
            return np.asarray(
                shares(jax.numpy.asarray(counts), jax.numpy.asarray(padded)), np.float64
            )[place]

    return evaluate


def _shares(f: Callable[..., Any], devices: list[Any]) -> Callable[..., Any]:
    """counts [devices], rows [devices * size, d] -> values: each device has its share."""
    import jax
    from jax.sharding import Mesh, PartitionSpec

    work = _one_by_one(f) if devices[0].platform == "cpu" else _at_once(f)
    if len(devices) == 1:
        return jax.jit(work)
    share = PartitionSpec("rows")
    mesh = Mesh(np.array(devices), ("rows",))
    return jax.jit(
        jax.shard_map(work, mesh=mesh, in_specs=(share, share), out_specs=share, check_vma=False)
    )


def _one_by_one(f: Callable[..., Any]) -> Callable[..., Any]:
    """The first counts[0] rows; the others are there for the shape only and cost nothing."""
    import jax
    import jax.numpy as jnp

    def work(counts: Any, rows: Any) -> Any:
        def step(i: Any, values: Any) -> Any:
            return values.at[i].set(jnp.reshape(f(rows[i]), ()).astype(values.dtype))

        return jax.lax.fori_loop(0, counts[0], step, jnp.full(rows.shape[0], jnp.nan, rows.dtype))

    return work


def _at_once(f: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    return lambda counts, rows: jax.numpy.reshape(jax.vmap(f)(rows), rows.shape[:1])
