"""Make the store of a result small enough to be committed: some arrays in half precision.

    python tools/slim.py out/contexts/contexts.db results/contexts/contexts.db gate

Everything else stays as it is, signatures of sessions included. A summary that would be another one
is refused.
"""

import sys
from pathlib import Path

import numpy as np
from phenes_lab import driver
from phenes_lab.reproduce import experiment

from phenes.store import Store


def slim(source: Path, target: Path, names: set[str]) -> None:
    """The last run of `source`, its arrays of these names in half precision, as a new store."""
    if target.exists():
        raise ValueError(f"{target} is there already")
    name = source.stem
    with Store(source, create=False) as old, Store(target) as new:
        run = old.last(name)
        copy, seconds = new.begin(name, run.about.settings), run.seconds()
        for key in run:
            arrays = {
                what: array.astype(np.float16) if what in names else array
                for what, array in run[key].items()
            }
            copy.add(key, arrays, seconds[key])
        copy.finish(run.about.status)
        before, after = (_summary(name, store) for store in (old, new))
    if before != after:
        target.unlink()
        raise ValueError("the summary would be another one")


def _summary(name: str, store: Store) -> dict:
    this = experiment(name)
    results = this.module("results").load(store)
    return driver.plain(this.module("report").summary(results))


if __name__ == "__main__":
    slim(Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:]))
