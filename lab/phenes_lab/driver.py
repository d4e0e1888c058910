"""settings -> store -> figures and report: the one way in which experiments and benches are run.

Every part that is not in the store yet is computed, on all cores, and kept as soon as it is
finished. A run that was killed goes on with `resume`, and loses the parts that were being computed,
nothing else.
"""

import dataclasses
import functools
import importlib
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from phenes.store import Run, RunInfo, Store
from phenes_lab import _pinned_pool, provenance
from phenes_lab.provenance import commit
from phenes_lab.report import plain, write_json

MADE = ".made.json"  # of a file of rows: what it was made with, session by session
SESSION = "session/"  # how long it took from start to end, once for every time it was started

Progress = Callable[[int, int], Any]


def silent(done: int, total: int) -> None:
    """No progress is shown."""


class Experiment(NamedTuple):
    """A package that is run by `run`, with modules that are imported where they are needed; a small
    one is a single module that has all of it.

    name: of the runs in the store, and of its file. settings: the name of its class of settings in
    `package`.settings. The other modules:
        compute   tasks(settings) -> {key: task}, cost(settings, task) in any unit, and
                  compute(settings, task) -> arrays, which runs in a process of its own
        results   load(store) -> results
        figures   figures(results, out) -> paths
        report    report(results, out), which writes, and summary(results) for machines
    """

    name: str
    package: str
    settings: str

    def module(self, name: str) -> ModuleType:
        return _module(self.package, name)

    @property
    def settings_class(self) -> Any:
        return getattr(self.module("settings"), self.settings)

    def path(self, out: Path) -> Path:
        return out / f"{self.name}.db"


class Outcome(NamedTuple):
    """path: of the store. results: as `results.load` of the experiment has them."""

    path: Path
    results: Any


class Session(NamedTuple):
    """made: command, commit, machine and code (`provenance.made`); empty in older stores."""

    seconds: float
    parts: int
    processes: int
    made: dict[str, str] = {}  # noqa: RUF012  # nobody writes it


@dataclasses.dataclass(frozen=True)
class Loaded:
    """The last run of a store. A base of results, which add what is there of its parts."""

    settings: Any
    version: str
    status: str
    sessions: list[Session]


def last(store: Store, name: str, settings: Any) -> tuple[Run, Loaded]:
    """The run itself, and what it says of itself. settings: the class of its settings."""
    run = store.last(name)
    made = settings.from_stored(run.about.settings)
    return run, Loaded(made, run.about.version, run.about.status, sessions(run))


def parts_of(run: Run, keys: Iterable[str]) -> dict[str, dict[str, np.ndarray]]:
    """Those of the parts that are there."""
    there = run.keys()
    return {key: run[key] for key in keys if key in there}


class Slot(NamedTuple):
    """Where a part is kept: a run of the store, and its key there."""

    run: Run
    key: str


def run(
    experiment: Experiment,
    settings: Any,
    out: Path,
    resume: bool = False,
    progress: Progress = silent,
    processes: int | None = None,
) -> Outcome:
    """Run what is missing, and write figures and reports into `out`.

    settings: a frozen dataclass. progress(done, total) counts parts by what they cost. Parts that
    fail are named in the RuntimeError at the end, when all others are kept: `resume` then tries
    them again.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = experiment.path(out)
    with Store(path) as store:
        record = store.begin(experiment.name, dataclasses.asdict(settings), resume)
        say_other_commits({experiment.name: record})
        refuse(collect(experiment, settings, record, progress, processes), path)
        return conclude(experiment, store, out)


def run_each(
    experiment: Experiment,
    settings: Any,
    store: Store,
    where: Mapping[str, tuple[str, str]],
    names: Sequence[str],
    resume: bool,
    renew: Iterable[str] = (),
    progress: Progress = silent,
    processes: int | None = None,
) -> None:
    """As `run`, into a store where each contender has a run of its own, so that one can be run
    again (`renew`) and the others stay. Only `settings.conditions` have to agree: what is asked for
    grows with every call that resumes.

    where: by the key of a part of the settings, its contender and its key in that one's run. names:
    of the contenders.
    """
    again = set(renew)
    if not again <= set(names):
        raise ValueError(
            f"renew must be among the contenders {', '.join(names)}, got {', '.join(sorted(again))}"
        )
    runs = {
        name: store.begin(
            f"{experiment.name}/{name}", settings.conditions, resume and name not in again
        )
        for name in names
    }
    say_other_commits(runs)
    signed = progress
    for record in runs.values():
        signed = Signature(record, experiment.name, processes).after(signed)
    tasks = dict(zip(where, settings.parts, strict=True))
    slots = {key: Slot(runs[name], own) for key, (name, own) in where.items()}
    failed = fill(experiment, settings, tasks, slots, signed, processes)
    broken = {where[key][0] for key in failed}
    for name, record in runs.items():
        record.finish("failed" if name in broken else "done")
    refuse(failed, store.path)


def last_of_each(
    store: Store, name: str, contenders: Iterable[str]
) -> tuple[RunInfo, dict[str, Run]]:
    """The newest run of `run_each`, and of each contender the last one under the same conditions.

    name: of the experiment. contenders: in the order in which they are returned.
    """
    abouts = [about for about in store.runs() if about.experiment.startswith(f"{name}/")]
    if not abouts:
        raise ValueError(f"{store.path} holds no run of {name}")
    newest = abouts[-1]
    last = {
        about.experiment.removeprefix(f"{name}/"): about.id
        for about in abouts
        if about.settings == newest.settings
    }
    return newest, {each: store[last[each]] for each in contenders if each in last}


def part_keys(run: Run) -> list[str]:
    """The keys of a run without those of its sessions."""
    return [key for key in run if not key.startswith(SESSION)]


def say_other_commits(records: Mapping[str, Run]) -> None:
    """Warn if a run that is resumed was made with another commit."""
    by_commits: dict[tuple[str, ...], list[str]] = {}
    for name, record in records.items():
        by_commits.setdefault(tuple(other_commits(record)), []).append(name)
    for others, names in by_commits.items():
        _say(", ".join(names), others)


def _say(name: str, others: Sequence[str]) -> None:
    if others:
        warnings.warn(
            f"parts of {name} were made with commit {', '.join(others)}; this is"
            f" {commit() or 'an unknown one'}",
            stacklevel=3,
        )


def conclude(experiment: Experiment, store: Store, out: Path) -> Outcome:
    """Figures, report.md, report.html and summary.json, from results that are read once."""
    results, report = experiment.module("results").load(store), experiment.module("report")
    experiment.module("figures").figures(results, out)
    report.report(results, out)
    said = [provenance.shown(each.made) for each in all_sessions(store) if each.made]
    write_json(out / "summary.json", {**report.summary(results), "made": said})
    return Outcome(experiment.path(out), results)


def collect(
    experiment: Experiment,
    settings: Any,
    record: Run,
    progress: Progress = silent,
    processes: int | None = None,
) -> dict[str, str]:
    """Compute the parts that `record` lacks. What failed, by key, with its traceback."""
    tasks = experiment.module("compute").tasks(settings)
    slots = {key: Slot(record, key) for key in tasks}
    signed = Signature(record, experiment.name, processes).after(progress)
    failed = fill(experiment, settings, tasks, slots, signed, processes)
    record.finish("failed" if failed else "done")
    return failed


class Signature:
    """Stores that a session is, and with what: anew after every part, so that one that is stopped
    or killed has signed what it made. The code is that of its beginning. name: of the result.
    """

    def __init__(self, record: Run, name: str, processes: int | None = None):
        self.record, self.before = record, record.keys()
        self.key = f"{SESSION}{1 + sum(key.startswith(SESSION) for key in self.before)}"
        self.made = {"processes": _count(processes), **provenance.made(name)}
        self.started, self.parts = time.perf_counter(), 0

    def renew(self) -> None:
        """If there is a new part."""
        parts = len(self.record.keys() - self.before - {self.key})
        if parts > self.parts:
            self.parts = parts
            # how busy the machine was is known at the end
            machine = json.dumps(provenance.machine())
            arrays = {"parts": parts, **self.made, "machine": machine}
            self.record.write({self.key: arrays}, time.perf_counter() - self.started)

    def after(self, progress: Progress) -> Progress:
        """`progress`, with a signature before it."""

        def both(done: int, total: int) -> None:
            self.renew()
            progress(done, total)

        return both


def other_commits(record: Run) -> list[str]:
    """Commits that earlier sessions of a run were made with, if they are not the present one."""
    return _others([session.made for session in sessions(record)])


def _others(before: Iterable[Mapping[str, str]]) -> list[str]:
    names = dict.fromkeys(made.get("commit", "") for made in before)
    return [name or "an unknown one" for name in names if name != commit()]


def fill(
    experiment: Experiment,
    settings: Any,
    tasks: Mapping[str, Any],
    slots: Mapping[str, Slot],
    progress: Progress = silent,
    processes: int | None = None,
) -> dict[str, str]:
    """Compute the tasks whose slots are empty. What failed, by key, with its traceback."""
    cost = experiment.module("compute").cost
    ticks = {key: max(1, round(10 * cost(settings, task))) for key, task in tasks.items()}
    there = {slot.run.about.id: slot.run.keys() for slot in slots.values()}
    left = {
        key: tasks[key] for key, slot in slots.items() if slot.key not in there[slot.run.about.id]
    }
    total, failed = sum(ticks.values()), {}
    compute = functools.partial(_compute, experiment.package, settings)
    waiting = set(left)
    progress(total - sum(ticks[key] for key in waiting), total)
    for answer in _pinned_pool.each(compute, list(left.items()), _count(processes)):
        key = answer.task[0]
        if answer.error is None:
            slots[key].run.add(slots[key].key, answer.result, answer.seconds)
        else:
            failed[key] = answer.error
        waiting.remove(key)
        progress(total - sum(ticks[key] for key in waiting), total)
    return failed


def refuse(failed: dict[str, str], path: Path) -> None:
    """Raise an error that names the parts that failed, and the reason of the first."""
    if failed:
        first = next(iter(failed.values())).strip().splitlines()[-1]
        raise RuntimeError(
            f"{', '.join(sorted(failed))} failed and can be tried again with --resume ({first});"
            f" the rest is in {path}"
        )


def each(
    compute: Callable[[Any], Any],
    tasks: Sequence[Any],
    name: Callable[[Any], str] = str,
    progress: Progress = silent,
    processes: int | None = None,
) -> Iterator[_pinned_pool.Done]:
    """compute(task) on all cores, as they are finished; a failure, with its name, ends it."""
    progress(0, len(tasks))
    answers = _pinned_pool.each(compute, tasks, _count(processes))
    for done, answer in enumerate(answers, 1):
        if answer.error is not None:
            reason = answer.error.strip().splitlines()[-1]
            raise RuntimeError(f"{name(answer.task)} failed: {reason}")
        yield answer
        progress(done, len(tasks))


class RowFile:
    """Rows that are finished, one line of JSON each, for benches that can go on where they ended.

    The first line says what the rows depend on: other settings make other rows. A file beside it
    has what each session was made with. name: of the result.
    """

    def __init__(self, path: Path, head: Mapping[str, Any], name: str = ""):
        self.path, self.head = path, json.loads(json.dumps(head))
        self.name, self.made = name, path.with_suffix(MADE)

    def read(self, resume: bool) -> list[dict[str, Any]]:
        """Rows that are there; without `resume` the file is begun anew."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not (resume and self.path.exists()):
            self.path.write_text(json.dumps(self.head) + "\n")
            self._sign([])
            return []
        first, *lines = self.path.read_text().splitlines()
        if json.loads(first) != self.head:
            raise ValueError(
                f"{self.path} was made with {first}, not with {json.dumps(self.head)}: give the"
                " same, another --out, or no --resume"
            )
        # the last one of a run that was killed may be half
        whole = [line for line in lines if line.endswith("}")]
        self.path.write_text("\n".join([first, *whole]) + "\n")
        self._sign(json.loads(self.made.read_text()) if self.made.exists() else [{}])
        return [json.loads(line) for line in whole]

    def _sign(self, before: list[dict[str, str]]) -> None:
        """Keep what this session is made with, and say so if others were made with other code."""
        _say(self.name or self.path.name, _others(before))
        write_json(self.made, [*before, provenance.made(self.name)])

    def add(self, row: Any) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(plain(row)) + "\n")


def sessions(record: Run) -> list[Session]:
    seconds = record.seconds()
    parts = {key: record[key] for key in record if key.startswith(SESSION)}
    return [
        Session(
            seconds[key],
            int(part["parts"]),
            int(part["processes"]),
            {name: str(part[name]) for name in provenance.FIELDS if name in part},
        )
        for key, part in parts.items()
    ]


def all_sessions(store: Store) -> list[Session]:
    """Of the last run of every experiment in a store."""
    names = dict.fromkeys(about.experiment for about in store.runs())
    return [session for name in names for session in sessions(store.last(name))]


def keys_of(settings: Any) -> Any:
    """A JAX key for each seed, [seeds]."""
    import jax

    key, seeds = jax.random.key(settings.seed), jax.numpy.arange(settings.seeds)
    return jax.vmap(lambda seed: jax.random.fold_in(key, seed))(seeds)


def double_precision() -> None:
    """For a worker, whose JAX is its own."""
    import jax

    jax.config.update("jax_enable_x64", True)


def _count(processes: int | None) -> int:
    return processes or _pinned_pool.count()


def _compute(package: str, settings: Any, task: tuple[str, Any]) -> dict[str, np.ndarray]:
    """In a worker, which imports what computes and nothing that draws or writes."""
    double_precision()
    return _module(package, "compute").compute(settings, task[1])


def _module(package: str, name: str) -> ModuleType:
    home = importlib.import_module(package)
    return importlib.import_module(f"{package}.{name}") if hasattr(home, "__path__") else home
