"""Rounds of killing, and what they must not change."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from phenes.bench.survive.engines import NAMES, engine, there
from phenes.bench.survive.program import name, solve
from phenes.store import Store
from phenes.store.export import generations

PATIENCE = 300  # seconds without any progress after which a round has failed


@dataclass(frozen=True)
class Settings:
    """kills: in all, shared among the engines. budget: evaluations of a run. pause: seconds, the longest between progress and a kill."""

    kills: int = 200
    engines: tuple[str, ...] = NAMES
    budget: int = 240
    pause: float = 0.5
    seed: int = 0

    def __post_init__(self):
        unknown = [name for name in self.engines if name not in NAMES]
        if unknown:
            raise ValueError(f"engines must be of {', '.join(NAMES)}, got {', '.join(unknown)}")
        if self.kills < 1 or self.budget < 24:
            raise ValueError(f"kills must be at least 1 and budget at least 24, got {self.kills} and {self.budget}")

    @classmethod
    def quick(cls) -> "Settings":
        return cls(kills=12, budget=120)


@dataclass
class Round:
    """What was done to a run, and what became of it: numbers that must be 0, and whether the end was the same."""

    engine: str
    seed: int
    of_workers: int = 0
    of_program: int = 0
    lost: int = 0
    doubled: int = 0
    repeated: int = 0  # in the record already when the program was killed, and evaluated again
    same: bool = False
    kept: list[tuple[int, set[str]]] = field(default_factory=list, repr=False)  # at each kill: lines of the log, points in the record

    @property
    def survived(self) -> bool:
        return self.same and not (self.lost or self.doubled or self.repeated)


def run(settings: Settings, progress: Callable[[int, int], None] = lambda done, total: None) -> list[Round]:
    missing = [name for name in settings.engines if not there(name)]
    if missing:
        raise ValueError(f"{', '.join(missing)} cannot be imported: pip install 'phenes[dask,ray]'")
    rng, rounds = np.random.default_rng(settings.seed), []
    for k, where in enumerate(settings.engines):
        due = settings.kills * (k + 1) // len(settings.engines)
        with engine(where) as workers:
            while (made := sum(r.of_workers + r.of_program for r in rounds)) < due:
                rounds.append(one(Round(where, len(rounds)), workers, settings, due - made, rng))
                progress(sum(r.of_workers + r.of_program for r in rounds), settings.kills)
    return rounds


def one(this: Round, workers: str, settings: Settings, most: int, rng: np.random.Generator) -> Round:
    """A run that is killed up to `most` times, and then left in peace."""
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "run.db", Path(folder) / "log"
        program = _start(path, log, workers, this.seed, settings.budget)
        try:
            while program.poll() is None and this.of_workers + this.of_program < most:
                _wait(program, log, settings.pause, rng)
                if rng.random() < 0.5:
                    this.of_workers += _kill_worker(log, program.pid, rng)
                elif program.poll() is None:
                    _end(program)
                    this.of_program += 1
                    this.kept.append((len(_lines(log)), _stored(path)))
                    program = _start(path, log, workers, this.seed, settings.budget)
            said = program.communicate(timeout=PATIENCE)[1]
            if program.returncode:
                raise RuntimeError(f"the program ended by itself with code {program.returncode}: {said.decode()[-500:]}")
        finally:
            _end(program)
        return _judge(this, path, _lines(log), settings.budget)


def _judge(this: Round, path: Path, lines: list[str], budget: int) -> Round:
    straight = solve(this.seed, budget)
    again = solve(this.seed, budget, checkpoint=path)  # from the record alone
    this.same = bool(np.array_equal(again.x, straight.x)) and again.fun == straight.fun and again.nfev == straight.nfev
    with Store(path, create=False) as store:
        stored = [name(x) for _, part in generations(store.last("minimize")) for x in part["x"]]
    this.lost, this.doubled = straight.nfev - len(set(stored)), len(stored) - len(set(stored))
    started = [line.split()[1] for line in lines]
    this.repeated = sum(point in kept for position, kept in this.kept for point in started[position:])
    return this


def _start(path: Path, log: Path, workers: str, seed: int, budget: int) -> subprocess.Popen:
    command = [sys.executable, "-m", "phenes.bench.survive.program", path, log, workers, seed, budget]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _wait(program: subprocess.Popen, log: Path, pause: float, rng: np.random.Generator) -> None:
    """Mostly until something was evaluated, so that runs get on; now and then not, so that starts are hit as well."""
    seen, deadline = len(_lines(log)), time.monotonic() + PATIENCE
    while rng.random() < 0.97 and len(_lines(log)) <= seen and program.poll() is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was evaluated for {PATIENCE} seconds")
        time.sleep(0.02)
    time.sleep(pause * rng.random())


def _kill_worker(log: Path, program: int, rng: np.random.Generator) -> bool:
    """One of those that evaluated last. False if it has gone by itself."""
    recent = sorted({int(line.split()[0]) for line in _lines(log)[-4:]} - {program, os.getpid()})
    if not recent:
        return False
    try:
        os.kill(recent[rng.integers(len(recent))], signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _end(program: subprocess.Popen) -> None:
    if program.poll() is None:
        program.kill()
    program.wait()
    if program.stderr is not None:
        program.stderr.close()


def _lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def _stored(path: Path) -> set[str]:
    """Points in the record, also of a generation that is not complete."""
    if not path.exists():
        return set()
    with Store(path) as store:
        runs = store.runs()
        if not runs:
            return set()
        run = store[runs[-1].id]
        return {name(x) for key in run if key != "now" and not key.endswith("sent") for x in run[key]["x"]}


def as_json(rounds: list[Round]) -> dict[str, Any]:
    plain = [{key: value for key, value in asdict(r).items() if key != "kept"} | {"survived": r.survived} for r in rounds]
    return {"kills": sum(r.of_workers + r.of_program for r in rounds), "survived": all(r.survived for r in rounds), "rounds": plain}


def table(rounds: list[Round]) -> Any:
    from rich.table import Table

    out = Table("engine", "runs", "workers killed", "programs killed", "lost", "counted twice", "evaluated again", "same end")
    for where in dict.fromkeys(r.engine for r in rounds):
        of = [r for r in rounds if r.engine == where]
        numbers = [sum(getattr(r, name) for r in of) for name in ("of_workers", "of_program", "lost", "doubled", "repeated")]
        out.add_row(where, str(len(of)), *map(str, numbers), f"{sum(r.same for r in of)} of {len(of)}")
    return out
