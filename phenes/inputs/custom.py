"""Laws of the user's own, and several evaluations at one theta."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes._score import marginal_score


class Law(eqx.Module):
    """Any input law from two functions, `sample(key, theta) -> x` and `log_prob(x, theta)`.

    Any object with these two methods will do as well; this class only saves writing one. Without
    `marginal` the estimators to use are `information_mix` (log_prob differentiable in theta) and
    `exchangeable` (log_prob only).
    """

    draw: Callable[[PRNGKeyArray, Any], Any] = eqx.field(static=True)
    density: Callable[[Any, Any], Array] = eqx.field(static=True)

    def __init__(self, sample, log_prob):
        self.draw = _validate.function(
            "sample", sample, "lambda key, theta: theta + jax.random.normal(key, theta.shape)"
        )
        self.density = _validate.function(
            "log_prob", log_prob, "lambda x, theta: -0.5 * jnp.sum((x - theta)**2)"
        )

    def sample(self, key: PRNGKeyArray, theta: Any) -> Any:
        return self.draw(key, theta)

    def log_prob(self, x: Any, theta: Any) -> Float[Array, ""]:
        return self.density(x, theta)


class Repeated(eqx.Module):
    """R independent draws at one theta: x has one more axis, [R, ...], and so has f.

    If the base law knows its sufficient statistic (`statistic`, `pooled`), marginal and posterior
    condition on it: for Gaussian noise the mean of the R draws under C / R (docs/parts/inputs.md).
    """

    base: Any
    repeats: int = eqx.field(static=True)

    def __init__(self, base, repeats: int):
        self.base, self.repeats = base, _validate.count("repeats", repeats)

    def sample(self, key: PRNGKeyArray, theta: Any) -> Any:
        return jax.vmap(lambda k: self.base.sample(k, theta))(jax.random.split(key, self.repeats))

    def log_prob(self, x: Any, theta: Any) -> Float[Array, ""]:
        return jnp.sum(jax.vmap(lambda one: self.base.log_prob(one, theta))(x))

    def marginal(self, q: eqx.Module) -> "RepeatedMarginal":
        return RepeatedMarginal(q, self)

    def posterior(self, q: eqx.Module, x: Any) -> Any:
        return self._pooled().posterior(q, self.base.statistic(x))

    def marginal_score(self, q: eqx.Module, x: Any, w: Float[Array, " n"]) -> eqx.Module:
        return marginal_score(self._pooled(), q, jax.vmap(self.base.statistic)(x), w)

    def _pooled(self) -> Any:
        if not hasattr(self.base, "pooled"):
            raise ValueError(
                f"{type(self.base).__name__} has no sufficient statistic for repeated draws: use"
                " estimators.exchangeable"
            )
        return self.base.pooled(self.repeats)


class RepeatedMarginal(eqx.Module):
    """log P(x_1..x_R) = log P(statistic) + the part of log p(x_1..x_R | theta) that does not depend
    on theta.
    """

    q: Any
    law: Repeated

    def log_prob(self, x: Any) -> Float[Array, ""]:
        pooled, statistic = self.law._pooled(), self.law.base.statistic(x)
        # sufficiency: this difference is the same at every theta, so any one will do
        anywhere = lax.stop_gradient(self.q.push(self.q.draw(jax.random.key(0), 1)[0]))
        free = self.law.log_prob(x, anywhere) - pooled.log_prob(statistic, anywhere)
        return pooled.marginal(self.q).log_prob(statistic) + free
