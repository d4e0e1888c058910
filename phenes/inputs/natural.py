# pyright: reportUnknownMemberType=false
"""The paper's exponential family in natural form, from A(theta) and u(x) alone."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes.search.conjugate import Conjugate


def _nothing(x: Array) -> float:
    return 0.0


class NaturalFamily(eqx.Module):
    """p_theta(x) = h(x) exp(theta.u(x) - A(theta)), from functions that the user gives.

    Closed forms exist under `search.Conjugate`.

    Parameters
    ----------
    A : callable
        (theta) -> log-partition function, shape [].
    u : callable
        (x) -> sufficient statistic, shaped like theta.
    sampler : callable
        (key, theta) -> x.
    log_h : callable, optional
        (x) -> log h(x); 0 unless given.

    Raises
    ------
    ValueError
        If one of them is no function.

    Examples
    --------
    >>> p = phenes.inputs.NaturalFamily(
    ...     jnp.exp,
    ...     lambda x: x,
    ...     lambda key, theta: jax.random.poisson(key, jnp.exp(theta)).astype(float),
    ...     lambda x: -jax.scipy.special.gammaln(x + 1),
    ... )
    """

    A: Callable[[Array], Array] = eqx.field(static=True)
    u: Callable[[Array], Array] = eqx.field(static=True)
    sampler: Callable[[PRNGKeyArray, Array], Array] = eqx.field(static=True)
    log_h: Callable[[Array], Array | float] = eqx.field(static=True)

    def __init__(
        self,
        A: Callable[[Array], Array],
        u: Callable[[Array], Array],
        sampler: Callable[[PRNGKeyArray, Array], Array],
        log_h: Callable[[Array], Array | float] = _nothing,
    ):
        # A is the paper's name, not a constant
        self.A = _validate.function("A", A, "jax.nn.softplus")  # pyright: ignore[reportConstantRedefinition]
        self.u = _validate.function("u", u, "lambda x: x")
        self.sampler = _validate.function("sampler", sampler, "jax.random.poisson")
        self.log_h = _validate.function("log_h", log_h, "lambda x: -gammaln(x + 1)")

    def sample(self, key: PRNGKeyArray, theta: Float[Array, "*n"]) -> Array:
        """One x for one theta."""
        return self.sampler(key, theta)

    def log_prob(self, x: Array, theta: Float[Array, "*n"]) -> Float[Array, ""]:
        """log p_theta(x)."""
        return jnp.sum(theta * self.u(x)) - self.A(theta) + self.log_h(x)

    def marginal(self, q: Conjugate) -> "ConjugateMarginal":
        """P(x) under q."""
        _validate.family(self, q, Conjugate)
        return ConjugateMarginal(q, self)

    def posterior(self, q: Conjugate, x: Array) -> Conjugate:
        """phi' = (nu phi + u) / (nu + 1), nu' = nu + 1."""
        _validate.family(self, q, Conjugate, "posterior")
        return Conjugate((q.nu * q.phi + self.u(x)) / (q.nu + 1), q.nu + 1, q.A, q.B, q.sampler)


class ConjugateMarginal(eqx.Module):
    """log P(x) = log h(x) + B(phi', nu') - B(phi, nu).

    Its gradient is nu (E'[theta] - E[theta]) and E'[phi.theta - A] - E[phi.theta - A], with phi
    (not phi') in the bracket: differentiating through phi' and nu' gives just that, where the
    printed proposition does not (errata 6, 7).
    """

    q: Conjugate
    law: NaturalFamily

    def log_prob(self, x: Array) -> Float[Array, ""]:
        """log P(x)."""
        q, after = self.q, self.law.posterior(self.q, x)
        return (
            self.law.log_h(x)
            + q.log_normaliser(after.phi, after.nu)
            - q.log_normaliser(q.phi, q.nu)
        )
