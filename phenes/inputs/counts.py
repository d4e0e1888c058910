# pyright: reportUnknownMemberType=false
"""Laws with conjugate search families: categorical counts, successes, events, waiting times.

theta is the natural parameter of the search family (log-probabilities, log-odds, log-rates).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import betaln, gammaln
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import _validate
from phenes._trees import replace
from phenes.search.conjugate import Beta, Gamma
from phenes.search.dirichlet import Dirichlet
from phenes.special import digamma_difference, gammaln_difference


class Multinomial(eqx.Module):
    """x = counts [..., K] of choices in each row of a table; theta = log-probabilities [..., K].

    Probabilities are those of the ordered sequence (no multinomial coefficient), as for the actions
    of a trajectory. Rows without counts say nothing: a bandit that saw one context is a table of
    zeros with a single 1. Closed forms exist under `search.Dirichlet`.

    Parameters
    ----------
    draws : int, default 1
        Choices in each row.

    Raises
    ------
    ValueError
        If draws is no positive integer.

    Examples
    --------
    >>> theta = jnp.log(jnp.full((2, 4), 0.25))
    >>> phenes.inputs.Multinomial(3).sample(jax.random.key(0), theta).sum(axis=1)
    Array([3., 3.], dtype=float32)
    """

    draws: int = eqx.field(static=True)

    def __init__(self, draws: int = 1):
        self.draws = _validate.count("draws", draws)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, "*s k"]) -> Float[Array, "*s k"]:
        """One x for one theta."""
        chosen = jax.random.categorical(key, theta, axis=-1, shape=(self.draws, *theta.shape[:-1]))
        return jnp.sum(jax.nn.one_hot(chosen, theta.shape[-1], dtype=theta.dtype), axis=0)

    def log_prob(self, x: Float[Array, "*s k"], theta: Float[Array, "*s k"]) -> Float[Array, ""]:
        """log p_theta(x)."""
        return jnp.sum(jnp.where(x > 0, x * theta, 0.0))

    def marginal(self, q: Dirichlet) -> "DirichletMultinomial":
        """P(x) under q."""
        _validate.family(self, q, Dirichlet)
        return DirichletMultinomial(q.log_alpha)

    def posterior(self, q: Dirichlet, x: Float[Array, "*s k"]) -> Dirichlet:
        """P(theta | x), of the family of q."""
        _validate.family(self, q, Dirichlet, "posterior")
        return Dirichlet(q.alpha + x)

    def marginal_score(
        self, q: Dirichlet, x: Float[Array, "n *s k"], w: Float[Array, " n"]
    ) -> Dirichlet:
        """alpha ([psi(alpha+j) - psi(alpha)] - [psi(A+n) - psi(A)]); rows never visited give 0.

        docs/parts/inputs.md, errata 10, 22, 24.
        """
        _validate.family(self, q, Dirichlet)
        alpha = q.alpha
        total = jnp.sum(alpha, axis=-1, keepdims=True)
        own = digamma_difference(alpha[None], x)
        row = digamma_difference(total[None], jnp.sum(x, axis=-1, keepdims=True))
        return replace(q, log_alpha=alpha * jnp.tensordot(w, own - row, axes=1) / w.size)

    def pooled(self, repeats: int) -> "Multinomial":
        """The law of the total of `repeats` draws at one theta."""
        return Multinomial(self.draws * repeats)

    def statistic(self, x: Float[Array, "r *s k"]) -> Float[Array, "*s k"]:
        """The total of R draws."""
        return jnp.sum(x, axis=0)


class DirichletMultinomial(eqx.Module):
    """P(x) = prod B(alpha + j) / B(alpha) over the rows."""

    log_alpha: Float[Array, "*s k"]

    def log_prob(self, x: Float[Array, "*s k"]) -> Float[Array, ""]:
        """log P(x)."""
        alpha = jnp.exp(self.log_alpha)
        own = jnp.sum(gammaln_difference(alpha, x), axis=-1)
        row = gammaln_difference(jnp.sum(alpha, axis=-1), jnp.sum(x, axis=-1))
        return jnp.sum(own - row)


class Bernoulli(eqx.Module):
    """x = number of successes in `trials` trials, theta = log-odds; elementwise.

    Closed forms exist under `search.Beta`.

    Parameters
    ----------
    trials : int, default 1
        Trials at one theta.

    Raises
    ------
    ValueError
        If trials is not positive.

    Examples
    --------
    >>> p = phenes.inputs.Bernoulli(10)
    """

    trials: int = eqx.field(static=True)

    def __init__(self, trials: int = 1):
        self.trials = _validate.count("trials", trials)

    def log_choices(self, x: Array) -> Array:
        """log of the binomial coefficient of x successes.

        Parameters
        ----------
        x : array
            Numbers of successes.

        Returns
        -------
        array
            The same shape.
        """
        return -jnp.log(self.trials + 1.0) - betaln(x + 1, self.trials - x + 1)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, "*d"]) -> Float[Array, "*d"]:
        """One x for one theta."""
        chance = jnp.broadcast_to(jax.nn.sigmoid(theta), (self.trials, *theta.shape))
        return jnp.sum(jax.random.bernoulli(key, chance), axis=0).astype(theta.dtype)

    def log_prob(self, x: Float[Array, "*d"], theta: Float[Array, "*d"]) -> Float[Array, ""]:
        """log p_theta(x)."""
        fails = self.trials - x
        return jnp.sum(
            x * jax.nn.log_sigmoid(theta) + fails * jax.nn.log_sigmoid(-theta) + self.log_choices(x)
        )

    def marginal(self, q: Beta) -> "BetaBinomial":
        """P(x) under q."""
        _validate.family(self, q, Beta)
        return BetaBinomial(q.log_a, q.log_b, self)

    def posterior(self, q: Beta, x: Float[Array, "*d"] | float) -> Beta:
        """P(theta | x), of the family of q."""
        _validate.family(self, q, Beta, "posterior")
        return Beta(q.a + x, q.b + (self.trials - x))

    def pooled(self, repeats: int) -> "Bernoulli":
        """The law of the total of `repeats` draws at one theta."""
        return Bernoulli(self.trials * repeats)

    def statistic(self, x: Float[Array, "r *d"]) -> Float[Array, "*d"]:
        """The total of R draws."""
        return jnp.sum(x, axis=0)


class BetaBinomial(eqx.Module):
    """P(x) for x successes; s_a = psi(a+h) - psi(a) - psi(a+b+n) + psi(a+b).

    docs/parts/search.md.
    """

    log_a: Float[Array, "*d"]
    log_b: Float[Array, "*d"]
    law: Bernoulli

    def log_prob(self, x: Float[Array, "*d"]) -> Float[Array, ""]:
        """log P(x)."""
        a, b, n = jnp.exp(self.log_a), jnp.exp(self.log_b), float(self.law.trials)
        ratio = (
            gammaln_difference(a, x)
            + gammaln_difference(b, n - x)
            - gammaln_difference(a + b, jnp.full_like(x, n))
        )
        return jnp.sum(ratio + self.law.log_choices(x))


class Poisson(eqx.Module):
    """x = number of events in `exposure` units of time, theta = log-rate; elementwise.

    Closed forms exist under `search.Gamma`.

    Parameters
    ----------
    exposure : float, default 1
        Units of time for which events are counted.

    Raises
    ------
    ValueError
        If exposure is not positive.

    Examples
    --------
    >>> p = phenes.inputs.Poisson(2.5)
    """

    exposure: float = eqx.field(static=True)

    def __init__(self, exposure: float = 1.0):
        self.exposure = _validate.positive_number("exposure", exposure)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, "*d"]) -> Float[Array, "*d"]:
        """One x for one theta."""
        return jax.random.poisson(key, self.exposure * jnp.exp(theta), theta.shape).astype(
            theta.dtype
        )

    def log_prob(self, x: Float[Array, "*d"], theta: Float[Array, "*d"]) -> Float[Array, ""]:
        """log p_theta(x)."""
        log_mean = theta + jnp.log(self.exposure)
        return jnp.sum(x * log_mean - jnp.exp(log_mean) - gammaln(x + 1))

    def marginal(self, q: Gamma) -> "NegativeBinomial":
        """P(x) under q."""
        _validate.family(self, q, Gamma)
        return NegativeBinomial(q.log_k, q.log_b, self)

    def posterior(self, q: Gamma, x: Float[Array, "*d"] | float) -> Gamma:
        """P(theta | x), of the family of q."""
        _validate.family(self, q, Gamma, "posterior")
        return Gamma(q.k + x, q.b + self.exposure)

    def pooled(self, repeats: int) -> "Poisson":
        """The law of the total of `repeats` draws at one theta."""
        return Poisson(self.exposure * repeats)

    def statistic(self, x: Float[Array, "r *d"]) -> Float[Array, "*d"]:
        """The total of R draws."""
        return jnp.sum(x, axis=0)


class NegativeBinomial(eqx.Module):
    """P(x) of Poisson counts under a Gamma law of the rate."""

    log_k: Float[Array, "*d"]
    log_b: Float[Array, "*d"]
    law: Poisson

    def log_prob(self, x: Float[Array, "*d"]) -> Float[Array, ""]:
        """log P(x)."""
        k, b, n = jnp.exp(self.log_k), jnp.exp(self.log_b), self.law.exposure
        odds = k * -jnp.log1p(n / b) + x * (jnp.log(n) - jnp.log(b + n))
        return jnp.sum(gammaln_difference(k, x) - gammaln(x + 1) + odds)


class Exponential(eqx.Module):
    """x = total of `events` waiting times, theta = log-rate; elementwise.

    Closed forms exist under `search.Gamma`.

    Parameters
    ----------
    events : int, default 1
        Waiting times that are added up.

    Raises
    ------
    ValueError
        If events is not positive.

    Examples
    --------
    >>> p = phenes.inputs.Exponential(3)
    """

    events: int = eqx.field(static=True)

    def __init__(self, events: int = 1):
        self.events = _validate.count("events", events)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, "*d"]) -> Float[Array, "*d"]:
        """One x for one theta."""
        return jax.random.gamma(key, float(self.events), theta.shape, theta.dtype) * jnp.exp(-theta)

    def log_prob(self, x: Float[Array, "*d"], theta: Float[Array, "*d"]) -> Float[Array, ""]:
        """log p_theta(x)."""
        n = float(self.events)
        return jnp.sum(n * theta + (n - 1) * jnp.log(x) - x * jnp.exp(theta) - gammaln(n))

    def marginal(self, q: Gamma) -> "Lomax":
        """P(x) under q."""
        _validate.family(self, q, Gamma)
        return Lomax(q.log_k, q.log_b, self)

    def posterior(self, q: Gamma, x: Float[Array, "*d"] | float) -> Gamma:
        """P(theta | x), of the family of q."""
        _validate.family(self, q, Gamma, "posterior")
        return Gamma(q.k + float(self.events), q.b + x)

    def pooled(self, repeats: int) -> "Exponential":
        """The law of the total of `repeats` draws at one theta."""
        return Exponential(self.events * repeats)

    def statistic(self, x: Float[Array, "r *d"]) -> Float[Array, "*d"]:
        """The total of R draws."""
        return jnp.sum(x, axis=0)


class Lomax(eqx.Module):
    """P(x) of waiting times under a Gamma law of the rate."""

    log_k: Float[Array, "*d"]
    log_b: Float[Array, "*d"]
    law: Exponential

    def log_prob(self, x: Float[Array, "*d"]) -> Float[Array, ""]:
        """log P(x)."""
        k, n = jnp.exp(self.log_k), float(self.law.events)
        ratio = gammaln_difference(k, jnp.full_like(k, n)) - gammaln(n)
        scaled = x * jnp.exp(-self.log_b)
        return jnp.sum(ratio - (k + n) * jnp.log1p(scaled) + (n - 1) * jnp.log(x) - n * self.log_b)
