"""A learnt policy for people: arrows on a map, its values in words, its picture and its file."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from phenes import plots
from phenes.plots import film
from phenes.plots.rl import ABREAST
from phenes.rl.tabular import Environment, load
from phenes.rl.training import Evaluation, Trained
from phenes.rl.training.showing import learning
from phenes.watch.snapshot import plain

EPISODES = 100  # episodes by which a network is evaluated at the end
GAP = "    "  # between maps that stand side by side
OF_TRAINING = ("kind", "name", "options", "seed", "popsize", "target", "solved")


def report(
    trained: Trained, out: Path, render: Path | None, workers: Any
) -> tuple[str, dict[str, Any]]:
    """Picture, policy and film in `out`; the text to print and the result for machines."""
    stem = trained.name.replace("/", "-")
    environment = load(trained.name, **trained.options) if trained.kind == "table" else None
    drawn = plots.save(learning(trained, environment), out / f"{stem}.png")
    saved = trained.save(out / f"{stem}.phenes")
    result = as_json(trained)
    if environment is None:
        found = trained.evaluate(EPISODES, seed=trained.about["seed"] + 2, workers=workers)
        text = network_summary(trained, found)
        result |= {"value": found.mean, "se": found.se}
    else:
        policy = np.argmax(trained.probabilities, axis=1)
        text = f"{arrows(environment, policy)}\n\n{table_summary(trained)}"
        result |= {**plain(vars(trained.score)), "policy": policy.tolist()}
        result |= {"actions": list(environment.actions)}
    lines = [text, f"The picture is {drawn}, the policy {saved}."]
    result |= {"picture": str(drawn), "file": str(saved)}
    if render is not None:
        film.save(*trained.frames(), render)
        lines.append(f"An episode is {render}.")
        result["film"] = str(render)
    return "\n".join(lines), plain(result)


def arrows(environment: Environment, policy: np.ndarray) -> str:
    """The greedy policy [S] on each map; without a map, as a list of actions."""
    if not environment.scenes:
        return "  ".join(
            f"{state}:{environment.actions[action]}" for state, action in enumerate(policy)
        )
    maps = [_lines(environment, scene, policy) for scene in environment.scenes]
    rows = [maps[k : k + ABREAST] for k in range(0, len(maps), ABREAST)]
    return "\n\n".join(
        "\n".join(GAP.join(lines).rstrip() for lines in zip(*row, strict=True)) for row in rows
    )


def _lines(environment: Environment, scene: Any, policy: np.ndarray) -> list[str]:
    lines = [" ".join(row) for row in environment.signs(scene, policy)]
    width = max(len(line) for line in (*lines, scene.title))
    return [line.ljust(width) for line in ([scene.title] if scene.title else []) + lines]


def table_summary(trained: Trained) -> str:
    """What was learnt in a table, in two sentences."""
    s = trained.score
    limit = f"within {s.limit} steps"
    if not s.own:
        limit += " (the environment has no limit of its own)"
    unlimited = f"is worth {s.unlimited:.4g}" if math.isfinite(s.unlimited) else "may never end"
    return (
        f"The greedy policy is worth {s.greedy:.4g} {limit}{_goal(trained)}; the best possible is"
        f" {s.optimum:.4g}, a random policy gets {s.start:.4g}. With actions drawn from the learnt"
        f" probabilities it is {s.stochastic:.4g}; without a step limit the greedy policy"
        f" {unlimited}. {_effort(trained)}"
    )


def network_summary(trained: Trained, found: Evaluation) -> str:
    """What was learnt in a network, in two sentences."""
    said = str(found).replace("episodes", "fresh episodes", 1)
    return (
        f"The mean policy with its best actions returns {said}{_goal(trained)}. {_effort(trained)}"
    )


def _goal(trained: Trained) -> str:
    target, solved = trained.about["target"], trained.about["solved"]
    if target is None:
        return ""
    return f" (the target {target:g} was {'' if solved else 'not '}reached)"


def _effort(trained: Trained) -> str:
    curve = trained.curve
    failed = f" {curve.failed.sum():,} episodes failed." if curve.failed.any() else ""
    return (
        f"{curve.generations} generations, {trained.episodes:,} episodes, {trained.steps:,} steps,"
        f" {trained.about['seconds']:.1f} seconds.{failed}"
    )


def as_json(trained: Trained) -> dict[str, Any]:
    """Plain numbers, of tables and networks alike."""
    curve, target = trained.curve, trained.about["target"]
    return {
        **{name: trained.about[name] for name in (*OF_TRAINING, "seconds")},
        "generations": curve.generations,
        "episodes": trained.episodes,
        "steps": trained.steps,
        "first": None if target is None else curve.first(target),
        "population": float(curve.mean[-1]) if curve.generations else None,
        "failed": int(curve.failed.sum()),
        "value": trained.about["value"],
    }


def parse_options(given: list[str]) -> dict[str, Any]:
    """NAME=VALUE for `gymnasium.make`.

    A VALUE that is JSON (8, false, ["SF", "HG"]) is read as such, else as text.
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
