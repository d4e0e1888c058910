"""Weights of single steps: the reward that followed, less what was to be expected in that state.

A step cannot change what was paid before it, and what was to be expected does not depend on the
action: taking both out leaves the mean of the gradient as it is. What is to be expected is learnt
from past generations alone, by ridge regression on fixed features.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float

from phenes import _validate
from phenes.batch import Batch
from phenes.rl.policies import Normaliser
from phenes.rl.rollouts.trajectory import Trajectory, to_go
from phenes.rl.trajectories.base import (
    ByTrajectory,
    LearningByTrajectory,
    Trajectories,
    individually,
    started,
)
from phenes.search.gaussian import IsotropicGaussian

FEATURES = 64  # random tanh units, beside the observation itself, its squares and the time
RIDGE = 1e-3


class Value(eqx.Module):
    """What is to be expected from (obs, time) on: linear in fixed features.

    gram and moment: running sums of past generations.
    """

    units: Float[Array, "o1 k"]
    gram: Float[Array, "m m"]
    moment: Float[Array, " m"]
    mass: Float[Array, ""]

    @classmethod
    def start(cls, obs_dim: int, dtype: DTypeLike) -> "Value":
        rng = np.random.default_rng(obs_dim)  # features are no part of the randomness of a run
        units = jnp.asarray(rng.normal(size=(obs_dim + 1, FEATURES)), dtype)
        m = 2 * obs_dim + FEATURES + 4
        return cls(units, jnp.zeros((m, m), dtype), jnp.zeros(m, dtype), jnp.zeros((), dtype))

    def features(
        self, obs: Float[Array, "t o"], time: Float[Array, " t"], left: Float[Array, " t"]
    ) -> Float[Array, "t m"]:
        """The features of each step.

        left: how much of a constant reward is still to come. A state is worth in proportion to it:
        without this factor the last steps before a time limit, which are worth next to nothing,
        would be the largest errors.
        """
        one = jnp.ones_like(time)
        powers = jnp.stack([one, time, time**2, time**3], axis=-1)
        hidden = jnp.tanh(jnp.concatenate([obs, one[:, None]], axis=-1) @ self.units)
        return jnp.concatenate(
            [powers, left[:, None] * jnp.concatenate([obs, obs**2, hidden], axis=-1)], axis=-1
        )

    def fitted(self) -> Float[Array, " m"]:
        """The coefficients; 0 before there are data."""
        weight = jnp.where(self.mass > 0, self.mass, 1.0)
        ridge = RIDGE * jnp.eye(self.moment.size, dtype=self.moment.dtype)
        return jnp.linalg.solve(self.gram / weight + ridge, self.moment / weight)


class Sums(NamedTuple):
    """What `credited` has to know of a population, as sums over individuals.

    normal: F'F and F'y; square: of the weights.
    """

    normal: Float[Array, "m m1"]
    steps: Float[Array, ""]
    square: Float[Array, ""]

    @property
    def size(self) -> Float[Array, ""]:
        """The root mean square of the weights."""
        return jnp.sqrt(self.square / jnp.maximum(self.steps, 1.0))


class Credited(LearningByTrajectory):
    """The estimator that `credited` makes.

    Parameters
    ----------
    estimator : ByTrajectory
        The one whose steps are weighed.
    discount, memory, standardise, by_step
        See `credited`.
    value : Value, optional
        What was learnt of the expected reward; `start` makes room for it.
    size : array, shape (), optional
        Of the weights of a whole population, for a part of it.
    """

    estimator: ByTrajectory
    discount: float = eqx.field(static=True)
    memory: float = eqx.field(static=True)
    standardise: bool = eqx.field(static=True)
    by_step: bool = eqx.field(static=True)
    value: Value | None = None
    size: Float[Array, ""] | None = eqx.field(default=None, repr=False)

    def start(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "Credited":
        inner = started(self.estimator, p, q, batch)
        return self._with(inner, Value.start(batch.x.obs.shape[-1], q.mean.dtype))

    def observe(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "Credited":
        """Learn from a generation, after its gradient was taken."""
        inner = self.estimator
        if isinstance(inner, LearningByTrajectory):
            inner = inner.observe(p, q, batch)
        return self._with(inner, self._learnt(self.sums(p, q, batch)))

    def learnt(self, sums: Sums) -> "Credited":
        """The estimator after a generation of which sums are known: `observe`, in parts.

        Parameters
        ----------
        sums : Sums
            Added up over the parts of the population.

        Returns
        -------
        Credited
            The estimator with what it has learnt.
        """
        return self._with(self.estimator, self._learnt(sums))

    def sums(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> Sums:
        """What has to be known of a population to learn from it.

        Parameters
        ----------
        p : Trajectories
            The law of trajectories.
        q : IsotropicGaussian
            The search law.
        batch : Batch
            The population: theta [N, D], x a `Trajectory`, keys.

        Returns
        -------
        Sums
            Over these individuals; sums of parts can be added.
        """
        value, x = self._value(), batch.x
        taken = x.mask.astype(q.mean.dtype)
        y = self.to_go(x, q.mean.dtype)

        def one(x, taken, y):
            F = value.features(*self._seen(p, x)) * taken[:, None]
            return jnp.concatenate([F.T @ F, (F.T @ y)[:, None]], axis=1)

        normal = jnp.sum(individually(one, batch, x, taken, y), axis=0)
        return Sums(normal, jnp.sum(taken), jnp.sum(self._advantage(p, x) ** 2))

    def _learnt(self, sums: Sums) -> Value:
        value, keep = self._value(), self.memory
        good = jnp.all(jnp.isfinite(sums.normal))
        new = eqx.tree_at(
            lambda v: (v.gram, v.moment, v.mass),
            value,
            (
                keep * value.gram + sums.normal[:, :-1],
                keep * value.moment + sums.normal[:, -1],
                keep * value.mass + sums.steps,
            ),
        )
        return jax.tree.map(lambda a, b: jnp.where(good, a, b), new, value)

    def weights(self, p: Trajectories, x: Trajectory) -> Float[Array, "n t"]:
        """The weight of each step.

        Parameters
        ----------
        p : Trajectories
            The law of trajectories.
        x : Trajectory
            Trajectories of N individuals.

        Returns
        -------
        array, shape (N, T)
            Zeros where no step was taken.
        """
        advantage = self._advantage(p, x)
        if not self.standardise:
            return advantage
        steps = jnp.sum(x.mask.astype(advantage.dtype))
        size = (
            Sums(advantage, steps, jnp.sum(advantage**2)).size if self.size is None else self.size
        )
        return advantage / jnp.where(size > 0, size, 1.0)

    def _advantage(self, p: Trajectories, x: Trajectory) -> Float[Array, "n t"]:
        value = self._value()
        coefficients = value.fitted()
        dtype = coefficients.dtype
        expected = jax.vmap(lambda x: value.features(*self._seen(p, x)) @ coefficients)(x)
        advantage = jnp.where(x.mask, self.to_go(x, dtype) - expected, 0.0)
        if not self.by_step:
            advantage = jnp.where(x.mask, advantage[:, :1], 0.0)
        return jnp.where(jnp.isfinite(advantage), advantage, 0.0)

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        return self.estimator.scores(
            p, q, batch, self.weights(p, batch.x) if weight is None else weight
        )

    def contributions(
        self, p: Trajectories, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> Float[Array, "n d"]:
        # the steps have their own weights; those of the population are not used
        weight = self.weights(p, batch.x)
        if self.by_step:
            return jnp.nan_to_num(
                self.estimator.scores(p, q, batch, weight), posinf=0.0, neginf=0.0
            )
        # one weight for all steps of an episode saves one pass
        return self.estimator.contributions(p, q, batch, weight[:, 0])

    def sized(self, size: Float[Array, ""]) -> "Credited":
        """The estimator for a part of a population.

        Parameters
        ----------
        size : array, shape ()
            Root mean square of the weights in the whole.

        Returns
        -------
        Credited
            Which divides by this size.
        """
        return Credited(
            self.estimator,
            self.discount,
            self.memory,
            self.standardise,
            self.by_step,
            self.value,
            size,
        )

    def _with(self, estimator: ByTrajectory, value: Value) -> "Credited":
        return Credited(
            estimator, self.discount, self.memory, self.standardise, self.by_step, value
        )

    def to_go(self, x: Trajectory, dtype: DTypeLike) -> Float[Array, "n t"]:
        """The discounted reward that followed each step.

        Parameters
        ----------
        x : Trajectory
            Trajectories of N individuals.
        dtype : dtype
            Dtype of the result.

        Returns
        -------
        array, shape (N, T)
            Rewards that are no numbers count nothing.
        """
        reward = jnp.where(x.mask & jnp.isfinite(x.reward), x.reward, 0.0).astype(dtype)
        return to_go(reward, self.discount)

    def _seen(
        self, p: Trajectories, x: Trajectory
    ) -> tuple[Float[Array, "t o"], Float[Array, " t"], Float[Array, " t"]]:
        """Observations at their common scale, the time from 0 to 1, and what is left of it.

        The last is how much of a constant reward is still to come, from 1 to 0.
        """
        scale: Normaliser | None = p.policy.scale
        obs = x.obs if scale is None else jax.vmap(scale)(x.obs)
        limit = x.mask.shape[0] if p.env is None else p.env.spaces.limit
        step = jnp.arange(x.mask.shape[0], dtype=obs.dtype)
        left = (
            1 - step / limit
            if self.discount == 1
            else (1 - self.discount ** (limit - step)) / (1 - self.discount**limit)
        )
        return obs, step / limit, left

    def _value(self) -> Value:
        if self.value is None:
            raise ValueError(
                "credited learns from past generations: call start first, or leave it to phenes.es"
            )
        return self.value


def credited(
    estimator: ByTrajectory,
    discount: float = 1.0,
    memory: float = 0.8,
    standardise: bool = True,
    by_step: bool = True,
) -> Credited:
    """`estimator` with a weight for each step: the reward to go less its expectation.

    The weights of the population are not used. As unbiased as the estimator for the gradient of E
    f, with discount 1 and standardise False.

    Parameters
    ----------
    estimator : ByTrajectory
        Such as `mix()`.
    discount : float
        In (0, 1]. Below 1 it looks less far ahead, a bias for less variance.
    memory : float
        In [0, 1): the share of what was learnt of the expected reward that is kept from generation
        to generation.
    standardise : bool
        Divide by the root mean square of the weights, a bias of O(1/N).
    by_step : bool
        Else one weight for the whole episode: its return less what was to be expected from its
        first state.

    Returns
    -------
    Credited
        An estimator that learns.

    Raises
    ------
    ValueError
        If the estimator is none of trajectories, or discount or memory are not in their ranges.
    """
    if not isinstance(estimator, ByTrajectory):
        raise ValueError(f"estimator must be one of trajectories, such as mix(), got {estimator!r}")
    if not (0 < discount <= 1 and 0 <= memory < 1):
        raise ValueError(
            f"discount must be in (0, 1] and memory in [0, 1), got {discount} and {memory}"
        )
    _validate.function("estimator", estimator, "phenes.rl.trajectories.mix()")
    return Credited(estimator, discount, memory, standardise, by_step)
