"""`train`: a policy for any Gymnasium environment, and `load`, which opens what was saved."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from phenes import _validate
from phenes.rl import tabular
from phenes.rl.policies import Normaliser, Policy, from_network, head_for, policy, quiet
from phenes.rl.problems.distributed import Phased, phased
from phenes.rl.problems.settings import PRESETS, Settings
from phenes.rl.rollouts.spaces import Spaces, make
from phenes.rl.training.loop import Progress, run
from phenes.rl.training.trained import Trained

OWN = object()  # the target that the environment names


def train(
    env_id: str,
    *,
    seed: int = 0,
    preset: str | None = None,
    generations: int | None = None,
    popsize: int | None = None,
    hidden: tuple[int, ...] | None = None,
    sigma: float | None = None,
    rate: float | None = None,
    action_noise: float | None = None,
    estimator: Any = None,
    network: Any = None,
    target: Any = OWN,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    progress: Progress = lambda done, total, curve: None,
    workers: Any = None,
    options: dict[str, Any] | None = None,
) -> Trained | tabular.Trained:
    """Learn to act in the environment that Gymnasium makes of `env_id` with `options`. The defaults
    need no tuning.

    preset: "paper" and "paper-es" are the paper's PAES and ES; what else is given replaces single
    settings (see `Settings`). estimator: one of `phenes.rl.trajectories`. network: an equinox
    module obs -> output instead of a network with `hidden` layers. target: stop when the mean
    policy returns so much on 100 episodes; the environment's own threshold unless given, None for
    never. checkpoint: a file to go on from after a kill, exactly (resume False: begin anew).
    progress(done, total, curve) is called after every few generations.
    workers: for environments that are not compiled here, whatever `phenes.minimize` takes;
    trajectories stay on the workers.

    An environment with a transition table (FrozenLake-v1, Taxi-v4, ...) is learnt exactly, by
    `phenes.rl.tabular.train`, unless a setting of networks is given.
    """
    from phenes.rl import rollouts

    if preset not in PRESETS:
        raise ValueError(f"preset must be {', '.join(repr(p) for p in PRESETS)}, got {preset!r}")
    ours = (preset, hidden, sigma, rate, action_noise, estimator, network, checkpoint)
    if all(setting is None for setting in ours) and has_table(env_id, options):
        return _in_a_table(env_id, seed, generations, popsize, options, progress)
    changes = {
        "generations": generations,
        "popsize": popsize,
        "rate": rate,
        "action_noise": action_noise,
        "estimator": estimator,
    }
    spaces = rollouts.spaces(env_id, **(options or {}))
    settings = _settings(PRESETS[preset](spaces), changes, hidden, sigma)
    return learn(
        env_id,
        settings,
        seed=seed,
        network=network,
        target=spaces.threshold if target is OWN else target,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
        workers=workers,
        options=options,
    )


def learn(
    env_id: str,
    settings: Settings,
    *,
    seed: int = 0,
    network: Any = None,
    target: float | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = True,
    progress: Progress = lambda done, total, curve: None,
    workers: Any = None,
    options: dict[str, Any] | None = None,
) -> Trained:
    """`train` with all of its settings in one record."""
    from phenes.rl import rollouts

    seed = _validate.count("seed", seed, 0)
    target = None if target is None else _validate.number("target", target)
    env = rollouts.load(env_id, workers=workers, **(options or {}))
    learner = None
    try:
        key, for_network = jax.random.split(jax.random.key(seed))
        made, theta = _policy(for_network, env.spaces, settings, network)
        described = {
            **settings.described(),
            "hidden": None if network is not None else list(settings.hidden),
        }
        about = {
            "name": env.spaces.name,
            "options": options or {},
            "seed": seed,
            "parameters": int(theta.size),
            "settings": described,
        }
        learner = phased(settings, env, key, workers)
        outcome = run(
            learner,
            learner.begin(made, theta),
            about,
            target,
            None if checkpoint is None else Path(checkpoint),
            resume,
            progress,
        )
        end = {
            "solved": outcome.solved,
            "value": outcome.value,
            "seconds": round(outcome.seconds, 2),
        }
        about |= {"popsize": settings.popsize, "target": target, **end}
        return Trained(outcome.policy, np.asarray(outcome.theta), env.spaces, outcome.curve, about)
    finally:
        env.close()
        if isinstance(learner, Phased):
            learner.close()


def has_table(env_id: str, options: dict[str, Any] | None = None) -> bool:
    env = make(env_id, options or {})
    try:
        return hasattr(env.unwrapped, "P") and hasattr(env.unwrapped, "initial_state_distrib")
    finally:
        env.close()


def _in_a_table(
    env_id: str, seed: int, generations: Any, popsize: Any, options: Any, progress: Progress
) -> tabular.Trained:
    given = {
        name: value
        for name, value in (("generations", generations), ("popsize", popsize))
        if value is not None
    }
    return tabular.train(
        env_id,
        seed=seed,
        options=options,
        progress=lambda done, total: progress(done, total, None),
        **given,
    )


def load(path: str | Path, network: Any = None) -> Trained | tabular.Trained:
    """A policy that was saved, in a table or in a network. network: see `Trained.load`."""
    try:
        with np.load(path, allow_pickle=False) as file:
            kind = str(json.loads(str(file["about"]))["format"])
    except (KeyError, EOFError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is not a policy that was saved by phenes: {error}") from error
    return (
        tabular.Trained.load(path)
        if kind.startswith("phenes tabular")
        else Trained.load(path, network)
    )


def _settings(base: Settings, changes: dict[str, Any], hidden: Any, sigma: Any) -> Settings:
    given = {name: value for name, value in changes.items() if value is not None}
    if hidden is not None:
        given["hidden"] = tuple(_validate.count("hidden", width) for width in hidden)
    if sigma is not None:
        given["sigma"] = (_validate.positive_number("sigma", sigma),) * 2
    return dataclasses.replace(base, **given)


def _policy(
    key: PRNGKeyArray, spaces: Spaces, settings: Settings, network: Any
) -> tuple[Policy, Any]:
    noise = settings.action_noise or settings.sigma[0]
    if network is None:
        made, theta = policy(key, spaces, settings.hidden, noise, settings.normalise)
        return made, quiet(made, theta, settings.last)
    scale = Normaliser.start(spaces.obs_dim) if settings.normalise else None
    return from_network(network, head_for(spaces, noise), scale)
