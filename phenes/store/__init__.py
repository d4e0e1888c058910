"""The run record: one SQLite file in WAL mode with the settings and the parts of every run.

It is used like this::

    with store.Store(path) as record:
        run = record.begin("bbob", settings, resume=True)     # the run to go on with, or a new one
        for part in parts:
            if part.key not in run.keys():
                run.add(part.key, {"gap": gap}, seconds)        # on disk when this returns
        run.finish()
    arrays = run["f07/PAES"]

A part is a dictionary of NumPy arrays. Files hold data only: settings as JSON, arrays in NumPy's
npz form without pickled objects. A process that is killed loses the part it was working on and
nothing else; others may read while one writes, but two cannot write one run.
"""

from phenes.store.export import export
from phenes.store.file import OtherSettings, RunInfo, Store, Stored
from phenes.store.run import Run

__all__ = ["OtherSettings", "Run", "RunInfo", "Store", "Stored", "export"]
