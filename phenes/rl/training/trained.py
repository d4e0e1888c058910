"""What comes out of `train`: a policy that acts, is evaluated, and is kept as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
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
from phenes.rl.rollouts.spaces import (
    Action,
    Observation,
    Options,
    Spaces,
    World,
    make,
    name_of,
)
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
    world : gymnasium.Env, callable or None
        The environment, where its name is not an id that makes it. It is not kept in files.
    about : mapping
        kind ("table" or "network"), name, options, seed, parameters, settings, popsize, target, and
        how it ended: solved, value, seconds.
    """

    readout: Readout
    curve: Curve
    about: Mapping[str, Any]
    world: "World | None" = field(default=None, repr=False, compare=False)

    @property
    def _world(self) -> World:
        return self.name if self.world is None else self.world

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
        return Evaluation(self.readout.returns(self._world, self.options, episodes, seed, workers))

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
        drawn = {} if _is_made(self._world) else {"render_mode": "rgb_array"}
        env = make(self._world, {**self.options, **drawn})
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
        cls, path: str | Path, network: Network | None = None, env: "World | None" = None
    ) -> "Trained":
        """Open a policy that was saved. A file holds data only, and has no module imported.

        Parameters
        ----------
        path : str or Path
            The file.
        network : equinox.Module, optional
            For a policy that was trained with a network of your own: a module of the same kind.
        env : str, gymnasium.Env or callable, optional
            The environment, instead of the id in the file. An id with a module, such as
            "module:Id-v0", is imported by Gymnasium and has to be given here, and so has an
            environment that no id makes.

        Returns
        -------
        Trained
            The policy as it was saved.

        Raises
        ------
        ValueError
            If the file is no policy or damaged, names a module, or the network is not of its kind.
        """
        if env is not None and not (isinstance(env, str) or _is_made(env) or callable(env)):
            raise ValueError(
                "env must be the id of an environment, one, or a function that makes it, got"
                f" {env!r}"
            )
        with policy_file.opened(path) as file:
            saved = policy_file.read(file, None if env is None else name_of(env))
            if saved.kind == "table":
                readout = tabular.restored(saved.readout, saved.arrays)
                return cls(readout, saved.curve, saved.about, _kept_world(env))
            kept = networks.kept(saved.readout, saved.about, saved.arrays)
        made = networks.restored(kept, network, path)
        return cls(made, saved.curve, saved.about, _kept_world(env))

    def _table(self) -> tabular.TablePolicy:
        if self.kind != "table":
            raise AttributeError(f"{self.name} was learnt by a network, which has no table")
        return cast(tabular.TablePolicy, self.readout)

    def _network(self) -> networks.NetworkPolicy:
        if self.kind != "network":
            raise AttributeError(f"{self.name} was learnt in a table, without a network")
        return cast(networks.NetworkPolicy, self.readout)


def _kept_world(env: "World | None") -> "World | None":
    return None if isinstance(env, str) else env


def _is_made(env: World) -> bool:
    """Whether it is an environment itself, whose way of rendering is given."""
    return hasattr(env, "step")


def _picture(env: "Env") -> np.ndarray:
    frame = env.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3:
        name = env.spec.id if env.spec else type(env).__name__
        raise ValueError(f"{name} does not render pictures")
    return frame
