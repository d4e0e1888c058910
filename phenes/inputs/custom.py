# pyright: reportUnknownMemberType=false
"""User-defined laws, and several evaluations at one theta."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes._score import marginal_score
from phenes.protocols import (
    Distribution,
    HasMarginal,
    HasPosterior,
    HasStatistic,
    InputLaw,
    Q,
    SearchLaw,
    Tree,
)


class Law(eqx.Module):
    """Any input law from two functions.

    Any object with methods `sample` and `log_prob` will do as well (`protocols.InputLaw`); this
    class only saves writing one. Without `marginal` the estimators to use are `information_mix`
    (log_prob differentiable in theta) and `exchangeable` (log_prob only).

    Parameters
    ----------
    sample : callable
        (key, theta) -> x for one individual.
    log_prob : callable
        (x, theta) -> log p_theta(x), shape [].

    Raises
    ------
    ValueError
        If one of the two is no function.

    Examples
    --------
    >>> p = phenes.inputs.Law(
    ...     lambda key, theta: theta + jax.random.logistic(key, theta.shape),
    ...     lambda x, theta: jnp.sum(jax.scipy.stats.logistic.logpdf(x, theta)),
    ... )
    """

    draw: Callable[[PRNGKeyArray, Tree], Tree] = eqx.field(static=True)
    density: Callable[[Tree, Tree], Array] = eqx.field(static=True)

    def __init__(
        self,
        sample: Callable[[PRNGKeyArray, Tree], Tree],
        log_prob: Callable[[Tree, Tree], Array],
    ):
        self.draw = _validate.function(
            "sample", sample, "lambda key, theta: theta + jax.random.normal(key, theta.shape)"
        )
        self.density = _validate.function(
            "log_prob", log_prob, "lambda x, theta: -0.5 * jnp.sum((x - theta)**2)"
        )

    def sample(self, key: PRNGKeyArray, theta: Tree) -> Tree:
        """One x for one theta."""
        return self.draw(key, theta)

    def log_prob(self, x: Tree, theta: Tree) -> Float[Array, ""]:
        """log p_theta(x)."""
        return self.density(x, theta)


class Repeated(eqx.Module):
    """R independent draws at one theta: x has one more axis, [R, ...], and so has f.

    If the base law knows its sufficient statistic (`statistic`, `pooled`), marginal and posterior
    condition on it: for Gaussian noise the mean of the R draws under C / R (docs/parts/inputs.md).

    Parameters
    ----------
    base : InputLaw
        The law of one draw.
    repeats : int
        R.

    Raises
    ------
    ValueError
        If repeats is no positive integer.

    Examples
    --------
    >>> p = phenes.inputs.Repeated(phenes.inputs.GaussianNoise(0.1), 4)
    >>> p.sample(jax.random.key(0), jnp.zeros(3)).shape
    (4, 3)
    """

    base: InputLaw
    repeats: int = eqx.field(static=True)

    def __init__(self, base: InputLaw, repeats: int):
        _validate.instance("base", base, ("sample", "log_prob"), "inputs.GaussianNoise(0.1)")
        self.base, self.repeats = base, _validate.count("repeats", repeats)

    def sample(self, key: PRNGKeyArray, theta: Tree) -> Tree:
        """R draws at one theta."""

        def once(key: PRNGKeyArray) -> Tree:
            return self.base.sample(key, theta)

        return jax.vmap(once)(jax.random.split(key, self.repeats))

    def log_prob(self, x: Tree, theta: Tree) -> Float[Array, ""]:
        """The sum of log p_theta(x_r) over the draws."""

        def once(one: Tree) -> Array:
            return self.base.log_prob(one, theta)

        return jnp.sum(jax.vmap(once)(x))

    def marginal(self, q: SearchLaw) -> "RepeatedMarginal":
        """P(x_1..x_R), through the sufficient statistic."""
        return RepeatedMarginal(q, self)

    def posterior(self, q: SearchLaw, x: Tree) -> Distribution:
        """P(theta | x_1..x_R), that of the sufficient statistic."""
        known, pooled = self.pool()
        if not isinstance(pooled, HasPosterior):
            raise ValueError(f"{type(pooled).__name__} has no posterior in closed form")
        return pooled.posterior(q, known.statistic(x))

    def marginal_score(self, q: Q, x: Tree, w: Float[Array, " n"]) -> Q:
        """1/N sum_i w_i d log P(x_i) / d psi, that of the sufficient statistic."""
        known, pooled = self.pool()
        return marginal_score(pooled, q, jax.vmap(known.statistic)(x), w)

    def pool(self) -> tuple[HasStatistic, InputLaw]:
        """The base law, which must know its statistic, and the law of the statistic.

        Returns
        -------
        tuple of two laws
        """
        if not isinstance(self.base, HasStatistic):
            raise ValueError(
                f"{type(self.base).__name__} has no sufficient statistic for repeated draws: use"
                " estimators.exchangeable"
            )
        return self.base, self.base.pooled(self.repeats)


class RepeatedMarginal(eqx.Module):
    """log P(x_1..x_R): that of the statistic, plus what of log p does not depend on theta."""

    q: SearchLaw
    law: Repeated

    def log_prob(self, x: Tree) -> Float[Array, ""]:
        """log P(x_1..x_R)."""
        known, pooled = self.law.pool()
        if not isinstance(pooled, HasMarginal):
            raise ValueError(f"{type(pooled).__name__} has no marginal in closed form")
        statistic = known.statistic(x)
        # sufficiency: this difference is the same at every theta, so any one will do
        anywhere = lax.stop_gradient(self.q.push(self.q.draw(jax.random.key(0), 1)[0]))
        free = self.law.log_prob(x, anywhere) - pooled.log_prob(statistic, anywhere)
        return pooled.marginal(self.q).log_prob(statistic) + free
