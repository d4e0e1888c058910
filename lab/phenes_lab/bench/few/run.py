"""settings -> store: every part that is not there yet, kept as soon as it is finished.

Each contender has a run of its own in the store; problems, budgets and seeds grow with every call
that resumes.
"""

from collections.abc import Iterable
from pathlib import Path

from phenes.store import Store
from phenes_lab import driver
from phenes_lab.bench.few import FEW
from phenes_lab.bench.few.contenders import check_installed
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
    check_installed(settings.contenders)
    out.mkdir(parents=True, exist_ok=True)
    where = {f"{part.contender}/{part.key}": (part.contender, part.key) for part in settings.parts}
    with Store(FEW.path(out)) as store:
        driver.run_each(
            FEW, settings, store, where, settings.contenders, resume, renew, progress, processes
        )
        return driver.conclude(FEW, store, out)
