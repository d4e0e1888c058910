"""A function of (a, b) in two stages: what it computes from a alone, and the rest.

A policy takes theta apart into layers whenever it is asked. Inside of a loop over time these copies
cost more than the layers themselves, and the compiler leaves them there: for 100 policies with two
hidden layers they are three quarters of the time.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun
from jaxtyping import Array

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
Early = Callable[[A], list[Array]]
Late = Callable[[list[Array], B], C]


def staged(function: Callable[[A, B], C], a: A, b: B) -> tuple[Early[A], Late[B, C]]:
    """(early, late) with late(early(a), b) = function(a, b).

    For arguments of the shapes of these two.
    """
    closed, shape = jax.make_jaxpr(function, return_shape=True)(a, b)
    program, split = closed.jaxpr, len(jax.tree.leaves(a))
    given, awaited = [*program.constvars, *program.invars[:split]], program.invars[split:]
    known, first, then = set(given), [], []
    for equation in program.eqns:
        if equation.effects or not known.issuperset(_variables(equation.invars)):
            then.append(equation)
        else:
            first.append(equation)
            known.update(equation.outvars)
    used = [v for equation in then for v in _variables(equation.invars)] + _variables(
        program.outvars
    )
    unnamed = program.debug_info._replace(arg_names=None, result_paths=None)
    handed = list(dict.fromkeys(v for v in used if v in known))  # each once, in order

    def part(
        inputs: Sequence[Var], equations: Sequence[JaxprEqn], results: Sequence[Var | Literal]
    ) -> Callable[..., list[Array]]:
        piece = program.replace(
            constvars=[], invars=inputs, outvars=results, eqns=equations, debug_info=unnamed
        )
        return jaxpr_as_fun(ClosedJaxpr(piece, []))

    early, late = part(given, first, handed), part([*handed, *awaited], then, list(program.outvars))

    def rest(done: list[Array], b: B) -> C:
        return jax.tree.unflatten(jax.tree.structure(shape), late(*done, *jax.tree.leaves(b)))

    return lambda a: early(*closed.consts, *jax.tree.leaves(a)), rest


def _variables(atoms: Sequence[Var | Literal]) -> list[Var]:
    return [atom for atom in atoms if not isinstance(atom, Literal)]
