"""The benches of evaluation run, and their tables say what was measured. No times are asserted:
machines are busy.
"""

import numpy as np
from phenes_lab.bench.endurance import asynchronous, workers
from phenes_lab.report import rows_as_json


def test_the_table_of_engines():
    rows = workers.run(
        workers.WorkersSettings(
            popsize=4, few=2, short=0.0, long=0.001, repeats=1, engines=("loky",)
        )
    )
    assert [row.engine for row in rows] == ["1 process", "loky"]
    assert all(
        np.isfinite([row.speedup, row.waiting]).all() and min(row.speedup, row.waiting) > 0
        for row in rows
    )
    assert workers.table(rows).row_count == 2
    said = rows_as_json("workers", [workers.WorkersRow("ray", np.nan, np.nan, np.nan)])
    assert said["rows"][0]["speedup"] is None


def test_not_waiting_saves_time_on_a_simulated_clock():
    """With ten workers and a population of ten, generations wait for the slowest of ten: fixed
    seeds, no clock of this machine.
    """
    settings = asynchronous.AsynchronousSettings(dim=5, workers=(10,), seeds=3, budget=1500)
    rows = asynchronous.run(settings)
    assert all(row.reached == 3 for row in rows)
    assert all(row.time < 1 for row in rows)
    assert asynchronous.table(rows).row_count == 3


def test_one_worker_waits_for_nobody():
    """The same evaluations follow each other: evaluations and time go together."""
    ends = asynchronous.solve(
        asynchronous.Function(np.ones(3)), 1, 0, asynchronous.AsynchronousSettings(), False
    )
    assert np.isfinite(ends).all()
