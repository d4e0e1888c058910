"""Several estimators on the same trajectories, and the one whose gradient had the largest share of
signal so far is used.

Which one that is depends on past generations alone: a choice among unbiased estimators stays
unbiased. Measuring costs their gradients, never an episode.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from phenes import weightings
from phenes.batch import Batch
from phenes.rl.trajectories.base import ByTrajectory
from phenes.rl.trajectories.signal import Signal, signal
from phenes.search.gaussian import IsotropicGaussian


class BySignal(ByTrajectory):
    """See `by_signal`."""

    candidates: tuple[ByTrajectory, ...]
    memory: float = eqx.field(static=True)
    seen: Signal | None = None  # running means, one entry for each candidate

    def start(self, p: Any, q: IsotropicGaussian, batch: Batch) -> "BySignal":
        ready = tuple(c.start(p, q, batch) if hasattr(c, "start") else c for c in self.candidates)  # pyright: ignore
        zero = jnp.zeros(len(ready), q.mean.dtype)
        return BySignal(ready, self.memory, Signal(zero, zero))

    def choice(self) -> Int[Array, ""]:
        """The number of the candidate that is used next; the first, before anything is known."""
        return jnp.argmax(self._seen().fraction)

    def scores(
        self, p: Any, q: IsotropicGaussian, batch: Batch, weight: Float[Array, "n t"] | None = None
    ) -> Float[Array, "n d"]:
        each = [lambda c=c: c.scores(p, q, batch, weight) for c in self.candidates]
        return jax.lax.switch(self.choice(), each)

    def contributions(
        self, p: Any, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> Float[Array, "n d"]:
        each = [lambda c=c: c.contributions(p, q, batch, w) for c in self.candidates]
        return jax.lax.switch(self.choice(), each)

    def advance(
        self, p: Any, q: IsotropicGaussian, batch: Batch, w: Float[Array, " n"]
    ) -> tuple[Float[Array, "n d"], "BySignal"]:
        """All of them once: the contributions of the one that is used, and what was learnt of all.

        Its scale is that of the past as well: an optimiser that adapts to the size of the gradient
        does not notice a change of estimator.
        """
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

    def observe(self, p: Any, q: IsotropicGaussian, batch: Batch) -> "BySignal":
        return self.advance(p, q, batch, weightings.standardise(batch.f))[1]

    def _seen(self) -> Signal:
        if self.seen is None:
            raise ValueError(
                "by_signal learns from past generations: call start first, or leave it to phenes.es"
            )
        return self.seen


def by_signal(*candidates: ByTrajectory, memory: float = 0.9) -> BySignal:
    """The candidate with the largest |E g|^2 / E|g|^2, as a running mean with this `memory` of past
    generations.

    It does not see a bias: candidates that have one should be few, and their bias small.
    """
    if len(candidates) < 2 or not all(isinstance(c, ByTrajectory) for c in candidates):
        raise ValueError(
            f"by_signal chooses among two or more estimators on trajectories, got {candidates!r}"
        )
    return BySignal(candidates, memory)
