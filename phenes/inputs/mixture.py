# pyright: reportUnknownMemberType=false
"""Gaussian mixtures as input noise, and the multivariate Student-t law, a mixture in its scale."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._trees import stack, sum_rows, take
from phenes.covariance import Covariance, Regular, as_regular
from phenes.inputs.gaussian import G, GaussianNoise
from phenes.laws.normal import Mixture, Normal
from phenes.search.gaussian import DiagonalGaussian, Gaussian, GaussianSearch, IsotropicGaussian

ROUNDING = 1e-5  # by which the sum of weights may miss one, in single precision


def _is_list(value: object) -> bool:
    if isinstance(value, np.ndarray | jax.Array):
        return value.ndim > 0
    return isinstance(value, list | tuple)


class GaussianMixtureNoise(eqx.Module):
    """x = theta + eps, eps ~ sum_k weight_k N(bias_k, C_k).

    A machine that is usually good and sometimes not.

    Parameters
    ----------
    weights : array_like, shape [k]
        Positive, with the sum one.
    scales : sequence of k array_like
        Each as for `GaussianNoise`, all of one kind.
    biases : array_like, shape [k, d], optional
        Where each component is centred; 0 unless given.

    Raises
    ------
    ValueError
        If the lengths differ, the weights do not sum to one, or the scales are of several kinds.

    Examples
    --------
    >>> p = phenes.inputs.GaussianMixtureNoise([0.9, 0.1], [0.1, 2.0])
    """

    log_weight: Float[Array, " k"]
    components: GaussianNoise  # stacked along the first axis

    def __init__(
        self,
        weights: ArrayLike,
        scales: Sequence[ArrayLike | Covariance],
        biases: ArrayLike | None = None,
    ):
        shares = _arrays.positive("weights", weights)
        if not _is_list(scales):
            raise ValueError(
                f"scales must be a list with the scale of each part, got {_validate.quote(scales)}"
            )
        centres = None if biases is None else _arrays.as_float("biases", biases)
        rows = len(scales) if centres is None else sum(centres.shape[:1])
        lengths = {len(scales), rows}
        if shares.ndim != 1 or lengths != {shares.size}:
            raise ValueError(
                f"weights, scales and biases must be of one length, got {shares.shape} and"
                f" {len(scales)} scales"
            )
        if _arrays.concrete(shares) and abs(float(jnp.sum(shares)) - 1) > ROUNDING:
            raise ValueError(f"weights must sum to one, got {_validate.describe(shares)}")
        self.log_weight = jnp.log(shares / jnp.sum(shares))
        laws = [
            GaussianNoise(as_regular("scales", scale), None if centres is None else centres[k])
            for k, scale in enumerate(scales)
        ]
        try:
            self.components = stack(laws)
        except ValueError:
            raise ValueError(
                "scales must be all scalars, all vectors or all matrices of one size, got a mixture"
                " of kinds"
            ) from None

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        which, what = jax.random.split(key)
        k = jax.random.categorical(which, self.log_weight)
        return take(self.components, k).sample(what, theta)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        """log p_theta(x) of the measured coordinates."""

        def one(p: GaussianNoise) -> Array:
            return p.log_prob(x, theta)

        each = jax.vmap(one)(self.components)
        return jax.nn.logsumexp(self.log_weight + each)

    def marginal(self, q: GaussianSearch) -> Mixture:
        """The mixture of the components' marginals."""
        return _marginal(self.log_weight, self.components, q)

    def posterior(self, q: GaussianSearch, x: Float[Array, " d"]) -> Mixture:
        """The mixture of the components' posteriors, each weighed by its responsibility."""
        return _posterior(self.log_weight, self.components, q, x)

    def marginal_score(self, q: G, x: Float[Array, "n d"], w: Float[Array, " n"]) -> G:
        """sum_k responsibility_k score^(k) (docs/parts/inputs.md)."""
        return _responsible_score(self.log_weight, self.components, q, x, w)


class MultivariateTNoise(eqx.Module):
    """x = theta + eps with eps multivariate Student-t: all coordinates share the luck of the draw.

    A scale mixture of Gaussians over tau ~ Gamma(df/2, df/2), integrated by the trapezoidal rule in
    log tau: marginal and score are good to 2e-9 for df from 0.7 to 10000, at every x whose density
    is above 1e-15 of the largest. It has about 110 nodes at df = 3, 50 for many degrees of freedom
    and 400 at 0.7.

    Parameters
    ----------
    scale : array_like, shape [], [d] or [d, d], or `shared_errors(std, factor)`
        As for `GaussianNoise`, of which it is the limit for many degrees of freedom.
    df : array_like, shape []
        Degrees of freedom; the fewer, the heavier the tails.

    Raises
    ------
    ValueError
        If scale or df is not positive.

    Examples
    --------
    >>> p = phenes.inputs.MultivariateTNoise(0.1, df=3.0)
    """

    cov: Regular
    df: Float[Array, ""]

    def __init__(self, scale: ArrayLike | Covariance, df: ArrayLike):
        self.cov = as_regular("scale", scale)
        self.df = _validate.shape("df", _arrays.positive("df", df), (), "one law")

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Float[Array, " d"]:
        """One x for one theta."""
        normal, chi = jax.random.split(key)
        tau = jax.random.gamma(chi, self.df / 2, dtype=theta.dtype) / (self.df / 2)
        return theta + self.cov.sample(normal, 1, theta.size)[0] / jnp.sqrt(tau)

    def log_prob(self, x: Float[Array, " d"], theta: Float[Array, " d"]) -> Float[Array, ""]:
        """Log-density of the measured coordinates: marginals of a multivariate t are t again."""
        measured = ~jnp.isnan(x)
        d = jnp.sum(measured, dtype=x.dtype)
        r = jnp.where(measured, jnp.where(measured, x, 0.0) - theta, 0.0)
        cov = self.cov.masked(measured)
        quadratic = jnp.sum(r * cov.solve(r[None])[0])
        half = 0.5 * (self.df + d)
        norm = (
            gammaln(half)
            - gammaln(self.df / 2)
            - 0.5 * d * jnp.log(self.df * jnp.pi)
            - 0.5 * cov.logdet(theta.size)
        )
        return norm - half * jnp.log1p(quadratic / self.df)

    def marginal(self, q: GaussianSearch) -> Mixture:
        """The mixture of the marginals over the scale."""
        return _marginal(*self._scale_mixture(), q)

    def posterior(self, q: GaussianSearch, x: Float[Array, " d"]) -> Mixture:
        """The mixture of the posteriors over the scale, each weighed by its responsibility."""
        return _posterior(*self._scale_mixture(), q, x)

    def marginal_score(self, q: G, x: Float[Array, "n d"], w: Float[Array, " n"]) -> G:
        """The score of the mixture over the scale."""
        return _responsible_score(*self._scale_mixture(), q, x, w)

    def _scale_mixture(self) -> tuple[Float[Array, " k"], GaussianNoise]:
        log_tau, log_weight = scale_nodes(self.df)

        def at(t: Array) -> GaussianNoise:
            return GaussianNoise(self.cov.scaled(jnp.exp(-t)))

        return log_weight, jax.vmap(at)(log_tau)


NEGLIGIBLE = 36.0  # -log of the density at either end over its maximum: 2e-16
STEP = 0.35  # of log tau; its density is analytic up to Im log tau = pi/2: error exp(-pi^2 / STEP)
# above these degrees of freedom the density of log tau gets narrower, like sqrt(2 / df), and steps
# with it
NARROW = 3.0
MOST_NODES = 1024  # enough for df from 0.27 on; all of them where df is not known, inside jit


def scale_nodes(df: Float[Array, ""]) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """log tau_k and log weights for tau ~ Gamma(df/2, rate df/2), by the trapezoidal rule.

    The density of log tau = t, exp(df/2 (t - e^t + 1)) up to a factor, is analytic and falls at
    least exponentially on both sides, where the trapezoidal rule converges exponentially. With
    l = 2 NEGLIGIBLE / df, it is negligible below -(l + sqrt(2 l)) and above
    log(1 + l + sqrt(2 l)): there e^t - 1 - t is at least l.
    """
    fall = 2 * NEGLIGIBLE / df
    reach = fall + jnp.sqrt(2 * fall)
    t = jnp.linspace(-reach, jnp.log1p(reach), _nodes(df))
    return t, jax.nn.log_softmax(0.5 * df * (t - jnp.expm1(t)))


def _nodes(df: Float[Array, ""]) -> int:
    """As many nodes as steps of the right length need."""
    if not _arrays.concrete(df):
        return MOST_NODES
    fall = 2 * NEGLIGIBLE / float(df)
    reach = fall + np.sqrt(2 * fall)
    step = STEP * np.sqrt(min(1.0, NARROW / float(df)))
    return min(int(np.ceil((reach + np.log1p(reach)) / step)) + 1, MOST_NODES)


def _marginal(log_weight: Array, components: GaussianNoise, q: GaussianSearch) -> Mixture:
    def one(p: GaussianNoise) -> Normal:
        return p.marginal(q)

    return Mixture(log_weight, jax.vmap(one)(components))


def _posterior(
    log_weight: Array, components: GaussianNoise, q: GaussianSearch, x: Array
) -> Mixture:
    def density(p: GaussianNoise) -> Array:
        return p.marginal(q).log_prob(x)

    def one(p: GaussianNoise) -> Normal:
        return p.posterior(q, x)

    responsibility = jax.nn.log_softmax(log_weight + jax.vmap(density)(components))
    return Mixture(responsibility, jax.vmap(one)(components))


def _responsible_score(
    log_weight: Float[Array, " k"],
    components: GaussianNoise,
    q: G,
    x: Float[Array, "n d"],
    w: Float[Array, " n"],
) -> G:
    """1/N sum_i w_i sum_k resp_ik s^(k)(x_i), with one batch of scores for each component."""
    _validate.family(components, q, (Gaussian, DiagonalGaussian, IsotropicGaussian))

    def density(p: GaussianNoise) -> Array:
        return p.marginal(q).log_prob_all(x)

    def score(p: GaussianNoise, responsibility: Array) -> G:
        return p.marginal_score(q, x, w * responsibility)

    log_density = jax.vmap(density)(components)
    responsibility: Array = jax.nn.softmax(log_weight[:, None] + log_density, axis=0)
    return sum_rows(jax.vmap(score)(components, responsibility))
