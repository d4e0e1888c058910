"""`train`: a policy for any Gymnasium environment."""

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import jax

from phenes import _validate as validate
from phenes.rl import rollouts
from phenes.rl.policies.policy import Network
from phenes.rl.problems import A, C, Problem
from phenes.rl.problems.distributed import divided
from phenes.rl.problems.network import GenerationStep, NetworkProblem
from phenes.rl.problems.presets import PRESETS
from phenes.rl.problems.settings import Settings
from phenes.rl.problems.starts import begin
from phenes.rl.problems.tabular import GENERATIONS, TableProblem
from phenes.rl.rollouts.backends import Workers, check_workers
from phenes.rl.rollouts.spaces import Options, World, make
from phenes.rl.rollouts.vectors import AnyWorld, single
from phenes.rl.tabular import environment
from phenes.rl.tabular.learners import POPSIZE
from phenes.rl.training import checkpoint as checkpoints
from phenes.rl.training import progress as progresses
from phenes.rl.training.callbacks import Callback, Moment, checked, ends
from phenes.rl.training.loop import Now, run
from phenes.rl.training.progress import Wanted, shown
from phenes.rl.training.trained import Trained
from phenes.rl.trajectories import ByTrajectory

OWN = cast(float, object())  # the target that the environment names
# arguments of `train` that only policies in networks have
OF_NETWORKS = ("preset", "hidden", "sigma", "rate", "action_noise", "estimator", "network")


def train(
    env: AnyWorld,
    *,
    seed: int = 0,
    preset: str | None = None,
    generations: int | None = None,
    popsize: int | None = None,
    hidden: tuple[int, ...] | None = None,
    sigma: float | None = None,
    rate: float | None = None,
    action_noise: float | None = None,
    estimator: ByTrajectory | None = None,
    network: Network | None = None,
    target: float | None = OWN,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    progress: Wanted = None,
    callback: Callback | Sequence[Callback] | None = None,
    workers: Workers = None,
    max_steps: int | None = None,
    options: Options | None = None,
) -> Trained:
    """Learn to act in an environment of Gymnasium; the defaults need no tuning.

    An environment with a transition table (FrozenLake-v1, Taxi-v4, ...) is learnt in a table, with
    exact values; any other environment, or if preset, hidden, sigma, rate, action_noise, estimator
    or network is given, in a network (`learns_table` is this rule).

    Parameters
    ----------
    env : str, gymnasium.Env, callable or gymnasium.vector.VectorEnv
        The id of the environment, such as "CartPole-v1"; or one of your own or wrapped, of which
        copies are made; or a function that makes one; or a vector of them, of which the first is
        taken: as many as are needed are played side by side.
    seed : int
        Seed of all random numbers.
    preset : {"network", "paper", "paper-es", "ars", "ars-v1"}, optional
        A network whatever the length of an episode, the paper's PAES and ES, or augmented random
        search as published; what else is given replaces single settings (see `Settings`).
        "network" if action_noise or estimator is given: they are about actions that are drawn.
    generations : int, optional
        How long to learn.
    popsize : int, optional
        Episodes in a generation.
    hidden : tuple of int, optional
        Widths of the hidden layers.
    sigma : float, optional
        Spread of the search in theta.
    rate : float, optional
        Learning rate of Adam, or of natural steps (see `Settings`).
    action_noise : float, optional
        Standard deviation of continuous actions in units of their bounds.
    estimator : ByTrajectory, optional
        One of `phenes.rl.trajectories`.
    network : equinox.Module, optional
        A module obs -> output instead of a network with `hidden` layers.
    target : float or None, optional
        Stop when the mean policy returns so much: on 100 episodes, or exactly in a table. The
        environment's own threshold for networks unless given; None for never, as for tables unless
        given.
    checkpoint : str or Path, optional
        A file of runs (see `phenes.store`), from which to go on after a kill, exactly; `phenes
        runs`, `phenes show` and `phenes watch` read it.
    resume : bool
        Go on with the last training of this environment in the checkpoint; else begin anew.
    progress : bool or callable, optional
        A line with return, episodes, steps a second, share of signal and time left: True or False,
        or else where stderr is a terminal and in notebooks. A function progress(done, total, curve)
        is called after every few generations in its place.
    callback : callable or list of callables, optional
        Called with a `Moment` after every few generations; True, or StopIteration, ends the
        training. `StopAt`, `StopWithoutImprovement`, `SaveBest` and `phenes.watch.TensorBoard` are
        ready-made.
    workers : int, str or Executor, optional
        For environments that are not compiled here, whatever `phenes.minimize` takes; trajectories
        stay on the workers. Tables and classic control are compiled and have no use for them.
    max_steps : int, optional
        Steps after which an episode ends, instead of those of the environment; where that has no
        limit, 1000 unless given.
    options : dict, optional
        For `gymnasium.make`, as {"map_name": "8x8"}, or for the function that makes it.

    Returns
    -------
    Trained
        The policy, with `predict`, `evaluate`, `save`, `curve` and `about`.

    Raises
    ------
    ValueError
        If an argument is not as described, or the checkpoint is of other settings.

    Examples
    --------
    >>> trained = phenes.rl.train("CartPole-v1", seed=0)  # doctest: +SKIP
    >>> trained.evaluate(episodes=100).mean  # doctest: +SKIP
    """
    if preset not in PRESETS:
        raise ValueError(f"preset must be {', '.join(repr(p) for p in PRESETS)}, got {preset!r}")
    env = single(env)
    if max_steps is not None:
        limit = validate.count("max_steps", max_steps)
        options = {**(options or {}), "max_episode_steps": limit}
    common = {
        "seed": seed,
        "checkpoint": checkpoint,
        "resume": resume,
        "progress": progress,
        "callback": callback,
        "workers": workers,
        "options": options,
    }
    given = {
        "preset": preset,
        "hidden": hidden,
        "sigma": sigma,
        "rate": rate,
        "action_noise": action_noise,
        "estimator": estimator,
        "network": network,
    }
    if learns_table(env, options, **given):
        return train_table(
            env,
            generations=GENERATIONS if generations is None else generations,
            popsize=POPSIZE if popsize is None else popsize,
            target=None if target is OWN else target,
            **common,
        )
    spaces = rollouts.spaces(env, **(options or {}))
    changes = {
        "generations": generations,
        "popsize": popsize,
        "rate": rate,
        "action_noise": action_noise,
        "estimator": estimator,
    }
    if preset is None and not (action_noise is None and estimator is None):
        preset = "network"
    return learn(
        env,
        _settings(PRESETS[preset](spaces), changes, hidden, sigma),
        network=network,
        target=spaces.threshold if target is OWN else target,
        **common,
    )


def learns_table(env: AnyWorld, options: Options | None = None, **given: object) -> bool:
    """Whether `train` with these arguments learns a table.

    It does if the environment has a transition table and no setting of networks is given.

    Parameters
    ----------
    env : str, gymnasium.Env, callable or gymnasium.vector.VectorEnv
        The environment, as in `train`.
    options : dict, optional
        For `gymnasium.make`.
    **given
        Other arguments of `train`.

    Returns
    -------
    bool
        Else it learns a network.
    """
    if any(given.get(name) is not None for name in OF_NETWORKS):
        return False
    made = make(single(env), options or {})
    try:
        return environment.has_table(made)
    finally:
        made.close()


def train_table(
    env: AnyWorld,
    *,
    seed: int = 0,
    generations: int = GENERATIONS,
    popsize: int = POPSIZE,
    target: float | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    progress: Wanted = None,
    callback: Callback | Sequence[Callback] | None = None,
    workers: Workers = None,
    options: Options | None = None,
) -> Trained:
    """Learn a table: `train` for environments that have one.

    Parameters
    ----------
    env : str, gymnasium.Env, callable or gymnasium.vector.VectorEnv
        The environment, as in `train`.
    generations : int
        How long to learn.
    popsize : int
        Episodes in a generation.
    seed, target, checkpoint, resume, progress, callback, workers, options
        As in `train`.

    Returns
    -------
    Trained
        As `train` returns it.

    Raises
    ------
    ValueError
        If the environment has no table, or an argument is not as described.
    """
    generations = validate.count("generations", generations)
    popsize = validate.count("popsize", popsize, 2)
    seed, target = validate.count("seed", seed, 0), _target(target)
    check_workers(workers)
    env = single(env)
    heard = Heard(progress, callback, env)
    table = environment.load(env, **(options or {})).table
    about = {
        "kind": "table",
        "name": env if isinstance(env, str) else table.name,
        "options": options or {},
        "seed": seed,
        "parameters": table.states * table.actions,
        "settings": {"popsize": popsize},
    }
    return _trained(
        TableProblem(table, popsize, seed),
        about | {"popsize": popsize},
        generations,
        target,
        checkpoint,
        resume,
        heard,
    )


def learn(
    env: AnyWorld,
    settings: Settings,
    *,
    seed: int = 0,
    network: Network | None = None,
    target: float | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    progress: Wanted = None,
    callback: Callback | Sequence[Callback] | None = None,
    workers: Workers = None,
    options: Options | None = None,
) -> Trained:
    """Learn a network: `train` with all of its settings in one record.

    Parameters
    ----------
    env : str, gymnasium.Env, callable or gymnasium.vector.VectorEnv
        The environment, as in `train`.
    settings : Settings
        All of them.
    network : equinox.Module, optional
        As in `train`.
    seed, target, checkpoint, resume, progress, callback, workers, options
        As in `train`.

    Returns
    -------
    Trained
        As `train` returns it.
    """
    seed, target = validate.count("seed", seed, 0), _target(target)
    env = single(env)
    heard = Heard(progress, callback, env)
    play = rollouts.load(env, workers=workers, **(options or {}))
    try:
        key, for_network = jax.random.split(jax.random.key(seed))
        made, theta = begin(for_network, play.spaces, settings, network)
        step, generations = divided(GenerationStep(settings, play, key), workers)
    except BaseException:
        play.close()
        raise
    described = settings.described()
    if network is not None:
        described["hidden"] = None
    about = {
        "kind": "network",
        "name": play.spaces.name,
        "options": options or {},
        "seed": seed,
        "parameters": int(theta.size),
        "settings": described,
    }
    return _trained(
        NetworkProblem(step, made, theta, generations),
        about | {"popsize": settings.popsize},
        settings.generations,
        target,
        checkpoint,
        resume,
        heard,
    )


class Heard:
    """Progress bar and callbacks of a training, checked before anything is played."""

    def __init__(
        self, progress: Wanted, callback: Callback | Sequence[Callback] | None, env: World
    ):
        progresses.check(progress)
        self.progress, self.callbacks = progress, checked(callback)
        self.world = None if isinstance(env, str) else env

    def ends(self, now: Now, about: dict[str, Any]) -> bool:
        """Whether a callback wants to end it."""
        return ends(self.callbacks, Moment(now, about, self.world))


def _trained(
    problem: Problem[C, A],
    about: dict[str, Any],
    generations: int,
    target: float | None,
    path: str | Path | None,
    resume: bool,
    heard: Heard,
) -> Trained:
    """The part of `train` that tables and networks share: loop, checkpoint and report."""
    # a longer run may follow a shorter one
    fixed = {name: value for name, value in about.items() if name not in ("settings", "popsize")}
    fixed |= {name: value for name, value in about["settings"].items() if name != "generations"}
    about = about | {"target": target}
    try:
        with (
            checkpoints.opened(path, about["name"], fixed, resume) as kept,
            shown(heard.progress, about["name"], about["popsize"]) as progress,
        ):
            out = run(
                problem, generations, target, kept, progress, lambda now: heard.ends(now, about)
            )
    finally:
        problem.close()
    played = out.curve.generations * about["popsize"]
    if played and out.curve.failed.sum() == played:
        warnings.warn(
            f"nothing was learnt: no episode of {about['name']} had a finite return",
            stacklevel=3,
        )
    end = {"solved": out.solved, "value": out.value, "seconds": round(out.seconds, 2)}
    return Trained(out.readout, out.curve, {**about, **end}, heard.world)


def _target(target: object) -> float | None:
    return None if target is None else validate.number("target", target)


def _settings(
    base: Settings, changes: Mapping[str, object], hidden: Iterable[int] | None, sigma: float | None
) -> Settings:
    given = {name: value for name, value in changes.items() if value is not None}
    if hidden is not None:
        given["hidden"] = tuple(validate.count("hidden", width) for width in hidden)
    if sigma is not None:
        given["sigma"] = (validate.positive_number("sigma", sigma),) * 2
    return dataclasses.replace(base, **given)
