"""A learnt policy for people: arrows on the map, and its values in words."""

import json
import math
from typing import Any

import numpy as np

from phenes.rl.tabular.environment import Environment, Scene
from phenes.rl.tabular.training import Trained

GAP = "    "  # between maps that stand side by side
ABREAST = 4


def arrows(environment: Environment, policy: np.ndarray) -> str:
    """The greedy policy [S] on each map; without a map, as a list of actions."""
    if not environment.scenes:
        return "  ".join(
            f"{state}:{environment.actions[action]}" for state, action in enumerate(policy)
        )
    maps = [_map(environment, scene, policy) for scene in environment.scenes]
    rows = [maps[k : k + ABREAST] for k in range(0, len(maps), ABREAST)]
    return "\n\n".join(
        "\n".join(GAP.join(lines).rstrip() for lines in zip(*row, strict=True)) for row in rows
    )


def signs(environment: Environment, scene: Scene, policy: np.ndarray) -> np.ndarray:
    """What stands at each place of a map."""
    taken = np.array(environment.actions)[np.asarray(policy)[scene.states]]
    return np.where(scene.signs == "", taken, scene.signs)


def _map(environment: Environment, scene: Scene, policy: np.ndarray) -> list[str]:
    lines = [" ".join(row) for row in signs(environment, scene, policy)]
    width = max(len(line) for line in (*lines, scene.title))
    return [line.ljust(width) for line in ([scene.title] if scene.title else []) + lines]


def summary(trained: Trained) -> str:
    """What was learnt, in two sentences."""
    s = trained.score
    limit = f"within {s.limit} steps" + (
        "" if s.own else " (the environment has no limit of its own)"
    )
    unlimited = "may never end" if not math.isfinite(s.unlimited) else f"is worth {s.unlimited:.4g}"
    return (
        f"The greedy policy is worth {s.greedy:.4g} {limit}; the best possible is {s.optimum:.4g},"
        f" a random policy gets {s.start:.4g}. With actions drawn from the learnt probabilities it"
        f" is {s.stochastic:.4g}; without a step limit the greedy policy {unlimited}."
        f" {trained.episodes:,} episodes, {trained.steps:,} steps, {trained.seconds:.1f} seconds."
    )


def as_json(trained: Trained, environment: Environment) -> dict[str, Any]:
    """Plain numbers; JSON has no word for infinity."""
    score = {
        name: None if isinstance(v, float) and not math.isfinite(v) else v
        for name, v in vars(trained.score).items()
    }
    policy = np.argmax(trained.probabilities, axis=1)
    about = {
        name: getattr(trained, name)
        for name in ("name", "options", "seed", "episodes", "steps", "seconds")
    }
    return {
        **about,
        **score,
        "generations": trained.curve.size,
        "policy": policy.tolist(),
        "actions": list(environment.actions),
    }


def parse_options(given: list[str]) -> dict[str, Any]:
    """NAME=VALUE for `gymnasium.make`; a VALUE that is JSON (8, false, ["SF", "HG"]) is read as
    such, else as text.
    """
    options = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and name.isidentifier()):
            raise ValueError(
                "an option of the environment must be NAME=VALUE, as is_slippery=false, got"
                f" {text!r}"
            )
        try:
            options[name] = json.loads(value.lower() if value in ("True", "False") else value)
        except json.JSONDecodeError:
            options[name] = value
    return options
