"""What is learnt: policies in tables (`tabular`) and in networks (`network`), for one loop.

A `Problem` brings its law p, where the search starts, its strategy, and the readout: how a policy
is made of what the search found. The loop (`phenes.rl.training.loop`) knows nothing else of it.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from phenes.rl.curve import Curve, Report

__all__ = ["Advanced", "Problem", "Readout"]


class Readout(Protocol):
    """A learnt policy: it acts, it plays, and it can be kept as plain data."""

    @property
    def kind(self) -> str:
        """Either "table" or "network"."""
        ...

    def predict(self, obs: Any, name: str) -> Any:
        """The best action for an observation of the environment `name`."""
        ...

    def observation(self, space: Any, obs: Any) -> Any:
        """What `predict` takes, from what an environment with this space gives."""
        ...

    def returns(
        self, name: str, options: dict[str, Any], episodes: int, seed: int, workers: Any
    ) -> np.ndarray:
        """Returns of fresh episodes with the best actions, [episodes]."""
        ...

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the policy."""
        ...

    def described(self) -> dict[str, Any]:
        """What the policy consists of beside its arrays, as JSON."""
        ...


class Advanced(NamedTuple):
    """A training after some generations. looks: (generation, return of the mean policy)."""

    carry: Any
    reports: list[Report]
    looks: list[tuple[int, float]]


class Problem(Protocol):
    """A training, as the loop needs it.

    chunk: generations between two looks at the mean policy. keeps_best: an earlier mean policy is
    the answer if it is better than the last one.
    """

    chunk: int
    keeps_best: bool

    def begin(self) -> Any:
        """The carry before the first generation: arrays on which everything later depends."""
        ...

    def advance(self, carry: Any, n: int) -> Advanced:
        """Advance by n generations."""
        ...

    def answer(self, carry: Any) -> Any:
        """Arrays of the mean policy of this generation."""
        ...

    def prove(self, answer: Any, generation: int) -> float:
        """What a mean policy returns, from enough episodes (or exactly) to be believed."""
        ...

    def readout(self, answer: Any, carry: Any, curve: Curve) -> Readout:
        """The policy, for the user."""
        ...

    def close(self) -> None:
        """Let go of environments and workers."""
        ...
