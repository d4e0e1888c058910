"""The bench of memory measures what it says; `phenes bench memory` goes on to a million evaluations."""

import numpy as np
import pytest

from phenes.bench import memory


def test_a_short_run_is_measured_in_a_process_of_its_own():
    (row,) = memory.run(memory.Settings(marks=(40, 80), kinds=("with a checkpoint",), dim=2, popsize=20))
    assert row.evaluations == (40, 80)
    assert all(20 < size < 5000 for size in row.megabytes)
    assert memory.table([row]).row_count == 1
    assert set(memory.as_json([row])["rows"][0]["megabytes"]) == {"40", "80"}


def test_what_is_held_is_seen():
    before = memory.resident()
    held = np.ones(30_000_000 // 8)
    assert 25 < memory.resident() - before < 60
    assert held.size


def test_ask_and_tell_passes_all_marks():
    found = memory.measure("ask and tell", memory.Settings(marks=(20, 60), dim=2, popsize=20))
    assert [mark for mark, _ in found] == [20, 60]


def test_misuse():
    with pytest.raises(ValueError, match="kinds must be of in memory"):
        memory.Settings(kinds=("on tape",))
