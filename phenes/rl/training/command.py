"""What `phenes train` does for a policy in a network: learn, draw, save, and say how it went."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from phenes.rl.training.train import train
from phenes.rl.training.trained import Trained

EPISODES = 100  # of the evaluation at the end


def run(
    name: str,
    out: Path,
    options: dict[str, Any],
    film: Path | None,
    progress: Callable[..., Any],
    **settings: Any,
) -> tuple[str, dict[str, Any]]:
    """The text to print and the result for machines. settings: those of `train` that are not left
    to their defaults.
    """
    from phenes.rl.training import picture, render

    if film is not None:
        render.check(film)
    trained = train(name, options=options, progress=progress, **settings)
    assert isinstance(trained, Trained)  # tables have a command of their own
    stem = trained.name.replace("/", "-")
    drawn, saved = picture.save(trained, out / f"{stem}.png"), trained.save(out / f"{stem}.phenes")
    found = trained.evaluate(
        EPISODES, seed=trained.about["seed"] + 2, workers=settings.get("workers")
    )
    lines = [summary(trained, found.mean, found.se), f"The picture is {drawn}, the policy {saved}."]
    result = as_json(trained) | {
        "value": found.mean,
        "se": found.se,
        "picture": str(drawn),
        "file": str(saved),
    }
    if film is not None:
        render.render(trained, film)
        lines.append(f"An episode is {film}.")
        result["film"] = str(film)
    return "\n".join(lines), result


def summary(trained: Trained, mean: float, se: float) -> str:
    """What was learnt, in two sentences."""
    target, curve = trained.about["target"], trained.curve
    goal = (
        ""
        if target is None
        else f" (the target {target:g} was {'' if trained.about['solved'] else 'not '}reached)"
    )
    failed = f" {curve.failed.sum():,} episodes failed." if curve.failed.any() else ""
    return (
        f"The mean policy with its best actions returns {mean:.5g} ± {se:.2g} on {EPISODES} fresh"
        f" episodes{goal}. {curve.generations} generations, {trained.episodes:,} episodes,"
        f" {curve.steps.sum():,} steps, {trained.about['seconds']:.1f} seconds.{failed}"
    )


def as_json(trained: Trained) -> dict[str, Any]:
    about = {
        name: trained.about[name]
        for name in ("name", "options", "seed", "popsize", "target", "solved", "seconds")
    }
    curve = trained.curve
    last = (
        {"population": float(curve.mean[-1]), "failed": int(curve.failed.sum())}
        if curve.generations
        else {}
    )
    reached = None if trained.about["target"] is None else curve.first(trained.about["target"])
    counts = {
        "generations": curve.generations,
        "episodes": trained.episodes,
        "steps": int(curve.steps.sum()),
        "first": reached,
    }
    return {**about, **counts, **last}
