"""The information mix (docs/estimators/information_mix.md): s_mix = A s_q + (1 - A) s_p, unbiased
for every A that does not look at theta.

s_q is the genotype score, s_p the reparameterised one; both have the phenotype score as conditional
mean given x. With A = I_p (I_q + I_p)^-1 the second moment is (I_q^-1 + I_p^-1)^-1, below either,
and equals the exact Rao-Blackwellisation for Gaussian noise. It needs no marginal, only d log p / d
theta. I_p is learnt from past generations (in-sample A is biased), until then A = 1, the genotype.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from phenes import _arrays, _validate
from phenes._score import input_score, search_score
from phenes.batch import Batch
from phenes.estimators.scores import genotype, reparameterised
from phenes.search.gaussian import DiagonalGaussian, Gaussian, GaussianSearch, IsotropicGaussian

Q = TypeVar("Q", bound=Any)


def full(s: Float[Array, "n d"]) -> Float[Array, "d d"]:
    """Information as a matrix."""
    return s.T @ s / s.shape[0]


def diagonal(s: Float[Array, "n d"]) -> Float[Array, " d"]:
    """Information of each coordinate."""
    return jnp.mean(s**2, axis=0)


def scalar(s: Float[Array, "n d"]) -> Float[Array, ""]:
    """One number for all coordinates."""
    return jnp.mean(s**2)


class InformationMix(eqx.Module):
    """See `information_mix`."""

    shape: Callable[[Array], Array] = eqx.field(static=True)
    order: int = eqx.field(static=True)
    curvature: bool = eqx.field(static=True)
    memory: float = eqx.field(static=True)
    info: Any  # running mean of the information of s_p (and, outside Gaussian search, of s_q)
    mass: Float[Array, ""]  # how much of the running mean is data

    def start(self, p: Any, q: Any, batch: Batch) -> "InformationMix":
        """With room for what is going to be learnt; `batch` has the shapes of the population."""
        if self.info is not None:
            return self
        shapes = jax.eval_shape(lambda batch: self._measure(p, q, batch), batch)
        info = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        return eqx.tree_at(lambda m: m.info, self, info, is_leaf=lambda leaf: leaf is None)

    def observe(self, p: Any, q: Any, batch: Batch) -> "InformationMix":
        """Learn from a generation, after its gradient was taken."""
        keep = self.memory
        info = jax.tree.map(
            lambda old, new: keep * old + (1 - keep) * new, self.info, self._measure(p, q, batch)
        )
        return eqx.tree_at(lambda m: (m.info, m.mass), self, (info, keep * self.mass + (1 - keep)))

    def step(self, p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> "tuple[Q, InformationMix]":
        """The gradient with what was learnt before this generation, and the mix after it."""
        return self(p, q, batch, w), self.observe(p, q, batch)

    def __call__(self, p: Any, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        if self.info is None:
            raise ValueError(
                "information_mix must see a past generation first: call observe, or give it the"
                " information, got none"
            )
        if isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            return self._gaussian(p, q, batch, w)
        return self._general(p, q, batch, w)

    def _measure(self, p, q, batch):
        if isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            return self.shape(input_score(p, batch.x, batch.theta))
        s_q, s_p, _ = _both_scores(p, q, batch)
        return self.shape(s_q), self.shape(s_p)

    def _share(self, info_q, info_p):
        """(1 - A), the share of s_p; 0 while nothing is known, and for a coordinate that neither
        score depends on.
        """
        known = self.mass > 0
        info_p = info_p / jnp.where(known, self.mass, 1.0)
        if info_q.ndim == 2:
            # (1 - A) = I_q (I_q + I_p)^-1
            return jnp.where(known, jnp.linalg.solve(info_q + info_p, info_q).T, 0.0)
        both = info_q + info_p
        return jnp.where(known, info_q / jnp.where(both > 0, both, 1.0), 0.0)

    def _gaussian(self, p, q: GaussianSearch, batch: Batch, w):
        """delta_hat = delta - V D with D = s_q - s_p and V = S (1 - A); the spread by Stein's
        identity of second order.
        """
        d = q.dim
        delta = batch.theta - q.mean[None]
        s_q = q.covariance.solve(delta)
        D = s_q - input_score(p, batch.x, batch.theta)
        share = self._share(_shaped_inverse(q, self.shape), self.info)
        VD = q.covariance.times(
            D @ share.T if share.ndim == 2 else D * jnp.broadcast_to(share, (d,))[None]
        )
        first = q.covariance.solve(delta - VD)
        mean = w @ first / w.size
        spread = (
            search_score(q, batch.theta, w)
            if self.order == 1
            else self._second(p, q, batch, w, first, VD, share)
        )
        return eqx.tree_at(lambda g: g.mean, spread, mean)

    def _second(self, p, q, batch, w, first, VD, share):
        """E[delta delta' | x] without bias: delta_hat delta_hat' + V + V' - V D D' V', or V (S^-1 +
        J) V' for the last term.
        """
        last = q.covariance.solve(VD)
        if isinstance(q, Gaussian) or share.ndim == 2 or self.curvature:
            return self._second_dense(p, q, batch, w, first, last, share)
        precision = q.covariance.inverse_diagonal(q.dim)
        g = q.channel_score(w, first, _Given(precision * (1 - 2 * share)))
        lost = q.channel_score(w, last, _Given(jnp.zeros_like(precision)))
        return jax.tree.map(lambda a, b: a - b, g, lost)

    def _second_dense(self, p, q, batch, w, first, last, share):
        d = q.dim
        A = share if share.ndim == 2 else jnp.diag(jnp.broadcast_to(share, (d,)))
        V = q.covariance.times(A.T).T
        g = q.channel_score(w, first, _Given(q.covariance.inverse(d) - _sandwich(q, V + V.T)))
        if not self.curvature:
            lost = q.channel_score(w, last, _Given(jnp.zeros_like(V)))
        else:
            J = -jax.vmap(jax.hessian(p.log_prob, argnums=1))(batch.x, batch.theta)
            inner = jnp.mean(w) * q.covariance.inverse(d) + jnp.tensordot(w, J, axes=1) / w.size
            one, nothing = jnp.ones((1,), V.dtype), jnp.zeros((1, d), V.dtype)
            lost = q.channel_score(one, nothing, _Given(-_sandwich(q, V @ inner @ V.T)))
        return jax.tree.map(lambda a, b: a - b, g, lost)

    def _general(self, p, q, batch: Batch, w):
        """Any search law, in the coordinates of psi."""
        s_q, s_p, unravel = _both_scores(p, q, batch)
        info_q, info_p = self.info
        share = self._share(info_q / jnp.where(self.mass > 0, self.mass, 1.0), info_p)
        D = s_p - s_q
        mix = s_q + (
            D @ share.T if share.ndim == 2 else D * jnp.broadcast_to(share, D.shape[1:])[None]
        )
        return unravel(w @ mix / w.size)


class _Given(eqx.Module):
    """A channel whose B, or its diagonal, is known."""

    B: Float[Array, "d d"] | Float[Array, " d"]

    def matrix(self, d: int) -> Array:
        return jnp.linalg.inv(self.B)

    def inverse(self, d: int) -> Array:
        return self.B

    def inverse_diagonal(self, d: int) -> Array:
        return jnp.diagonal(self.B) if self.B.ndim == 2 else self.B


def _sandwich(q: GaussianSearch, a: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """S^-1 a S^-1."""
    return q.covariance.solve(q.covariance.solve(a).T).T


def _shaped_inverse(q: GaussianSearch, shape) -> Array:
    """I_q = S^-1 in the shape of the information that is learnt."""
    if shape is full:
        return q.covariance.inverse(q.dim)
    inverse = q.covariance.inverse_diagonal(q.dim)
    return inverse if shape is diagonal else jnp.mean(inverse)


def _both_scores(p, q, batch: Batch):
    """s_q and s_p of each individual as rows over psi, and the way back to the shape of q."""
    one = jnp.ones((1,), jnp.result_type(*jax.tree.leaves(eqx.filter(q, eqx.is_inexact_array))))

    def each(estimator):
        def row(individual):
            alone = jax.tree.map(lambda leaf: leaf[None], individual)
            return ravel_pytree(estimator(p, q, alone, one))[0]

        return jax.vmap(row)(batch._replace(f=None, key=None))

    return (
        each(genotype),
        each(reparameterised),
        ravel_pytree(eqx.filter(q, eqx.is_inexact_array))[1],
    )


def information_mix(
    shape: Callable[[Array], Array] = diagonal,
    order: int = 2,
    *,
    curvature: bool = False,
    memory: float = 0.9,
    info: Any = None,
) -> InformationMix:
    """The unbiased estimator for laws without a marginal, if log p is smooth in theta
    (`UniformNoise` is refused).

    shape: `scalar`, `diagonal` or `full`, the form of A. order: 1 mixes the mean of Gaussian search
    only and leaves its spread to the genotype score; 2 mixes both. curvature: use d2 log p / d
    theta2 in the second order; for Gaussian noise with C = c S the spread then has the variance of
    `phenotype`, without it 1 + c^2 times that (the genotype has (1 + c)^2 times). info: I_p if it
    is known; otherwise it is learnt, as a running mean with the given `memory` of past generations.
    """
    _validate.function("shape", shape, "estimators.information.diagonal")
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, got {order!r}")
    known = (
        None if info is None else jax.tree.map(lambda leaf: _arrays.as_float("info", leaf), info)
    )
    return InformationMix(
        shape, order, curvature, memory, known, jnp.asarray(0.0 if info is None else 1.0)
    )
