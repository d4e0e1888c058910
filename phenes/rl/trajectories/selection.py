"""How much of a gradient is signal, and the choice of the estimator that has most of it.

|E g|^2 / E|g|^2 is estimated without bias from what the individuals contribute. `by_signal` uses
the candidate with the largest share so far. Which one that is depends on past generations alone: a
choice among unbiased estimators stays unbiased. Measuring costs their gradients, never an episode.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from phenes import weightings
from phenes.batch import Batch
from phenes.rl.trajectories.base import (
    ByTrajectory,
    LearningByTrajectory,
    Q,
    Trajectories,
    gradient,
    started,
)
from phenes.search.gaussian import IsotropicGaussian


class Signal(NamedTuple):
    """Estimates of `|E g|^2` and `E|g|^2`, to be averaged over generations before they are divided.

    Parameters
    ----------
    size : array, shape ()
        `|E g|^2`; may come out negative.
    second : array, shape ()
        `E|g|^2`.
    """

    size: Float[Array, ""]
    second: Float[Array, ""]

    @property
    def fraction(self) -> Float[Array, ""]:
        """The share of signal, size / second."""
        return self.size / jnp.where(self.second > 0, self.second, 1.0)


def signal(contributions: Float[Array, "n d"], paired: bool = False) -> Signal:
    """How much of a gradient is signal, without bias.

    The gradient is the mean of the contributions. Products of different individuals have mean
    `|E g|^2`.

    Parameters
    ----------
    contributions : array, shape (N, D)
        Contributions of the individuals.
    paired : bool
        Individuals i and i + N/2 are a mirrored pair, and count as one.

    Returns
    -------
    Signal
        Signal in the gradient of this population.
    """
    each = (
        contributions.reshape(2, -1, contributions.shape[1]).mean(axis=0)
        if paired
        else contributions
    )
    n = each.shape[0]
    g = jnp.mean(each, axis=0)
    second = g @ g
    own = jnp.sum(each**2) / n**2
    return Signal((second - own) * n / max(n - 1, 1), second)


def agreement(
    a: Float[Array, "n d"], b: Float[Array, "n d"], paired: bool = False
) -> Float[Array, ""]:
    """E g_a . E g_b of two estimators on the same population, without bias.

    The mean of products of what different individuals contribute to one and to the other.

    Parameters
    ----------
    a, b : array, shape (N, D)
        Contributions to both.
    paired : bool
        As in `signal`.

    Returns
    -------
    array, shape ()
        The estimate.
    """
    if paired:
        a, b = (c.reshape(2, -1, c.shape[1]).mean(axis=0) for c in (a, b))
    n = a.shape[0]
    return (jnp.mean(a, axis=0) @ jnp.mean(b, axis=0) - jnp.sum(a * b) / n**2) * n / max(n - 1, 1)


class Measured(eqx.Module):
    """An estimator and the signal in its last gradient, as `es` carries it from step to step.

    paired: individuals i and i + N/2 are a mirrored pair and count as one.
    """

    estimator: ByTrajectory
    paired: bool = eqx.field(static=True)
    signal: Signal

    @classmethod
    def of(
        cls,
        estimator: ByTrajectory,
        paired: bool,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
    ) -> "Measured":
        """The estimator before the first generation; batch has shapes only."""
        zero = jnp.zeros((), q.mean.dtype)
        return cls(started(estimator, p, q, batch), paired, Signal(zero, zero))

    def start(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "Measured":
        """See `LearningEstimator.start`."""
        return Measured.of(self.estimator, self.paired, p, q, batch)

    def step(
        self, p: Trajectories, q: Q, batch: Batch, w: Float[Array, " n"]
    ) -> "tuple[Q, Measured]":
        """The contributions are computed once, for the gradient and its signal."""
        each, after = self.estimator.advance(p, q, batch, w)
        return gradient(q, each), Measured(after, self.paired, signal(each, self.paired))


class BySignal(LearningByTrajectory):
    """The estimator that `by_signal` makes.

    Parameters
    ----------
    candidates, memory
        See `by_signal`.
    seen : Signal, optional
        Running means, one entry for each candidate.
    """

    candidates: tuple[ByTrajectory, ...]
    memory: float = eqx.field(static=True)
    seen: Signal | None = None  # running means, one entry for each candidate

    def start(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "BySignal":
        ready = tuple(started(c, p, q, batch) for c in self.candidates)
        zero = jnp.zeros(len(ready), q.mean.dtype)
        return BySignal(ready, self.memory, Signal(zero, zero))

    def choice(self) -> Int[Array, ""]:
        """Which candidate is used next.

        Returns
        -------
        array of int, shape ()
            Its number; the first, before anything is known.
        """
        return jnp.argmax(self._seen().fraction)

    def scores(
        self,
        p: Trajectories,
        q: IsotropicGaussian,
        batch: Batch,
        weight: Float[Array, "n t"] | None = None,
    ) -> Float[Array, "n d"]:
        each = [lambda c=c: c.scores(p, q, batch, weight) for c in self.candidates]
        return jax.lax.switch(self.choice(), each)

    def contributions(
        self, p: Trajectories, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> Float[Array, "n d"]:
        each = [lambda c=c: c.contributions(p, q, batch, w) for c in self.candidates]
        return jax.lax.switch(self.choice(), each)

    def advance(
        self, p: Trajectories, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> tuple[Float[Array, "n d"], "BySignal"]:
        # all candidates once. The scale is that of the past as well: an optimiser that adapts to
        # the size of the gradient does not notice a change of estimator
        seen = self._seen()
        results = [c.advance(p, q, batch, w) for c in self.candidates]
        each = jnp.stack([contributions for contributions, _ in results])
        new = jax.vmap(signal)(each)
        good = jnp.isfinite(new.second)
        after = Signal(
            *(
                jnp.where(good, self.memory * old + (1 - self.memory) * now, old)
                for old, now in zip(seen, new, strict=True)
            )
        )
        size = jnp.sqrt(after.second)[self.choice()]
        used = each[self.choice()] / jnp.where(size > 0, size, 1.0)
        return used, BySignal(tuple(c for _, c in results), self.memory, after)

    def observe(self, p: Trajectories, q: IsotropicGaussian, batch: Batch) -> "BySignal":
        return self.advance(p, q, batch, weightings.standardise(batch.f))[1]

    def _seen(self) -> Signal:
        if self.seen is None:
            raise ValueError(
                "by_signal learns from past generations: call start first, or leave it to phenes.es"
            )
        return self.seen


def by_signal(*candidates: ByTrajectory, memory: float = 0.9) -> BySignal:
    """The candidate whose gradients had the largest share of signal so far.

    It does not see a bias: candidates that have one should be few, and their bias small.

    Parameters
    ----------
    *candidates : ByTrajectory
        Two or more.
    memory : float
        Of past generations, in the running mean of `|E g|^2` and `E|g|^2`.

    Returns
    -------
    BySignal
        An estimator that learns.

    Raises
    ------
    ValueError
        If there are fewer than two, or one is no estimator on trajectories.
    """
    if len(candidates) < 2 or not all(isinstance(c, ByTrajectory) for c in candidates):
        raise ValueError(
            f"by_signal chooses among two or more estimators on trajectories, got {candidates!r}"
        )
    return BySignal(candidates, memory)
