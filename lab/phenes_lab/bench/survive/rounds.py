"""Rounds of killing, and what they must not change."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from phenes._extras import install_hint
from phenes.store import Store
from phenes.store.export import generations
from phenes_lab.bench.survive.engines import NAMES, engine, there
from phenes_lab.bench.survive.program import born, name, solve

EARLY = 0.1  # of the kills come before anything was evaluated,
START = 2.0  # within so many seconds, in which a program starts
PATIENCE = 300  # seconds without any progress after which a round has failed


@dataclass(frozen=True)
class Settings:
    """kills: in all, shared among the engines. budget: evaluations of a run. pause: seconds, the
    longest between progress and a kill.
    """

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
            raise ValueError(
                f"kills must be at least 1 and budget at least 24, got {self.kills} and"
                f" {self.budget}"
            )

    @classmethod
    def quick(cls) -> "Settings":
        return cls(kills=12, budget=120)


Seen = tuple[int, set[str]]  # lines of the log, points in the record


@dataclass
class Round:
    """What was done to a run, and what became of it: numbers that must be 0, and whether the end
    was the same.
    """

    engine: str
    seed: int
    of_workers: int = 0
    of_program: int = 0
    lost: int = 0
    doubled: int = 0
    interrupted: int = 0  # evaluations that began once more, because nobody had their value
    repeated: int = 0  # in the record already at a kill, and begun again after it
    same: bool = False
    kept: list[Seen] = field(default_factory=list, repr=False)  # at each kill

    @property
    def kills(self) -> int:
        return self.of_workers + self.of_program

    def hit(self, kind: str, seen: Seen) -> None:
        setattr(self, kind, getattr(self, kind) + 1)
        self.kept.append(seen)

    @property
    def survived(self) -> bool:
        return self.same and not (self.lost or self.doubled or self.repeated)


def run(
    settings: Settings,
    progress: Callable[[int, int], None] = lambda done, total: None,
    keep: Callable[[list[Round]], None] = lambda rounds: None,
    before: Sequence[Round] = (),
) -> list[Round]:
    """keep: called with all rounds so far after each. before: those of an earlier call, to go on
    from.
    """
    missing = [name for name in settings.engines if not there(name)]
    if missing:
        raise ValueError(f"{', '.join(missing)} cannot be imported: {install_hint('dask,ray')}")
    rounds, n = list(before), len(settings.engines)

    def left(k: int, where: str) -> int:
        share = settings.kills * (k + 1) // n - settings.kills * k // n
        return share - sum(r.kills for r in rounds if r.engine == where)

    for k, where in enumerate(settings.engines):
        with engine(where) if left(k, where) > 0 else contextlib.nullcontext("") as workers:
            while (most := left(k, where)) > 0:
                rounds.append(one(Round(where, len(rounds)), workers, settings, most))
                progress(sum(r.kills for r in rounds), settings.kills)
                keep(rounds)
    return rounds


def one(this: Round, workers: str, settings: Settings, most: int) -> Round:
    """A run that is killed up to `most` times, and then left in peace."""
    rng = np.random.default_rng([settings.seed, this.seed])
    at_worker = rng.random(most) < 0.5
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "run.db", Path(folder) / "log"
        program = _start(path, log, workers, this.seed, settings.budget)
        try:
            while this.kills < most and _wait(program, log, settings.pause, rng):
                if at_worker[this.kills]:
                    seen = _seen(path, log)
                    if _kill_worker(log, program.pid, rng):
                        this.hit("of_workers", seen)
                else:
                    _end(program)
                    this.hit("of_program", _seen(path, log))
                    program = _start(path, log, workers, this.seed, settings.budget)
            said = program.communicate(timeout=PATIENCE)[1]
            if program.returncode:
                raise RuntimeError(
                    f"the program ended by itself with code {program.returncode}:"
                    f" {said.decode()[-500:]}"
                )
        finally:
            _end(program)
        return _judge(this, path, _lines(log), settings.budget)


def _judge(this: Round, path: Path, lines: list[str], budget: int) -> Round:
    with Store(path, create=False) as store:
        stored = [name(x) for _, part in generations(store.last("minimize")) for x in part["x"]]
    straight = solve(this.seed, budget)
    # from the record, and what is missing there anew: only after it was read
    again = solve(this.seed, budget, checkpoint=path)
    this.same = (
        bool(np.array_equal(again.x, straight.x))
        and again.fun == straight.fun
        and again.nfev == straight.nfev
    )
    this.lost, this.doubled = straight.nfev - len(set(stored)), len(stored) - len(set(stored))
    started = [line.split()[2] for line in lines]
    this.interrupted = len(started) - len(set(started))
    this.repeated = sum(
        point in kept for position, kept in this.kept for point in started[position:]
    )
    return this


def _start(path: Path, log: Path, workers: str, seed: int, budget: int) -> subprocess.Popen:
    command = [
        sys.executable,
        "-m",
        "phenes_lab.bench.survive.program",
        path,
        log,
        workers,
        seed,
        budget,
    ]
    return subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def _wait(program: subprocess.Popen, log: Path, pause: float, rng: np.random.Generator) -> bool:
    """Mostly until something was evaluated, so that runs get on; now and then not, so that starts
    are hit as well. False: it has ended.
    """
    early, share = rng.random(2)
    seen, deadline = len(_lines(log)), time.monotonic() + PATIENCE
    while early > EARLY and len(_lines(log)) <= seen and program.poll() is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f"nothing was evaluated for {PATIENCE} seconds")
        time.sleep(0.02)
    time.sleep((pause if early > EARLY else START) * share)
    return program.poll() is None


def _kill_worker(log: Path, program: int, rng: np.random.Generator) -> bool:
    """One of those that evaluated last. False if it has gone by itself; its number may by then be
    somebody else's.
    """
    seen = {tuple(line.split()[:2]) for line in _lines(log)[-4:]}
    recent = sorted(
        (int(pid), since) for pid, since in seen if int(pid) not in (program, os.getpid())
    )
    if not recent:
        return False
    pid, since = recent[rng.integers(len(recent))]
    try:
        if born(pid) != since:
            return False
        os.kill(pid, signal.SIGKILL)
    except OSError:
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


def _seen(path: Path, log: Path) -> Seen:
    """Points in the record, also of a generation that is not complete; and after that, how many
    evaluations have begun.
    """
    if not log.exists():
        return 0, set()
    with Store(path) as store:
        store.database.connection.execute("BEGIN")  # one moment of a run that goes on
        run = store[store.runs()[-1].id]
        stored = {
            name(x)
            for key in run
            if key != "now" and not key.endswith("sent")
            for x in run[key]["x"]
        }
    return len(_lines(log)), stored
