"""Expectation maximisation for mixtures of experts (Jordan and Jacobs 1994): the reference.

Unlike the other methods it uses the correct answers.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Float

from phenes import _validate
from phenes.contexts.experts import HiddenExpert, Mixture
from phenes.contexts.source import Answer


def responsibilities(q: Mixture, data: Answer) -> Float[Array, "n k"]:
    """E-step: the posterior of the experts of each example, given its correct answer.

    Parameters
    ----------
    q : Mixture
        A mixture of k experts.
    data : Answer
        contexts [n] and their correct answers [n].

    Returns
    -------
    array [n, k]
        Each row sums to one.
    """
    return jax.vmap(lambda x: jax.nn.softmax(q.log_joint(x)))(data)


def expected_log_joint(q: Mixture, data: Answer, post: Float[Array, "n k"]) -> Float[Array, ""]:
    """What the M-step maximises: mean of sum_k post_k [log alpha(k | c) + log pi_k(answer | c)].

    Its gradient where post was computed is that of the log-likelihood (Fisher's identity), which is
    why the phenotype estimate looks like EM: there, W times the posterior takes the place of the
    known answer.

    Parameters
    ----------
    q : Mixture
        A mixture of k experts.
    data : Answer
        contexts [n] and their correct answers [n].
    post : array [n, k]
        See `responsibilities`.

    Returns
    -------
    array []
    """
    return jnp.mean(jnp.sum(post * jax.vmap(q.log_joint)(data), axis=1))


def log_likelihood(q: Mixture, data: Answer) -> Float[Array, ""]:
    """Mean of log P(answer | c) over the examples.

    Parameters
    ----------
    q : Mixture
        The mixture of experts.
    data : Answer
        contexts [n] and their correct answers [n].

    Returns
    -------
    array []
    """
    return jnp.mean(jax.vmap(HiddenExpert().marginal(q).log_prob)(data))


def em(
    q: Mixture,
    data: Answer,
    optimiser: optax.GradientTransformation,
    sweeps: int,
    steps: int = 10,
) -> tuple[Mixture, Float[Array, " sweeps"]]:
    """Generalised EM: `sweeps` times an E-step and `steps` of the optimiser on the M-step.

    Generalised, since gates and experts may be any module.

    Parameters
    ----------
    q : Mixture
        The mixture to start from.
    data : Answer
        contexts [n] and their correct answers [n].
    optimiser : optax.GradientTransformation
        Optimiser of the M-steps.
    sweeps : int
        Number of E-steps.
    steps : int
        How many steps of the optimiser after each of them.

    Returns
    -------
    q : Mixture
        The fitted mixture.
    before : array [sweeps]
        The log-likelihood before each sweep.
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
