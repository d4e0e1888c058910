"""The loop: `run` when f is written in JAX (one compiled scan), `run_host` for any Python function.
The same strategy, the same numbers.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _validate
from phenes.batch import Batch, realise
from phenes.protocols import HasRepeats
from phenes.strategy import Info, State, Strategy, generation_keys


class OIU(eqx.Module):
    """Optimisation under input uncertainty: maximise E f(x), x ~ p_theta. `f` takes one x and
    returns a number.
    """

    p: Any
    f: Callable[[Any], Any]

    def __init__(self, p, f):
        self.p = _validate.instance(
            "p", p, ("sample", "log_prob"), "phenes.inputs.GaussianNoise(0.1)"
        )
        self.f = _validate.function("f", f, "lambda x: -jnp.sum(x**2)")

    def realise(self, key: PRNGKeyArray, generation: Int[Array, ""], batch: Batch) -> Batch:
        """x_i ~ p_theta_i."""
        return batch._replace(x=realise(self.p, generation_keys(key, generation).x, batch.theta))

    def evaluate(self, x: Any) -> Float[Array, "n *r"]:
        each = jax.vmap(self.f)
        return jax.vmap(each)(x) if isinstance(self.p, HasRepeats) else each(x)


def run(
    key: PRNGKeyArray,
    problem: OIU,
    strategy: Strategy,
    q0: Any,
    steps: int,
    report: Callable[[State, Batch], Any] | None = None,
) -> tuple[State, Any]:
    """`steps` generations as one `lax.scan`; jit it, vmap it over keys. `q0` is a search law to
    start from, or a State to go on from.

    Returns the last state and the Info of all generations, stacked; with `report`, (Info,
    report(state, batch)) of each.
    """
    steps = _validate.count("steps", steps)
    first, static = eqx.partition(_start(strategy, q0), eqx.is_array)

    def generation(carry: Any, _: None) -> tuple[Any, Any]:
        state = eqx.combine(carry, static)
        batch = problem.realise(key, state.generation, strategy.ask(key, state))
        batch = batch._replace(f=problem.evaluate(batch.x))
        state, info = strategy.tell(state, batch)
        return eqx.filter(state, eqx.is_array), (info, report(state, batch)) if report else info

    last, infos = lax.scan(generation, first, length=steps)
    return eqx.combine(last, static), infos


def run_host(
    key: PRNGKeyArray,
    problem: OIU,
    strategy: Strategy,
    q0: Any,
    steps: int,
    callback: Callable[[State, Batch, Info], Any] | None = None,
) -> tuple[State, Info]:
    """The same loop with f called from Python, one x (a NumPy array) at a time; an exception in f
    counts as a failed evaluation.

    `callback(state, batch, info)` is called after each generation and ends the run by returning
    True.
    """
    steps = _validate.count("steps", steps)
    ask, tell = eqx.filter_jit(strategy.ask), eqx.filter_jit(strategy.tell)
    realise = eqx.filter_jit(lambda key, generation, batch: problem.realise(key, generation, batch))
    state, infos = _start(strategy, q0), []
    for _ in range(steps):
        batch = realise(key, state.generation, ask(key, state))
        batch = batch._replace(
            f=jnp.asarray(_evaluate_here(problem, batch.x), jnp.result_type(float))
        )
        state, info = tell(state, batch)
        infos.append(info)
        if callback and callback(state, batch, info):
            break
    return state, jax.tree.map(lambda *leaves: jnp.stack(leaves), *infos)


def _start(strategy: Strategy, q0: Any) -> State:
    return q0 if isinstance(q0, State) else strategy.init(q0)


def _evaluate_here(problem: OIU, x: Any) -> np.ndarray:
    leaves, tree = jax.tree.flatten(jax.tree.map(np.asarray, x))
    shape = leaves[0].shape[: 2 if isinstance(problem.p, HasRepeats) else 1]
    values = [
        _value(problem.f, jax.tree.unflatten(tree, [leaf[i] for leaf in leaves]))
        for i in np.ndindex(*shape)
    ]
    return np.array(values).reshape(shape)


def _value(f: Callable[[Any], Any], x: Any) -> float:
    try:
        return float(f(x))
    except Exception:
        # one part that broke must not cost the others: it is the worst of its generation, and
        # counted in Info.failed
        return float("nan")
