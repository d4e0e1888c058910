"""The law of trajectories, what all estimators on them share, and the plain scores.

p_theta(x): the policy theta acts in an environment, x is what it saw, did and got. log p is that of
the actions; the environment's own part does not depend on theta and is left out, as scores do. With
it, every estimator of `phenes.estimators` that needs d log p / d theta works on trajectories.
"""

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Self, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _validate
from phenes._trees import replace
from phenes.batch import Batch
from phenes.protocols import Tree
from phenes.rl.policies import Policy
from phenes.rl.rollouts.trajectory import Trajectory
from phenes.rl.trajectories._linear_algebra import scored
from phenes.search.gaussian import IsotropicGaussian

if TYPE_CHECKING:
    from phenes.rl.rollouts.backends import Rollouts


class Trajectories(eqx.Module):
    """p_theta(x) of trajectories: the policy theta acts in an environment.

    Parameters
    ----------
    policy : Policy
        Of all individuals, which differ in theta alone.
    env : Rollouts
        Something that plays, such as `phenes.rl.rollouts.load("CartPole-v1")`.
    paired : bool
        Individuals i and i + N/2 (a mirrored pair) start from the same state.
    deterministic : bool
        Individuals take their best action.
    alike : bool
        All individuals of a population start from the same state.
    """

    policy: Policy
    env: "Rollouts | None" = eqx.field(static=True, default=None)
    paired: bool = eqx.field(static=True, default=False)
    deterministic: bool = eqx.field(static=True, default=False)
    alike: bool = eqx.field(static=True, default=False)

    def sample(self, key: PRNGKeyArray, theta: Float[Array, " d"]) -> Trajectory:
        return jax.tree.map(lambda leaf: leaf[0], self.sample_all(key, theta[None]))

    def sample_all(self, key: PRNGKeyArray, theta: Float[Array, "n d"]) -> Trajectory:
        """The random numbers of individual i depend on the key and i alone."""
        return self.sample_some(key, theta, jnp.arange(theta.shape[0]), theta.shape[0])

    def sample_some(
        self, key: PRNGKeyArray, theta: Float[Array, "k d"], own: Int[Array, " k"], n: int
    ) -> Trajectory:
        """Trajectories of some individuals of a population, as they are in the whole.

        Parameters
        ----------
        key : PRNGKey
            Key of the whole population.
        theta : array, shape (K, D)
            Theirs.
        own : array of int, shape (K,)
            Which individuals they are.
        n : int
            The size of the population.

        Returns
        -------
        Trajectory
            Trajectories of these K individuals.
        """
        assert self.env is not None  # only the law of given trajectories does without one
        for_actions, for_start = jax.random.split(key)
        starts = individual_keys(for_start, self._starts(own, n))
        keys = individual_keys(for_actions, own)
        return self.env.play(
            self.policy, theta, keys, initial_keys=starts, deterministic=self.deterministic
        )

    def _starts(self, own: Int[Array, " k"], n: int) -> Int[Array, " k"]:
        """The numbers of the states in which individuals begin."""
        if self.alike:
            return jnp.zeros_like(own)
        return own % (n // 2) if self.paired else own

    def log_prob(self, x: Trajectory, theta: Float[Array, " d"]) -> Float[Array, ""]:
        """sum_t log pi_theta(a_t | s_t)."""
        out = self.policy.outputs(theta, x.obs)
        return jnp.sum(jnp.where(x.mask, jax.vmap(self.policy.head.log_prob)(out, x.action), 0.0))


def individual_keys(key: PRNGKeyArray, numbers: Array) -> PRNGKeyArray:
    return jax.vmap(lambda i: jax.random.fold_in(key, i))(numbers)


Q = TypeVar("Q", bound=IsotropicGaussian)
# steps in one batch: the activations of a forward pass should stay in the processor's cache
AT_ONCE = 20_000


class ByTrajectory(eqx.Module):
    """An estimator on trajectories: estimator(p, q, batch, w) -> gradient.

    For `Trajectories` and `IsotropicGaussian` search with a fixed spread (its part of the gradient
    is 0). It is the plain gradient d E W(f) / d mean; `metric.natural` multiplies it by s^2.
    """

    @abc.abstractmethod
    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        """The score of each individual.

        Parameters
        ----------
        p : Trajectories
            The law of trajectories.
        q : IsotropicGaussian
            The search law.
        batch : Batch
            The population: theta [N, D], x a `Trajectory`, keys.
        weight : array, shape (N, T), optional
            Of each step; it must depend on x (and on the past) alone. 1 unless given.

        Returns
        -------
        array, shape (N, D)
            One row for each individual.
        """

    def contributions(
        self, p: Trajectories, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> Float[Array, "n d"]:
        """What each individual contributes, w_i s_i; the gradient is their mean.

        An individual whose score is not finite contributes nothing.

        Parameters
        ----------
        p : Trajectories
            The law of trajectories.
        q : IsotropicGaussian
            The search law.
        batch : Batch
            The population: theta [N, D], x a `Trajectory`, keys.
        w : array, shape (N,)
            Weights of the individuals.

        Returns
        -------
        array, shape (N, D)
            One row for each individual.
        """
        scores = self.scores(p, q, batch)
        return jnp.where(
            jnp.all(jnp.isfinite(scores), axis=1, keepdims=True), w[:, None] * scores, 0.0
        )

    def advance(
        self, p: Trajectories, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> "tuple[Float[Array, 'n d'], ByTrajectory]":
        """What the individuals contribute, and the estimator after this generation.

        Parameters
        ----------
        p : Trajectories
            The law of trajectories.
        q : IsotropicGaussian
            The search law.
        batch : Batch
            The population: theta [N, D], x a `Trajectory`, keys.
        w : array, shape (N,)
            Weights of the individuals.

        Returns
        -------
        tuple of (array, ByTrajectory)
            Contributions [N, D] by what was known before, and the estimator after it: itself if it
            does not learn.
        """
        return self.contributions(p, q, batch, w), self

    def __call__(self, p: Trajectories, q: Q, batch: Batch, w: Float[Array, " n"]) -> Q:
        _validate.family(q, q, IsotropicGaussian, "gradient on trajectories")
        return gradient(q, self.contributions(p, q, batch, w))


class LearningByTrajectory(ByTrajectory):
    """An estimator on trajectories that learns from past generations, a `LearningEstimator`."""

    @abc.abstractmethod
    def start(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> Self:
        """The estimator with room for what it learns; batch has shapes only."""

    @abc.abstractmethod
    def observe(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> Self:
        """The estimator with what it learns from a generation whose gradient has been taken."""

    def advance(
        self, p: Trajectories, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> "tuple[Float[Array, 'n d'], LearningByTrajectory]":
        return self.contributions(p, q, batch, w), self.observe(p, q, batch)

    def step(self, p: Trajectories, q: Q, batch: Batch, w: Float[Array, " n"]) -> tuple[Q, Self]:
        """The gradient with what was known before, and the estimator after this generation."""
        each, after = self.advance(p, q, batch, w)
        return gradient(q, each), after  # pyright: ignore[reportReturnType]


def started(
    estimator: ByTrajectory, p: Trajectories, q: IsotropicGaussian, batch: Batch
) -> ByTrajectory:
    """The estimator, ready for the first generation, whether it learns or not."""
    if isinstance(estimator, LearningByTrajectory):
        return estimator.start(p, q, batch)
    return estimator


def gradient(q: Q, contributions: Float[Array, "n d"]) -> Q:
    """The mean of contributions, shaped like q."""
    return replace(q, mean=jnp.mean(contributions, axis=0), log_std=jnp.zeros_like(q.log_std))


def individually(function: Callable[..., Array], batch: Batch, *arrays: Tree) -> Array:
    """function of one individual for all of them, as many at a time as are good for it."""
    n, steps = batch.x.mask.shape
    most = max(1, AT_ONCE // max(steps, 1))
    if n <= most:
        return jax.vmap(function)(*arrays)
    at_once = max(k for k in range(1, most + 1) if n % k == 0)  # equal parts: one program for all
    parts = jax.tree.map(lambda leaf: leaf.reshape(n // at_once, at_once, *leaf.shape[1:]), arrays)
    out = jax.lax.map(lambda part: jax.vmap(function)(*part), parts)
    return out.reshape(n, *out.shape[2:])


class Genotype(ByTrajectory):
    """s_q = (theta_i - m) / s^2, the evolution strategy: it looks at the return alone.

    Unbiased.
    """

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        if weight is not None:
            raise ValueError(
                "weights of single steps need a score of single steps, which the genotype score"
                " has not"
            )
        return q.covariance.solve(batch.theta - q.mean[None])


class Reparameterised(ByTrajectory):
    """s_p = sum_t d log pi(a_t | s_t) / d theta at theta_i, never at the mean (errata 16-19).

    Unbiased. Worse than the genotype score when the actions say more about theta than the search
    law does: long episodes, little noise.
    """

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        def one(theta, x, weight):
            return scored(p.policy, theta, x, weight).total

        return individually(one, batch, batch.theta, batch.x, weight)


class ScoreAtMean(ByTrajectory):
    """sum_t d log pi(a_t | s_t) / d theta at the mean m: the paper's text (erratum 17).

    The actions are those that theta_i took. BIASED, by many times the gradient on long episodes,
    and here because the paper's experiments are.
    """

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        def one(x, weight):
            return scored(p.policy, q.mean, x, weight).total

        return individually(one, batch, batch.x, weight)
