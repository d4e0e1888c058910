"""A learnt policy to look at: its learning curve, and an episode as the environment draws it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from phenes.rl.rollouts.spaces import World, make, name_of
from phenes.rl.tabular.environment import Environment, load

if TYPE_CHECKING:
    from gymnasium import Env

    from phenes.rl.training.trained import Trained

SLOWEST, FASTEST = 10, 50  # frames per second; viewers of GIFs do not go faster than 50
PICTURES, WINDOW = "rgb_array", "human"  # ways of rendering, as Gymnasium calls them


class Frames(NamedTuple):
    """Pictures [h, w, 3] of an episode, and how many make a second."""

    pictures: list[np.ndarray]
    per_second: float


def learning(trained: "Trained", environment: Environment | None = None) -> Any:
    """The learning curve, beside it the policy on its maps or the signal in the gradients."""
    from phenes.plots.rl import Level, Map, figure  # the room does not wait for matplotlib

    data, levels = _columns(trained), []
    if trained.about["target"] is not None:
        levels.append(Level(trained.about["target"], "target"))
    if trained.kind != "table":
        after = f"after {trained.episodes:,} episodes"
        title = f"{trained.name}: the mean policy returns {trained.about['value']:.5g} {after}"
        return figure(title, data, "mean policy, best actions", levels)
    if environment is None:
        environment = load(trained.environment, **trained.options)
    score, policy = trained.score, np.argmax(trained.probabilities, axis=1)
    levels.append(Level(score.optimum, "best possible"))
    maps = [
        Map(scene.title, environment.signs(scene, policy), scene.signs)
        for scene in environment.scenes
    ]
    title = (
        f"{trained.name}: the greedy policy is worth {score.greedy:.4g}, the best possible"
        f" {score.optimum:.4g}"
    )
    return figure(title, data, f"greedy policy, exact, {score.limit} steps", levels, maps)


def _columns(trained: "Trained") -> dict[str, Any]:
    curve, popsize = trained.curve, int(trained.about["popsize"])
    return {
        "episodes": popsize * np.arange(1, curve.generations + 1),
        "mean": curve.mean,
        "best": curve.best,
        "signal": curve.signal(),
        "at": popsize * curve.at,
        "deterministic": curve.deterministic,
    }


def frames(trained: "Trained", seed: int) -> Frames:
    """One episode with the best actions as pictures."""
    env = opened(trained, PICTURES)
    try:
        pictures = [_picture(env) for _ in episode(trained, env, seed)]
        fps = env.metadata.get("render_fps") or 30
    finally:
        env.close()
    return Frames(pictures, float(np.clip(fps, SLOWEST, FASTEST)))


def window(trained: "Trained", seed: int) -> float:
    """One episode with the best actions in a window, and its return."""
    env = opened(trained, WINDOW)
    try:
        return float(sum(episode(trained, env, seed)))
    finally:
        env.close()


def episode(trained: "Trained", env: "Env", seed: int) -> Iterator[float]:
    """Rewards of an episode with the best actions; 0 when it has begun."""
    obs, _ = env.reset(seed=seed)
    yield 0.0
    over = False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(trained.predict(obs))
        over = terminated or truncated
        yield float(reward)


def opened(trained: "Trained", mode: str) -> "Env":
    """The environment, ready to draw; one sentence if it cannot."""
    world, made = trained.environment, is_made(trained.environment)
    env = make(world, trained.options)
    known = env.metadata.get("render_modes") or []
    if made and env.render_mode == mode:
        return env
    env.close()
    if mode not in known:
        ways = f"it has {', '.join(known)}" if known else "it has no way of rendering"
        raise ValueError(f"{trained.name} cannot render an episode as {mode!r}: {ways}")
    if made:
        raise ValueError(
            f"{trained.name} was made with render_mode={env.render_mode!r}, and an episode as"
            f" {mode!r} needs render_mode={mode!r} when it is made"
        )
    return make(world, {**trained.options, "render_mode": mode})


def is_made(env: World) -> bool:
    """Whether it is an environment itself, whose way of rendering is given."""
    return hasattr(env, "step")


def _picture(env: "Env") -> np.ndarray:
    try:
        frame = env.render()
    except Exception as error:  # of any kind: a package or a display may be missing
        said = " ".join(str(error).split())
        raise ValueError(f"{name_of(env)} could not render a picture: {said}") from error
    if not isinstance(frame, np.ndarray) or frame.ndim != 3:
        raise ValueError(f"{name_of(env)} does not render pictures")
    return frame
