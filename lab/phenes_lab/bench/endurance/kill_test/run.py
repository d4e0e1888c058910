"""Rounds in which workers and the program are killed, compared with an undisturbed run."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from phenes._extras import install_hint
from phenes.store import Store
from phenes.store.export import generations
from phenes_lab import driver
from phenes_lab.bench.endurance.backends import engine, there
from phenes_lab.bench.endurance.kill_test.program import born, name, solve
from phenes_lab.bench.endurance.kill_test.settings import KillTestSettings, Round, Seen
from phenes_lab.bench.endurance.kill_test.tables import write

FILE = "rounds.jsonl"
EARLY = 0.1  # of the kills come before anything was evaluated,
START = 2.0  # within so many seconds, in which a program starts
PATIENCE = 300  # seconds without any progress after which a round has failed


def run(
    settings: KillTestSettings,
    out: Path,
    resume: bool = False,
    progress: driver.Progress = driver.silent,
) -> driver.Outcome:
    """Rounds are kept in `out` as they end, with a report of them."""
    missing = [name for name in settings.engines if not there(name)]
    if missing:
        raise ValueError(f"{', '.join(missing)} cannot be imported: {install_hint('dask,ray')}")
    driver.double_precision()
    head = {name: value for name, value in vars(settings).items() if name != "kills"}
    file = driver.RowFile(out / FILE, head, "survive")
    rounds, n = [Round(**row) for row in file.read(resume)], len(settings.engines)

    def left(k: int, where: str) -> int:
        share = settings.kills * (k + 1) // n - settings.kills * k // n
        return share - sum(r.kills for r in rounds if r.engine == where)

    for k, where in enumerate(settings.engines):
        with engine(where) if left(k, where) > 0 else contextlib.nullcontext("") as workers:
            while (most := left(k, where)) > 0:
                rounds.append(one(Round(where, len(rounds)), workers, settings, most))
                file.add(replace(rounds[-1], kept=[]))
                progress(sum(r.kills for r in rounds), settings.kills)
                write(out, settings, rounds)
    return driver.Outcome(file.path, rounds)


def one(this: Round, workers: str, settings: KillTestSettings, most: int) -> Round:
    """A run that is killed up to `most` times, and then runs to its end."""
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
    ends = [(result.x.tolist(), result.fun, result.nfev) for result in (straight, again)]
    this.same = ends[0] == ends[1]
    this.lost, this.doubled = straight.nfev - len(set(stored)), len(stored) - len(set(stored))
    started = [line.split()[2] for line in lines]
    this.interrupted = len(started) - len(set(started))
    this.repeated = sum(
        point in kept for position, kept in this.kept for point in started[position:]
    )
    return this


def _start(path: Path, log: Path, workers: str, seed: int, budget: int) -> subprocess.Popen:
    program = [sys.executable, "-m", "phenes_lab.bench.endurance.kill_test.program"]
    command = [*program, *map(str, (path, log, workers, seed, budget))]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


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
    """Kill one of the workers that evaluated last. False if it has ended already: its pid may by
    then belong to another process.
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
