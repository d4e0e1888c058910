"""settings -> store: every part that is not there yet, kept as soon as it is finished.

Each contender has a run of its own in the store, so that one of them can be run again (`renew`) and
the others stay. Problems, budgets and seeds grow with every call that resumes.
"""

from collections.abc import Iterable
from pathlib import Path

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.bench.few import FEW
from phenes_lab.bench.few.contenders import check_installed
from phenes_lab.bench.few.results import EXPERIMENT
from phenes_lab.bench.few.settings import FewSettings


def run(
    settings: FewSettings,
    out: Path,
    resume: bool = False,
    renew: Iterable[str] = (),
    progress: driver.Progress = driver.silent,
    processes: int | None = None,
) -> driver.Outcome:
    """As `driver.run`. renew: contenders that are run again although they have results."""
    renew = set(renew)
    if not renew <= set(settings.contenders):
        raise ValueError(
            f"renew must be among the contenders {', '.join(settings.contenders)}, got"
            f" {', '.join(sorted(renew))}"
        )
    check_installed(settings.contenders)
    out.mkdir(parents=True, exist_ok=True)
    path = FEW.path(out)
    with Store(path) as store:
        runs = {
            name: store.begin(EXPERIMENT + name, settings.conditions, resume and name not in renew)
            for name in settings.contenders
        }
        tasks = {f"{part.contender}/{part.key}": part for part in settings.parts}
        slots = {key: driver.Slot(runs[part.contender], part.key) for key, part in tasks.items()}
        failed = driver.fill(FEW, settings, tasks, slots, progress, processes)
        for name, record in runs.items():
            record.finish("failed" if any(key.startswith(f"{name}/") for key in failed) else "done")
        driver.refuse(failed, path)
        return driver.conclude(FEW, store, out)
