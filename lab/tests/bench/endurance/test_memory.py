"""The bench of memory measures what it says; `phenes bench memory` goes on to a million
evaluations.
"""

import pytest
from phenes_lab.bench.endurance import memory

from tests.optimised import measured


@pytest.mark.tier("lab")
def test_a_short_run_is_measured_in_a_process_of_its_own():
    (row,) = memory.run(
        memory.MemorySettings(marks=(40, 80), kinds=("with a checkpoint",), dim=2, popsize=20)
    )
    assert row.evaluations == (40, 80)
    assert all(20 < size < 5000 for size in row.megabytes)
    assert memory.table([row]).row_count == 1
    said = memory.as_json([row])
    assert said["benchmark"] == "memory"
    assert set(said["rows"][0]["megabytes"]) == {"40", "80"}


def test_what_is_held_is_seen():
    """In a fresh process: this one may have free pages left from earlier tests."""
    grown = measured(
        "import numpy as np; from phenes_lab.bench.endurance import memory;"
        " before = memory.resident(); held = np.ones(100_000_000 // 8);"
        " print(memory.resident() - before)"
    )
    assert 90 < grown < 130


def test_ask_and_tell_passes_all_marks():
    found = memory.measure("ask and tell", memory.MemorySettings(marks=(20, 60), dim=2, popsize=20))
    assert [mark for mark, _ in found] == [20, 60]


def test_misuse():
    with pytest.raises(ValueError, match="kinds must be of in memory"):
        memory.MemorySettings(kinds=("on tape",))
