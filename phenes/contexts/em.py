"""Expectation maximisation for mixtures of experts (Jordan and Jacobs 1994), which is told the
right answers: the reference.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Float

from phenes import _validate
from phenes.contexts.experts import Hear, Mixture
from phenes.contexts.source import Answered


def responsibilities(q: Mixture, data: Answered) -> Float[Array, "n k"]:
    """E-step: post_k of each example, given its right answer."""
    return jax.vmap(lambda x: jax.nn.softmax(q.log_joint(x)))(data)


def expected_log_joint(q: Mixture, data: Answered, post: Float[Array, "n k"]) -> Float[Array, ""]:
    """What the M-step maximises: the mean of sum_k post_k [log alpha(k | c) + log pi_k(answer |
    c)].

    Its gradient where post was computed is that of the log-likelihood (Fisher's identity), which is
    why the phenotype estimate looks like EM: there W times it stands for being told the answer.
    """
    return jnp.mean(jnp.sum(post * jax.vmap(q.log_joint)(data), axis=1))


def log_likelihood(q: Mixture, data: Answered) -> Float[Array, ""]:
    return jnp.mean(jax.vmap(Hear().marginal(q).log_prob)(data))


def em(
    q: Mixture,
    data: Answered,
    optimiser: optax.GradientTransformation,
    sweeps: int,
    steps: int = 10,
) -> tuple[Mixture, Any]:
    """`sweeps` times an E-step and `steps` of the optimiser on the M-step (generalised EM, since
    gates and experts may be any module).

    data: `Answered(contexts[n], right answers[n])`. Returns the mixture and the log-likelihood
    before each sweep.
    """
    sweeps = _validate.count("sweeps", sweeps)
    steps = _validate.count("steps", steps)
    arrays, rest = eqx.partition(q, eqx.is_inexact_array)

    def sweep(carry, _):
        post = responsibilities(eqx.combine(carry[0], rest), data)

        def step(carry, _):
            arrays, state = carry
            descent = jax.grad(
                lambda arrays: -expected_log_joint(eqx.combine(arrays, rest), data, post)
            )(arrays)
            updates, state = optimiser.update(descent, state, arrays)
            return (eqx.apply_updates(arrays, updates), state), None

        return lax.scan(step, carry, length=steps)[0], log_likelihood(
            eqx.combine(carry[0], rest), data
        )

    (arrays, _), before = lax.scan(sweep, (arrays, optimiser.init(arrays)), length=sweeps)
    return eqx.combine(arrays, rest), before
