"""What comes out of `train`: a policy that acts, is evaluated, and is kept as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

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
    name_of,
)
from phenes.rl.training import policy_file, showing
from phenes.rl.training.showing import Frames


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

    def __str__(self) -> str:
        finite = np.isfinite(self.returns)
        if not finite.all():
            failed = f"nothing finite on {np.sum(~finite):,}"
            if not finite.any():
                return f"{failed} episodes"
            return f"{Evaluation(self.returns[finite])}, and {failed} more"
        return f"{self.mean:.5g} ± {self.se:.2g} on {self.returns.size:,} episodes"


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

    def __repr__(self) -> str:
        known, about = [f"a {self.kind}"], self.about
        if "parameters" in about:
            known[0] += f" of {about['parameters']:,} parameters"
        known.append(f"learnt in {self.episodes:,} episodes")
        if self.curve.failed.any():
            known[-1] += f" of which {self.curve.failed.sum():,} failed"
        if "value" in about:  # not while it is still learning
            known.append(f"best actions return {about['value']:.5g}")
        return f"<Trained for {self.name}: {', '.join(known)}>"

    @property
    def environment(self) -> World:
        """What makes the environment: its id, or `world`."""
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
            If episodes is not a positive integer, or workers are none.
        """
        count("episodes", episodes)
        count("seed", seed, 0)
        return Evaluation(
            self.readout.returns(self.environment, self.options, episodes, seed, workers)
        )

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
        return showing.frames(self, count("seed", seed, 0))

    def render(
        self, path: str | Path | None = None, seed: int = 0, human: bool = False
    ) -> "Frames | Path | float":
        """Show one episode with the best actions, drawn by the environment itself.

        Parameters
        ----------
        path : str or Path, optional
            A .gif or .mp4 to write (the latter where ffmpeg is installed).
        seed : int
            Seed of the environment.
        human : bool
            Show it in a window instead.

        Returns
        -------
        Path, float or Frames
            The file; the return of the episode that was shown; or else the pictures.

        Raises
        ------
        ValueError
            If the environment cannot be drawn that way, in one sentence, or path and human are
            both given.

        Examples
        --------
        >>> trained.render("cartpole.gif")  # doctest: +SKIP
        """
        count("seed", seed, 0)
        if flag("human", human):
            if path is not None:
                raise ValueError(f"an episode is shown or written: path must be None, got {path!r}")
            return showing.window(self, seed)
        if path is None:
            return showing.frames(self, seed)
        from phenes.plots import film

        return film.save(*showing.frames(self, seed), film.check(path))

    def plot(self) -> Any:
        """Draw what was learnt: returns against episodes, and the policy or the signal.

        The mean return of the population with a band up to its best, looks at the mean policy, the
        target; beside it the policy on the maps of a table, or the share of signal in the
        gradients.

        Returns
        -------
        matplotlib.figure.Figure
            Notebooks show it; `trained.plot().savefig("training.png")` keeps it.

        Raises
        ------
        ValueError
            If nothing was learnt yet.
        """
        if not self.curve.generations:
            raise ValueError("there is nothing to plot: no generations have been played")
        return showing.learning(self)

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
        if env is not None and not (isinstance(env, str) or showing.is_made(env) or callable(env)):
            raise ValueError(
                "env must be the id of an environment, one, or a function that makes it, got"
                f" {env!r}"
            )
        with policy_file.opened(path) as file:
            # a function has a name of its own, which is not that of what it makes
            name = None
            if env is not None and (isinstance(env, str) or showing.is_made(env)):
                name = name_of(env)
            saved = policy_file.read(file, env is not None, name)
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
