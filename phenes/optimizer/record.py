"""The checkpoint of `minimize`: every generation as it was told, so that the same call goes on where it was.

The search is deterministic given its seed. What is kept is therefore the data alone, theta, x and f of each generation in the run record,
and resuming is telling them again, at the cost of the optimiser's own arithmetic.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from phenes import store
from phenes.optimizer.optimizer import Optimizer

EXPERIMENT = "minimize"


class Checkpoint:
    """An open checkpoint; None as path keeps nothing."""

    def __init__(self, path: str | Path | None, settings: dict[str, Any]):
        self.path = path
        self.store = None if path is None else store.Store(path)
        self.run = None if self.store is None else self.store.begin(EXPERIMENT, settings, resume=True)

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.store is not None:
            self.store.close()

    def replay(self, opt: Optimizer) -> int:
        """Tell `opt` what is on file; how many generations that was."""
        if self.run is None:
            return 0
        keys = sorted(self.run.keys())
        for key in keys:
            part = self.run[key]
            asked = opt.ask()[: len(part["f"])]
            if asked.shape != part["theta"].shape or not np.allclose(asked, part["theta"], rtol=1e-6, atol=1e-9):
                raise ValueError(f"{self.path} was written by another version or for another problem: its theta are not those asked now")
            opt.tell(part["theta"], part["f"], realised=part["x"])
        return len(keys)

    def add(self, generation: int, theta: np.ndarray, x: np.ndarray, f: np.ndarray, seconds: float) -> None:
        if self.run is not None:
            self.run.add(f"{generation:08d}", {"theta": theta, "x": x, "f": f}, seconds)

    def finish(self) -> None:
        if self.run is not None:
            self.run.finish()


def settings(x0: Any, sigma0: Any, noise: Any, bounds: Any, popsize: int | None, seed: int, maximize: bool) -> dict[str, Any]:
    """What must be the same for a run to be gone on with; a longer budget may follow a shorter one."""
    return {
        "x0": np.asarray(x0, float).ravel().tolist(),
        "sigma0": np.asarray(sigma0, float).ravel().tolist(),
        "noise": _describe(noise),
        "bounds": repr(bounds),
        "popsize": popsize,
        "seed": seed,
        "maximize": maximize,
    }


def _describe(noise: Any) -> str:
    """Short, and different for different numbers."""
    text = (
        repr(noise)
        if noise is None or isinstance(noise, str | float | int) or hasattr(noise, "sample")
        else repr(np.asarray(noise).tolist())
    )
    return text if len(text) <= 80 else f"{text[:60]}... {hashlib.sha256(text.encode()).hexdigest()[:16]}"
