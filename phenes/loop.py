# pyright: reportUnknownMemberType=false
"""The loop of `es`: `run` when f is written in JAX, `run_host` for any Python function.

`run` is one compiled scan, `run_host` calls f from Python; the same strategy, the same numbers.
They are to `es` what `phenes.minimize` is to the adaptive search, with which they share no code.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PRNGKeyArray
from numpy.typing import NDArray

from phenes import _validate
from phenes._population import realise
from phenes._trees import joined, split_arrays, stack, take
from phenes.batch import Batch
from phenes.protocols import HasRepeats, InputLaw, SearchLaw, Tree
from phenes.strategy import Info, State, Strategy, generation_keys

Objective = Callable[[Tree], Any]


class OIU(eqx.Module):
    """Optimisation under input uncertainty: maximise E f(x), x ~ p_theta.

    Parameters
    ----------
    p : InputLaw
        What the world does with an intention.
    f : callable
        (x of one individual) -> a number; written in JAX for `run`, any Python for `run_host`.

    Raises
    ------
    ValueError
        If p lacks sample or log_prob, or f is no function.

    Examples
    --------
    >>> problem = phenes.OIU(phenes.inputs.GaussianNoise(0.1), lambda x: -jnp.sum(x**2))
    """

    p: InputLaw
    f: Objective

    def __init__(self, p: InputLaw, f: Objective):
        example = "phenes.inputs.GaussianNoise(0.1)"
        self.p = _validate.instance("p", p, ("sample", "log_prob"), example)
        self.f = _validate.function("f", f, "lambda x: -jnp.sum(x**2)")

    @property
    def axes(self) -> int:
        """Axes before those of one x: individuals, and repeats where p has them."""
        return 2 if isinstance(self.p, HasRepeats) else 1

    def realise(self, key: PRNGKeyArray, generation: Int[Array, ""] | int, batch: Batch) -> Batch:
        """Draw what becomes of a population, x_i ~ p_theta_i.

        Parameters
        ----------
        key : key
            Key of the run.
        generation : int, or integer array of shape []
            Number of the generation.
        batch : Batch
            The population, with theta.

        Returns
        -------
        Batch
            With x, which does not depend on the number of rows before it.
        """
        return batch._replace(x=realise(self.p, generation_keys(key, generation).x, batch.theta))

    def evaluate(self, x: Tree) -> Float[Array, "n *r"]:
        """f of every x.

        Parameters
        ----------
        x : tree of arrays, shape [N, ...] or [N, R, ...]
            Realised inputs.

        Returns
        -------
        array, shape [N] or [N, R]

        Raises
        ------
        ValueError
            If f does not return one number for each x.
        """
        each = jax.vmap(self.f)
        values = jax.vmap(each)(x) if self.axes == 2 else each(x)
        first = jax.tree.leaves(x)[0]
        if not eqx.is_array(values) or values.shape != first.shape[: self.axes]:
            got = jax.tree.map(self._shape_of_one, values)
            raise ValueError(f"f must return one number for one x, got {got}")
        return values

    def _shape_of_one(self, values: Array) -> str:
        return f"shape {values.shape[self.axes :]}"


def run(
    key: PRNGKeyArray,
    problem: OIU,
    strategy: Strategy,
    q0: SearchLaw | State,
    steps: int,
    report: Callable[[State, Batch], Tree] | None = None,
) -> tuple[State, Any]:
    """Generations of a strategy as one `lax.scan`; jit it, vmap it over keys.

    Parameters
    ----------
    key : key
        Randomness of the run.
    problem : OIU
        p, and f written in JAX.
    strategy : Strategy
        From `es`.
    q0 : SearchLaw or State
        A search law to start from, or a state to go on from.
    steps : int
        Number of generations.
    report : callable, optional
        (state, batch) -> anything to keep of each generation.

    Returns
    -------
    state : State
        After the last generation.
    infos : Info
        Of all generations, stacked; with `report` the pair (Info, what it returned), stacked.

    Raises
    ------
    ValueError
        If steps is no positive integer, q0 no search law, f returns no single number, or problem
        and strategy have different p.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.ones(2), 0.5)
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy, problem = phenes.es(p, *parts, popsize=20), phenes.OIU(p, lambda x: -x @ x)
    >>> state, info = phenes.run(jax.random.key(0), problem, strategy, q, steps=5)
    >>> info.f_best.shape
    (5,)
    """
    _check(problem, strategy, steps)
    first, static = split_arrays(_start(strategy, q0))

    def generation(carry: Tree, _: None) -> tuple[Tree, Tree]:
        state = joined(carry, static)
        batch = problem.realise(key, state.generation, strategy.ask(key, state))
        batch = batch._replace(f=problem.evaluate(batch.x))
        state, info = strategy.tell(state, batch)
        return split_arrays(state)[0], (info, report(state, batch)) if report else info

    last, infos = lax.scan(generation, first, length=steps)
    return joined(last, static), infos


def run_host(
    key: PRNGKeyArray,
    problem: OIU,
    strategy: Strategy,
    q0: SearchLaw | State,
    steps: int,
    callback: Callable[[State, Batch, Info], object] | None = None,
) -> tuple[State, Info]:
    """The loop of `run` with f called from Python, one x (a NumPy array) at a time.

    An exception in f counts as a failed evaluation, and so does what is no finite number.

    Parameters
    ----------
    key : key
        Randomness of the run.
    problem : OIU
        p, and f of any kind.
    strategy : Strategy
        From `es`.
    q0 : SearchLaw or State
        A search law to start from, or a state to go on from.
    steps : int
        Number of generations.
    callback : callable, optional
        (state, batch, info), called after each generation; it ends the run by returning True.

    Returns
    -------
    state : State
        After the last generation.
    infos : Info
        Reports of all generations, stacked.

    Raises
    ------
    ValueError
        If steps is no positive integer, q0 no search law, f returns no single number, or problem
        and strategy have different p.
    RuntimeError
        If every evaluation of the first generation fails.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.ones(2), 0.5)
    >>> parts = phenes.estimators.phenotype, phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, *parts, popsize=20)
    >>> problem = phenes.OIU(p, lambda x: -float(sum(x**2)))
    >>> state, info = phenes.run_host(jax.random.key(0), problem, strategy, q, steps=5)
    """
    _check(problem, strategy, steps)
    ask: Callable[..., Batch] = eqx.filter_jit(strategy.ask)
    tell: Callable[..., tuple[State, Info]] = eqx.filter_jit(strategy.tell)

    @eqx.filter_jit
    def realise(key: PRNGKeyArray, generation: Array, batch: Batch) -> Batch:
        return problem.realise(key, generation, batch)

    state = _start(strategy, q0)
    infos: list[Info] = []
    for _ in range(steps):
        batch = realise(key, state.generation, ask(key, state))
        values, error = _evaluate_here(problem, batch.x)
        if not infos and not np.any(np.isfinite(values)):
            raise _nothing_worked(values, error) from error
        batch = batch._replace(f=jnp.asarray(values, jnp.result_type(float)))
        state, info = tell(state, batch)
        infos.append(info)
        if callback and callback(state, batch, info):
            break
    return state, stack(infos)


def _check(problem: object, strategy: Strategy, steps: int) -> None:
    _validate.count("steps", steps)
    # a problem of another class may have no p
    if isinstance(problem, OIU) and strategy.p is not None and differs(problem.p, strategy.p):
        raise ValueError(
            "p must be the same in OIU and es, got"
            f" {_validate.quote(problem.p)} and {_validate.quote(strategy.p)}"
        )


def differs(a: Any, b: Any) -> bool:
    """Whether two laws are surely not the same: of another kind, or with other numbers.

    Functions are taken for equal, since two that were written alike are two objects; so are arrays
    that a compiler traces.
    """
    if eqx.is_array(a) or eqx.is_array(b):
        if np.shape(a) != np.shape(b):
            return True
        traced = any(isinstance(each, Tracer) for each in (a, b))
        return not traced and not np.array_equal(np.asarray(a), np.asarray(b))
    if type(a) is not type(b):
        return True
    if isinstance(a, eqx.Module):
        names = [field.name for field in dataclasses.fields(a)]
        return any(differs(getattr(a, name), getattr(b, name)) for name in names)
    if isinstance(a, list | tuple):
        pairs = zip(cast("list[Any]", a), cast("list[Any]", b), strict=False)
        return len(cast("list[Any]", a)) != len(b) or any(differs(*pair) for pair in pairs)
    return isinstance(a, bool | int | float | str) and a != b


def _start(strategy: Strategy, q0: SearchLaw | State) -> State:
    return q0 if isinstance(q0, State) else strategy.init(q0)


def _evaluate_here(problem: OIU, x: Tree) -> tuple[NDArray[Any], Exception | None]:
    """The values, NaN where f failed, and the last exception."""
    here = jax.tree.map(np.asarray, x)
    shape: tuple[int, ...] = jax.tree.leaves(here)[0].shape[: problem.axes]
    values, error = np.full(shape, np.nan), None
    for i in np.ndindex(*shape):
        try:
            value = problem.f(take(here, i))
        except Exception as raised:
            # an exception fails one evaluation, not the run: NaN ranks last in its generation and
            # is counted in Info.failed
            error = raised
            continue
        values[i] = _number(value)
    return values, error


def _number(value: Any) -> float:
    """What f returned; None is a failed evaluation, anything but a number a mistake."""
    if value is None:
        return float("nan")
    try:
        return float(np.asarray(value, np.float64).reshape(()))
    except (TypeError, ValueError):
        raise ValueError(
            f"f must return one number for one x, got {_validate.quote(value)}"
        ) from None


def _nothing_worked(values: NDArray[Any], error: Exception | None) -> RuntimeError:
    why = "it returned None, NaN or infinity" if error is None else repr(error)
    return RuntimeError(f"f failed at all {values.size} points of the first generation: {why}")
