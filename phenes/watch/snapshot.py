"""A run of the record as what a person wants to see of it."""

from pathlib import Path
from typing import Any

import numpy as np

from phenes.risk import from_described
from phenes.space import Space
from phenes.store import Run, Store
from phenes.watch import training

LEAST_PACE = 4  # generations from which a pace is known
PATHS = 12  # parameters whose path is shown
POINTS = 400  # of a curve: more cannot be told apart
EVIDENCE = ("budget", "drawn", "lost")  # of a part: its budget, and draws at its mean
FILE = Path("out") / "runs.db"  # where `phenes optimize` puts its runs


def find(name: str) -> tuple[Path, int | None]:
    """RUN as people name it: a file (its last run), file:number, or a number in out/runs.db."""
    if name.isdigit():
        return FILE, int(name)
    path, colon, number = name.rpartition(":")
    if colon and number.isdigit():
        return Path(path), int(number)
    return Path(name), None


def open_run(store: Store, number: int | None) -> Run:
    """The run of this number, or the last."""
    runs = store.runs()
    if not runs:
        raise ValueError(f"{store.path} holds no runs yet")
    return store[runs[-1].id if number is None else number]


class Reader:
    """Follows a run: what was read of it before is not read again."""

    def __init__(self, run: Run):
        self.run = run
        self.known: dict[str, dict[str, np.ndarray]] = {}

    def snapshot(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON; NaN and infinity are None."""
        try:
            return self._snapshot()
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(
                f"run {self.run.about.id} of {self.run.path} is damaged:"
                f" {type(error).__name__}: {error}"
            ) from error

    def _snapshot(self) -> dict[str, Any]:
        keys = sorted(self.run.keys())
        if training.is_training(self.run.about.experiment):
            return plain(self._of_run() | self._of_training(keys))
        parts = self._thinned([key for key in keys if key.isdigit()])
        now = self.run["now"] if "now" in keys else {}
        last = parts[-1] if parts else {}
        budget = int(now.get("budget", last.get("budget", 0)))
        said = self._of_run() | {
            "what": _what(self.run.about.settings),
            "budget": budget,
            "seconds_left": self._left(keys, budget),
            "drawn": int(last.get("drawn", 0)),
            "lost": int(last.get("lost", 0)),
            "generations": sum(key.isdigit() for key in keys),
            "phase": str(last.get("phase", "")),
            "mean": last.get("mean", np.empty(0)),
            "spread": last.get("spread", np.empty(0)),
            **{name: int(now.get(name, 0)) for name in ("done", "failed", "flying")},
        }
        space = named(self.run.about.settings)
        if space is not None and len(said["mean"]):
            said["theta"] = {
                name: space.decode(said["mean"]).with_unit(name) for name in space.names
            }
        return plain(said | {"curve": curve(parts, space), "paths": paths(parts, space)})

    def _left(self, keys: list[str], budget: int) -> float | None:
        """Seconds until the budget is used, at the pace of the second half of what was done."""
        known = [(key, part) for key, part in self.known.items() if "nfev" in part]
        if len(known) < LEAST_PACE or self.run.status != "running":
            return None
        (_, last), half = known[-1], known[len(known) // 2]
        seconds = self.run.seconds()
        spent = sum(seconds.get(key, 0.0) for key in keys if key.isdigit() and key > half[0])
        made = int(last["nfev"]) - int(half[1]["nfev"])
        return spent / made * max(budget - int(last["nfev"]), 0) if made > 0 else None

    def _of_run(self) -> dict[str, Any]:
        about = self.run.about
        return {
            "id": about.id,
            "file": str(self.run.path),
            "experiment": about.experiment,
            "kind": "optimisation",
            "status": self.run.status,
            "started": about.started,
            "version": about.version,
            "settings": about.settings,
        }

    def _of_training(self, keys: list[str]) -> dict[str, Any]:
        """The rows of its curve are few and small: all of them are kept."""
        for key in keys:
            if key.isdigit() and key not in self.known:
                self.known[key] = training.rows(self.run[key])
        parts = [self.known[key] for key in sorted(self.known)]
        return training.snapshot(parts, self.run.about.settings)

    def _thinned(self, keys: list[str]) -> list[dict[str, np.ndarray]]:
        """Every second, fourth, ... generation of a long run, and the last.

        What was read once stays among the chosen.
        """
        stride = 1 << max(len(keys) // POINTS, 1).bit_length() - 1
        chosen = keys[::stride] + keys[-1:] * ((len(keys) - 1) % stride != 0)
        self.known = {
            key: self.known[key] if key in self.known else _small(self.run[key]) for key in chosen
        }
        return [part for part in self.known.values() if "nfev" in part]


def named(settings: dict[str, Any]) -> Space | None:
    """The space of a run, if it has one that this version can read."""
    try:
        return Space.from_described(settings["space"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _what(settings: dict[str, Any]) -> str:
    """What is minimised or maximised, in a few words."""
    sign = -1.0 if settings.get("maximize") else 1.0
    try:
        return from_described(settings.get("objective")).label(sign)
    except (KeyError, TypeError, ValueError, AttributeError):  # of another version
        return "objective"


def paths(
    parts: list[dict[str, np.ndarray]], space: Space | None
) -> dict[str, list[float] | list[str]]:
    """The recommended theta after each update: the first coordinates, or values by name.

    Of a choice its options, as words.
    """
    if not parts or any("mean" not in part or part["mean"].ndim != 1 for part in parts):
        return {}
    rows = np.array([part["mean"] for part in parts])
    if space is None:
        return {f"θ{k}": rows[:, k].tolist() for k in range(min(rows.shape[1], PATHS))}
    columns = space.columns(rows)
    found: dict[str, list[float] | list[str]] = {}
    for name in space.names[:PATHS]:
        column, unit = columns[name], getattr(space.parameters[name], "unit", "")
        told = column if column.dtype.kind in "fiu" else column.astype(str)
        found[f"{name}, {unit}" if unit else name] = told.tolist()
    return found


def curve(parts: list[dict[str, np.ndarray]], space: Space | None = None) -> dict[str, list[float]]:
    """E f with its error, the step beside the noise, and the gain of conditioning on x, 1 + C/S.

    space: steps and noise are then shares of its ranges, because units differ.
    """
    columns: dict[str, list[float]] = {
        name: [] for name in ("nfev", "fun", "fun_se", "f_median", "step", "noise", "gain")
    }
    for part in parts:
        step, noise = (_size(part[name], space) for name in ("spread", "noise"))
        # at the end the search may be far narrower than the noise: the gain is then unbounded
        row = {
            "step": step,
            "noise": noise,
            "gain": 1 + (noise / step) ** 2 if step > 1e-3 * noise else np.inf,
        }
        for name, column in columns.items():
            column.append(float(row[name] if name in row else part[name]))
    return columns


def _size(std: np.ndarray, space: Space | None) -> float:
    """Root mean square of standard deviations."""
    if space is not None:
        std = np.array([*space.spread_shares(std).values()] or [0.0])
    return float(np.sqrt(np.mean(std**2)))


def plain(value: Any) -> Any:
    """What JSON can hold: lists and numbers of Python, None for what is not finite."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _small(part: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The part without its evaluations."""
    kept = {
        name: part[name]
        for name in (*("nfev", "fun", "fun_se", "mean", "spread", "noise", "phase"), *EVIDENCE)
        if name in part
    }
    f = part.get("f", np.empty(0))
    finite = f[np.isfinite(f)] if f.dtype.kind == "f" else np.empty(0)
    return kept | {"f_median": np.array(np.median(finite) if finite.size else np.nan)}
