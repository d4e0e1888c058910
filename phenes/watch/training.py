"""A training of the record as what a person wants to see of it.

Its parts are named by generation and hold rows of the learning curve (`phenes.rl.training.Curve`).
"""

from typing import Any

import numpy as np

PREFIX = "train "  # name of the experiment, followed by the id of the environment
POINTS = 400  # of a curve: more cannot be told apart
WIDTH = 10  # generations over which the signal is averaged
COLUMNS = ("mean", "steps", "failed", "size", "second", "seconds", "at", "deterministic")


def is_training(experiment: str) -> bool:
    """Whether a run of this name is one of `phenes.rl.train`."""
    return experiment.startswith(PREFIX)


def rows(part: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What is shown of a part."""
    return {name: part[name] for name in COLUMNS}


def snapshot(parts: list[dict[str, np.ndarray]], settings: dict[str, Any]) -> dict[str, Any]:
    """Numbers and curves of a training so far; curves count in episodes."""
    whole = {name: np.concatenate([np.empty(0), *(p[name] for p in parts)]) for name in COLUMNS}
    generations, popsize = whole["mean"].size, int(settings["popsize"])
    stride = max(1, -(-generations // POINTS))
    shown = np.unique(np.append(np.arange(0, generations, stride), generations - 1))
    shown = shown[shown >= 0]
    looks = np.arange(whole["at"].size)[:: max(1, -(-whole["at"].size // POINTS))]
    if whole["at"].size:
        looks = np.unique(np.append(looks, whole["at"].size - 1))
    return {
        "kind": "training",
        "generations": generations,
        "done": popsize * generations,
        "failed": int(whole["failed"].sum()),
        "steps": int(whole["steps"].sum()),
        "seconds": float(whole["seconds"][-1]) if generations else 0.0,
        "curve": {
            "episodes": popsize * (1 + shown),
            "mean": whole["mean"][shown],
            "signal": _signal(whole["size"], whole["second"])[shown],
            "at": popsize * whole["at"][looks],
            "deterministic": whole["deterministic"][looks],
        },
    }


def _signal(size: np.ndarray, second: np.ndarray) -> np.ndarray:
    """|E g|^2 / E|g|^2 over the last generations; NaN where nothing was measured."""
    sums = np.nancumsum(np.stack([size, second, np.isfinite(second)]), axis=1)
    sums = np.concatenate([np.zeros((3, 1)), sums], axis=1)
    last = np.arange(1, size.size + 1)
    over = sums[:, last] - sums[:, np.maximum(last - WIDTH, 0)]
    known = (over[2] > 0) & (over[1] > 0)
    return np.where(known, over[0] / np.where(known, over[1], 1.0), np.nan)


def table_rows(snapshot: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values for the terminal."""
    curve = snapshot["curve"]
    return [
        ("return of the population", _last(curve["mean"])),
        ("return of the mean policy", _last(curve["deterministic"])),
        ("signal in the gradient", _last(curve["signal"])),
        ("episodes", f"{snapshot['done']} done, {snapshot['failed']} failed"),
        ("generations", str(snapshot["generations"])),
        ("steps", f"{snapshot['steps']} in {snapshot['seconds']:.1f} seconds"),
    ]


def _last(values: list[Any]) -> str:
    return "not known" if not values or values[-1] is None else f"{values[-1]:.6g}"
