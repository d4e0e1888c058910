"""Functions written in JAX, on whole populations: compiled, in double precision, and spread over the devices there are."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def compiled(f: Callable[..., Any], point: np.ndarray) -> Callable[[np.ndarray], np.ndarray] | None:
    """f on rows [n, d] -> [n] under jit, if it can be traced. A row's value does not depend on the other rows nor on the devices."""
    import jax

    with jax.enable_x64(True):
        try:
            jax.eval_shape(f, jax.numpy.asarray(point))
        except Exception:
            return None
    devices = jax.local_devices()
    together = _sharded(f, devices)

    def evaluate(points: np.ndarray) -> np.ndarray:
        n = len(points)
        # a power of two: populations change size, compilations should not follow each
        rows = max(1 << (n - 1).bit_length(), len(devices))
        rows = -(-rows // len(devices)) * len(devices)
        padded = np.concatenate([points, np.repeat(points[-1:], rows - n, axis=0)])
        with jax.enable_x64(True):
            return np.asarray(together(jax.numpy.asarray(padded)), np.float64).reshape(rows)[:n]

    return evaluate


def _sharded(f: Callable[..., Any], devices: list[Any]) -> Callable[..., Any]:
    """Each device gets its share of the rows; one device needs no sharding."""
    import jax
    from jax.sharding import Mesh, PartitionSpec

    if len(devices) == 1:
        return jax.jit(jax.vmap(f))
    mesh = Mesh(np.array(devices), ("rows",))
    share = PartitionSpec("rows")
    return jax.jit(functools.partial(jax.shard_map, mesh=mesh, in_specs=share, out_specs=share, check_vma=False)(jax.vmap(f)))
