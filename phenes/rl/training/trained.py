"""What comes out of `train`: a policy that acts, is evaluated, and is kept as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from jaxtyping import Float

from phenes._validate import count, flag
from phenes.rl.curve import Curve
from phenes.rl.policies.policy import Network, Policy
from phenes.rl.problems import Readout, tabular
from phenes.rl.problems import network as networks
from phenes.rl.problems.tabular import Score
from phenes.rl.rollouts.backends import Workers
from phenes.rl.rollouts.spaces import Action, Observation, Options, Spaces, make
from phenes.rl.training import policy_file

if TYPE_CHECKING:
    from gymnasium import Env

SLOWEST, FASTEST = 10, 50  # frames per second; viewers of GIFs do not go faster than 50


class Evaluation(NamedTuple):
    """Returns of single episodes, their mean and its standard error.

    Parameters
    ----------
    returns : ndarray, shape (e,)
        One for each episode.
    """

    returns: Float[np.ndarray, " e"]

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(np.mean(self.returns))

    @property
    def se(self) -> float:
        """The standard error of the mean; NaN for one episode."""
        if self.returns.size < 2:
            return float("nan")
        return float(np.std(self.returns, ddof=1) / np.sqrt(self.returns.size))


class Frames(NamedTuple):
    """Pictures [h, w, 3] of an episode, and how many make a second."""

    pictures: list[np.ndarray]
    per_second: float


@dataclass(frozen=True)
class Trained:
    """A policy that was learnt by `phenes.rl.train`, in a table or in a network.

    Attributes
    ----------
    readout : TablePolicy or NetworkPolicy
        What acts. `probabilities` and `score` of a table, and `theta`, `policy` and `spaces` of a
        network, can be read from the trained object itself.
    curve : Curve
        The learning curve.
    about : mapping
        kind ("table" or "network"), name, options, seed, parameters, settings, popsize, target, and
        how it ended: solved, value, seconds.
    """

    readout: Readout
    curve: Curve
    about: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The id of the environment."""
        return self.about["name"]

    @property
    def options(self) -> Options:
        """Options with which Gymnasium made the environment."""
        return self.about["options"]

    @property
    def kind(self) -> str:
        """Either "table" or "network"."""
        return self.readout.kind

    @property
    def episodes(self) -> int:
        """Number of episodes that were played to learn."""
        return self.curve.generations * int(self.about["popsize"])

    @property
    def steps(self) -> int:
        """Number of steps that were taken to learn."""
        return int(self.curve.steps.sum())

    @property
    def probabilities(self) -> Float[np.ndarray, "s a"]:
        """The probability of each action in each state; only for tables."""
        return self._table().probabilities

    @property
    def score(self) -> Score:
        """Exact expected returns; only for tables."""
        return self._table().score

    @property
    def theta(self) -> Float[np.ndarray, " d"]:
        """The parameters of the network, the mean of the search; only for networks."""
        return self._network().theta

    @property
    def policy(self) -> Policy:
        """The policy that acts with theta; only for networks."""
        return self._network().policy

    @property
    def spaces(self) -> Spaces:
        """Observation and action spaces of the policy; only for networks."""
        return self._network().spaces

    def predict(
        self,
        obs: Observation,
        deterministic: bool = True,
        rng: np.random.Generator | None = None,
    ) -> Action:
        """The action for an observation.

        Parameters
        ----------
        obs : object
            Exactly what the environment gives: a number, an array, a tuple or a mapping.
        deterministic : bool
            The best action, or one that is drawn from the policy.
        rng : numpy.random.Generator, optional
            Draws it; a new one, from the system's entropy, unless given.

        Returns
        -------
        int or ndarray
            The action, as `env.step` takes it.

        Raises
        ------
        ValueError
            If obs is nothing that the environment gives.

        Examples
        --------
        >>> obs, _ = env.reset(seed=0)  # doctest: +SKIP
        >>> obs, reward, *_ = env.step(trained.predict(obs))  # doctest: +SKIP
        """
        if flag("deterministic", deterministic):
            return self.readout.predict(obs, self.name)
        return self.readout.predict(obs, self.name, rng or np.random.default_rng())

    def evaluate(self, episodes: int = 100, seed: int = 1, workers: Workers = None) -> Evaluation:
        """Play fresh episodes with the best actions.

        Parameters
        ----------
        episodes : int
            How many.
        seed : int
            Seed of the episodes.
        workers : int, str or Executor, optional
            As in `phenes.rl.train`.

        Returns
        -------
        Evaluation
            The returns, their mean and its standard error.

        Raises
        ------
        ValueError
            If episodes is not a positive integer, or workers are given for a table.
        """
        count("episodes", episodes)
        count("seed", seed, 0)
        return Evaluation(self.readout.returns(self.name, self.options, episodes, seed, workers))

    def frames(self, seed: int = 0) -> Frames:
        """One episode with the best actions, drawn by the environment itself.

        Parameters
        ----------
        seed : int
            Seed of the environment.

        Returns
        -------
        Frames
            Its pictures, and how many make a second.

        Raises
        ------
        ValueError
            If the environment does not render pictures.
        """
        env = make(self.name, {**self.options, "render_mode": "rgb_array"})
        try:
            obs, _ = env.reset(seed=seed)
            pictures, over = [_picture(env)], False
            while not over:
                obs, _, terminated, truncated, _ = env.step(self.predict(obs))
                pictures.append(_picture(env))
                over = terminated or truncated
            fps = env.metadata.get("render_fps") or 30
        finally:
            env.close()
        return Frames(pictures, float(np.clip(fps, SLOWEST, FASTEST)))

    def save(self, path: str | Path) -> Path:
        """Keep the policy in a file that holds data only: arrays as npz, the rest as JSON.

        Parameters
        ----------
        path : str or Path
            The file, which is replaced if it is there; if writing fails it is what it was.

        Returns
        -------
        Path
            The file.
        """
        policy_file.write(
            path,
            self.kind,
            self.about,
            self.readout.described(),
            self.readout.arrays(),
            self.curve,
        )
        return Path(path)

    @classmethod
    def load(
        cls, path: str | Path, network: Network | None = None, env: str | None = None
    ) -> "Trained":
        """Open a policy that was saved. A file holds data only, and has no module imported.

        Parameters
        ----------
        path : str or Path
            The file.
        network : equinox.Module, optional
            For a policy that was trained with a network of your own: a module of the same kind.
        env : str, optional
            The id of the environment, instead of the one in the file. An id with a module, such as
            "module:Id-v0", is imported by Gymnasium and has to be given here.

        Returns
        -------
        Trained
            The policy as it was saved.

        Raises
        ------
        ValueError
            If the file is no policy or damaged, names a module, or the network is not of its kind.
        """
        if env is not None and not isinstance(env, str):
            raise ValueError(f"env must be the id of an environment, got {env!r}")
        with policy_file.opened(path) as file:
            saved = policy_file.read(file, env)
            if saved.kind == "table":
                return cls(tabular.restored(saved.readout, saved.arrays), saved.curve, saved.about)
            kept = networks.kept(saved.readout, saved.about, saved.arrays)
        return cls(networks.restored(kept, network, path), saved.curve, saved.about)

    def _table(self) -> tabular.TablePolicy:
        if self.kind != "table":
            raise AttributeError(f"{self.name} was learnt by a network, which has no table")
        return cast(tabular.TablePolicy, self.readout)

    def _network(self) -> networks.NetworkPolicy:
        if self.kind != "network":
            raise AttributeError(f"{self.name} was learnt in a table, without a network")
        return cast(networks.NetworkPolicy, self.readout)


def _picture(env: "Env") -> np.ndarray:
    frame = env.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3:
        name = env.spec.id if env.spec else type(env).__name__
        raise ValueError(f"{name} does not render pictures")
    return frame
