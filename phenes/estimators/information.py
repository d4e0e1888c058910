# pyright: reportUnknownMemberType=false
"""The information mix: s_mix = A s_q + (1 - A) s_p, unbiased for every A that ignores theta.

docs/estimators/information_mix.md. s_q is the genotype score, s_p the reparameterised one; both
have the phenotype score as conditional mean given x. With A = I_p (I_q + I_p)^-1 the second moment
is (I_q^-1 + I_p^-1)^-1, below either, and equals the exact Rao-Blackwellisation for Gaussian noise.
It needs no marginal, only d log p / d theta. I_p is learnt from past generations (in-sample A is
biased), until then A = 1, the genotype.
"""

from collections.abc import Callable
from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from phenes import _arrays, _validate
from phenes._jax import diagonal as diagonal_of
from phenes._jax import hessian, inverse, solve
from phenes._score import input_score, search_score
from phenes._trees import dtype_of, parameters, replace, rows
from phenes.batch import Batch
from phenes.estimators.missing import or_genotype, unmeasured
from phenes.estimators.scores import genotype, reparameterised
from phenes.inputs.gaussian import G
from phenes.protocols import Estimator, InputLaw, Q, SearchLaw, Tree
from phenes.search.gaussian import DiagonalGaussian, Gaussian, GaussianSearch, IsotropicGaussian

Shape = Callable[[Float[Array, "n d"]], Array]


def full(s: Float[Array, "n d"]) -> Float[Array, "d d"]:
    """Information as a matrix.

    Parameters
    ----------
    s : array, shape [N, d]
        Scores.

    Returns
    -------
    array, shape [d, d]
        Their mean square.

    Examples
    --------
    >>> phenes.estimators.full(jnp.ones((5, 2))).shape
    (2, 2)
    """
    return s.T @ s / s.shape[0]


def diagonal(s: Float[Array, "n d"]) -> Float[Array, " d"]:
    """Information of each coordinate.

    Parameters
    ----------
    s : array, shape [N, d]
        Scores.

    Returns
    -------
    array, shape [d]
        Their mean square.

    Examples
    --------
    >>> phenes.estimators.diagonal(jnp.ones((5, 2))).shape
    (2,)
    """
    return jnp.mean(s**2, axis=0)


def scalar(s: Float[Array, "n d"]) -> Float[Array, ""]:
    """Information as one number for all coordinates.

    Parameters
    ----------
    s : array, shape [N, d]
        Scores.

    Returns
    -------
    array, shape []
        Their mean square.

    Examples
    --------
    >>> phenes.estimators.scalar(jnp.ones((5, 2))).shape
    ()
    """
    return jnp.mean(s**2)


class InformationMix(eqx.Module):
    """See `information_mix`.

    Parameters
    ----------
    shape : callable
        `scalar`, `diagonal` or `full`.
    order : int
        1 or 2.
    curvature : bool
        Whether d2 log p / d theta2 is used.
    memory : float
        Share of the past that is kept in each generation.
    info : tree of arrays, or None
        Running mean of the information of s_p (and, outside Gaussian search, of s_q).
    mass : array, shape []
        How much of the running mean is data.
    """

    shape: Shape = eqx.field(static=True)
    order: int = eqx.field(static=True)
    curvature: bool = eqx.field(static=True)
    memory: float = eqx.field(static=True)
    info: Tree
    mass: Float[Array, ""]

    def start(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Self:
        """The estimator with room for what it learns; `batch` has the shapes of the population."""
        if self.info is not None:
            return self

        def measure(batch: Batch) -> Tree:
            return self._measure(p, q, batch, jnp.ones((rows(batch.theta),), bool))

        return self._with(jax.tree.map(_zeros, jax.eval_shape(measure, batch)), self.mass)

    def observe(self, p: InputLaw, q: SearchLaw, batch: Batch) -> Self:
        """Learn from a generation, after its gradient was taken."""
        keep = self.memory

        def mean(old: Array, new: Array) -> Array:
            return keep * old + (1 - keep) * new

        measured = ~unmeasured(batch.x, rows(batch.theta))
        share = jnp.mean(measured, dtype=self.mass.dtype)
        seen = jax.tree.map(_over(share), self._measure(p, q, batch, measured))
        info = jax.tree.map(mean, self.info, seen)
        learnt = self._with(info, keep * self.mass + (1 - keep))

        def anybody(new: Array, old: Array) -> Array:
            return jnp.where(share > 0, new, old)

        return jax.tree.map(anybody, learnt, self)

    def step(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> tuple[Q, Self]:
        """The gradient with what was learnt before this generation, and the mix after it."""
        return self(p, q, batch, w), self.observe(p, q, batch)

    def __call__(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        """The gradient with what is known."""
        if self.info is None:
            raise ValueError(
                "information_mix must see a past generation first: call observe, or give it the"
                " information, got none"
            )
        return or_genotype(self._measured, p, q, batch, w)

    def _measured(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        if isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            return self._gaussian(p, q, batch, w)
        return self._general(p, q, batch, w)

    def _with(self, info: Tree, mass: Array) -> Self:
        return type(self)(self.shape, self.order, self.curvature, self.memory, info, mass)

    def _measure(
        self, p: InputLaw, q: SearchLaw, batch: Batch, measured: Bool[Array, " n"]
    ) -> Tree:
        """The information of those that were measured, as a mean over all."""

        def of(s: Array) -> Array:
            return self.shape(jnp.where(measured[:, None], s, 0.0))

        if isinstance(q, Gaussian | DiagonalGaussian | IsotropicGaussian):
            return of(input_score(p, batch.x, batch.theta))
        s_q, s_p = _both_scores(p, q, batch)
        return of(s_q), of(s_p)

    def _share(self, info_q: Array, info_p: Array) -> Array:
        """(1 - A), the share of s_p; 0 while nothing is known or where both scores are 0."""
        known = self.mass > 0
        info_p = info_p / jnp.where(known, self.mass, 1.0)
        if info_q.ndim == 2:
            # (1 - A) = I_q (I_q + I_p)^-1
            return jnp.where(known, solve(info_q + info_p, info_q).T, 0.0)
        both = info_q + info_p
        return jnp.where(known, info_q / jnp.where(both > 0, both, 1.0), 0.0)

    def _gaussian(self, p: InputLaw, q: G, batch: Batch, w: Float[Array, " n"]) -> G:
        """delta_hat = delta - V D with D = s_q - s_p and V = S (1 - A).

        The spread by Stein's identity of second order.
        """
        delta = batch.theta - q.mean[None]
        s_q = q.covariance.solve(delta)
        D = s_q - input_score(p, batch.x, batch.theta)
        share = self._share(_shaped_inverse(q, self.shape), self.info)
        VD = q.covariance.times(_times(D, share))
        first = q.covariance.solve(delta - VD)
        if self.order == 1:
            spread = search_score(q, batch.theta, w)
        else:
            spread = self._second(p, q, batch, w, first, VD, share)
        return replace(spread, mean=w @ first / w.size)

    def _second(
        self, p: InputLaw, q: G, batch: Batch, w: Array, first: Array, VD: Array, share: Array
    ) -> G:
        """E[delta delta' | x] without bias: delta_hat delta_hat' + V + V' - V D D' V'.

        With curvature V (S^-1 + J) V' stands for the last term.
        """
        last = q.covariance.solve(VD)
        if isinstance(q, Gaussian) or share.ndim == 2 or self.curvature:
            return self._second_dense(p, q, batch, w, first, last, share)
        precision = q.covariance.inverse_diagonal(q.dim)
        g = q.observed_score(w, first, _Given(precision * (1 - 2 * share)))
        lost = q.observed_score(w, last, _Given(jnp.zeros_like(precision)))
        return jax.tree.map(jnp.subtract, g, lost)

    def _second_dense(
        self, p: InputLaw, q: G, batch: Batch, w: Array, first: Array, last: Array, share: Array
    ) -> G:
        d = q.dim
        A = share if share.ndim == 2 else jnp.diag(jnp.broadcast_to(share, (d,)))
        V = q.covariance.times(A.T).T
        g = q.observed_score(w, first, _Given(q.covariance.inverse(d) - _sandwich(q, V + V.T)))
        if not self.curvature:
            lost = q.observed_score(w, last, _Given(jnp.zeros_like(V)))
        else:
            J = -jax.vmap(hessian(p.log_prob, argnums=1))(batch.x, batch.theta)
            inner = jnp.mean(w) * q.covariance.inverse(d) + jnp.tensordot(w, J, axes=1) / w.size
            one, nothing = jnp.ones((1,), V.dtype), jnp.zeros((1, d), V.dtype)
            lost = q.observed_score(one, nothing, _Given(-_sandwich(q, V @ inner @ V.T)))
        return jax.tree.map(jnp.subtract, g, lost)

    def _general(self, p: InputLaw, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        """Any search law, in the coordinates of psi."""
        s_q, s_p = _both_scores(p, q, batch)
        info_q, info_p = self.info
        share = self._share(info_q / jnp.where(self.mass > 0, self.mass, 1.0), info_p)
        mix = s_q + _times(s_p - s_q, share)
        return ravel_pytree(parameters(q))[1](w @ mix / w.size)


def _times(D: Float[Array, "n d"], share: Array) -> Float[Array, "n d"]:
    """(1 - A) D of each individual, for a share of any shape."""
    if share.ndim == 2:
        return D @ share.T
    return D * jnp.broadcast_to(share, D.shape[1:])[None]


def _over(share: Float[Array, ""]) -> Callable[[Array], Array]:
    """Division by the share that was measured."""

    def divide(leaf: Array) -> Array:
        return leaf / jnp.where(share > 0, share, 1.0)

    return divide


def _zeros(leaf: jax.ShapeDtypeStruct) -> Array:
    return jnp.zeros(leaf.shape, leaf.dtype)


class _Given(eqx.Module):
    """B^-1 where B, or its diagonal, is known."""

    B: Float[Array, "d d"] | Float[Array, " d"]

    def matrix(self, d: int) -> Array:
        """B^-1."""
        return inverse(self.B)

    def inverse(self, d: int) -> Array:
        """B."""
        return self.B

    def inverse_diagonal(self, d: int) -> Array:
        """The diagonal of B."""
        return diagonal_of(self.B) if self.B.ndim == 2 else self.B


def _sandwich(q: GaussianSearch, a: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """S^-1 a S^-1."""
    return q.covariance.solve(q.covariance.solve(a).T).T


def _shaped_inverse(q: GaussianSearch, shape: Shape) -> Array:
    """I_q = S^-1 in the shape of the information that is learnt."""
    if shape is full:
        return q.covariance.inverse(q.dim)
    precision = q.covariance.inverse_diagonal(q.dim)
    return precision if shape is diagonal else jnp.mean(precision)


def _both_scores(p: InputLaw, q: SearchLaw, batch: Batch) -> tuple[Array, Array]:
    """s_q and s_p of each individual as rows over psi."""
    one = jnp.ones((1,), dtype_of(q))

    def each(estimator: Estimator) -> Array:
        def row(individual: Batch) -> Array:
            alone = jax.tree.map(_alone, individual)
            return ravel_pytree(estimator(p, q, alone, one))[0]

        return jax.vmap(row)(batch._replace(f=None, key=None))

    return each(genotype), each(reparameterised)


def _alone(leaf: Array) -> Array:
    return leaf[None]


def information_mix(
    shape: Shape = diagonal,
    order: int = 2,
    *,
    curvature: bool = False,
    memory: float = 0.9,
    info: Tree = None,
) -> InformationMix:
    """The unbiased estimator for laws without a marginal, if log p is smooth in theta.

    `UniformNoise` is refused.

    Parameters
    ----------
    shape : callable, default `diagonal`
        `scalar`, `diagonal` or `full`, the form of A.
    order : int, default 2
        1 mixes the mean of Gaussian search only and leaves its spread to the genotype score; 2
        mixes both.
    curvature : bool, default False
        Use d2 log p / d theta2 in the second order; for Gaussian noise with C = c S the spread then
        has the variance of `phenotype`, without it 1 + c^2 times that (the genotype has (1 + c)^2
        times).
    memory : float, default 0.9
        Share of the past that is kept in each generation.
    info : array, optional
        I_p in the given shape if it is known; otherwise it is learnt, as a running mean.

    Returns
    -------
    InformationMix
        An estimator that learns from past generations.

    Raises
    ------
    ValueError
        If shape is no function or order neither 1 nor 2.

    Examples
    --------
    >>> p = phenes.inputs.StudentTNoise(0.1, df=3.0)
    >>> parts = phenes.weightings.standardise, optax.sgd(0.1)
    >>> strategy = phenes.es(p, phenes.estimators.information_mix(), *parts, popsize=20)
    """
    _validate.function("shape", shape, "estimators.information.diagonal")
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2, got {order!r}")

    def known(leaf: Tree) -> Array:
        return _arrays.as_float("info", leaf)

    mass = jnp.asarray(0.0 if info is None else 1.0)
    return InformationMix(shape, order, curvature, memory, jax.tree.map(known, info), mass)
