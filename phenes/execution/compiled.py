"""Functions written in JAX, on whole populations: compiled, and spread over the devices."""

# many signatures of JAX are typed in part only
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from phenes._validate import FloatArray
from phenes.execution.task import Outcome


def outcomes(
    f: Callable[..., Any], point: FloatArray, first: Outcome, constrained: bool
) -> Callable[[FloatArray], list[Outcome]] | None:
    """f on rows [n, d] under jit, if it can be traced, as outcomes. first: that at `point`."""
    names = tuple(name for name, _ in first.constraints)
    if constrained and not names:
        return None
    evaluate = compiled(_packed(f, names) if constrained else f, point, len(names))
    if evaluate is None:
        return None

    def at(points: FloatArray) -> list[Outcome]:
        values = evaluate(points)
        if not constrained:
            return [Outcome(None, float(value)) for value in values]
        rows = values.tolist()
        return [
            Outcome(None, value, constraints=tuple(zip(names, held, strict=True)))
            for value, *held in rows
        ]

    return at


def _packed(f: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """Value and constraints as one vector."""

    def packed(x: Any) -> Any:
        import jax.numpy as jnp

        value, held = f(x)
        parts = [held[name] for name in names] if isinstance(held, Mapping) else list(held)
        return jnp.stack([jnp.reshape(jnp.asarray(part, float), ()) for part in (value, *parts)])

    return packed


def compiled(
    f: Callable[..., Any], point: FloatArray, constraints: int = 0
) -> Callable[[FloatArray], FloatArray] | None:
    """f on rows [n, d] -> [n] under jit, if it can be traced; with constraints [n, 1 + J].

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
    shares = _shares(f, devices, (1 + constraints,) if constraints else ())

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


def _shares(
    f: Callable[..., Any], devices: list[Any], shape: tuple[int, ...]
) -> Callable[..., Any]:
    """counts [devices], rows [devices * size, d] -> values: each device has its share."""
    import jax
    from jax.sharding import Mesh, PartitionSpec

    work = (_one_by_one if devices[0].platform == "cpu" else _at_once)(f, shape)
    if len(devices) == 1:
        return jax.jit(work)
    share = PartitionSpec("rows")
    mesh = Mesh(np.array(devices), ("rows",))
    return jax.jit(
        jax.shard_map(work, mesh=mesh, in_specs=(share, share), out_specs=share, check_vma=False)
    )


def _one_by_one(f: Callable[..., Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    """f of the first counts[0] rows; the others only pad the shape and are not evaluated."""
    import jax
    import jax.numpy as jnp

    def work(counts: Any, rows: Any) -> Any:
        def step(i: Any, values: Any) -> Any:
            return values.at[i].set(jnp.reshape(f(rows[i]), shape).astype(values.dtype))

        empty = jnp.full((rows.shape[0], *shape), jnp.nan, rows.dtype)
        return jax.lax.fori_loop(0, counts[0], step, empty)

    return work


def _at_once(f: Callable[..., Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    import jax

    return lambda counts, rows: jax.numpy.reshape(jax.vmap(f)(rows), (*rows.shape[:1], *shape))
