"""What is learnt: policies in tables (`tabular`) and in networks (`network`), for one loop.

A `Problem` brings its law p, where the search starts, its strategy, and the readout: how a policy
is made of what the search found. The loop (`phenes.rl.training.loop`) knows nothing else of it.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import equinox as eqx
import numpy as np
from jax import lax

from phenes.protocols import Tree
from phenes.rl.curve import Curve, Report
from phenes.rl.rollouts.backends import Workers
from phenes.rl.rollouts.spaces import Action, Observation, Options, World

__all__ = ["Advanced", "Problem", "Readout", "scanned"]

C = TypeVar("C")  # the carry
A = TypeVar("A")  # the answer
R = TypeVar("R")  # what is reported of a generation


class Readout(Protocol):
    """A learnt policy: it acts, it plays, and it can be kept as plain data."""

    @property
    def kind(self) -> str:
        """Either "table" or "network"."""
        ...

    def predict(
        self, obs: Observation, name: str, rng: np.random.Generator | None = None
    ) -> Action:
        """The best action for an observation as the environment `name` gives it.

        rng: it is drawn from the policy instead.
        """
        ...

    def returns(
        self, env: World, options: Options, episodes: int, seed: int, workers: Workers
    ) -> np.ndarray:
        """Returns of fresh episodes with the best actions, [episodes]."""
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the policy."""
        ...

    def described(self) -> dict[str, object]:
        """What the policy consists of beside its arrays, as JSON."""
        ...


class Advanced(NamedTuple, Generic[C]):
    """A training after some generations. looks: (generation, return of the mean policy)."""

    carry: C
    reports: list[Report]
    looks: list[tuple[int, float]]


def scanned(one: Callable[[C], tuple[C, R]], carry: C, n: int) -> tuple[C, R]:
    """n times (carry) -> (carry, report) as one program; reports are stacked."""
    first, rest = eqx.partition(carry, eqx.is_array)

    def step(arrays: Tree, _: None) -> tuple[Tree, R]:
        after, report = one(eqx.combine(arrays, rest))
        return eqx.filter(after, eqx.is_array), report

    last, reports = lax.scan(step, first, length=n)
    return eqx.combine(last, rest), reports


class Problem(Protocol[C, A]):
    """A training, as the loop needs it.

    chunk: generations between two looks at the mean policy. keeps_best: an earlier mean policy is
    the answer if it is better than the last one.
    """

    chunk: int
    keeps_best: bool

    def begin(self) -> C:
        """The carry before the first generation: arrays on which everything later depends."""
        ...

    def advance(self, carry: C, n: int) -> Advanced[C]:
        """Advance by n generations."""
        ...

    def answer(self, carry: C) -> A:
        """Arrays of the mean policy of this generation."""
        ...

    def prove(self, answer: A, generation: int) -> float:
        """What a mean policy returns, from enough episodes (or exactly) to be believed."""
        ...

    def readout(self, answer: A, carry: C, curve: Curve) -> Readout:
        """The policy, for the user."""
        ...

    def close(self) -> None:
        """Let go of environments and workers."""
        ...
