"""Steps of episodes compiled from a table, beside Gymnasium's loop."""

import pytest
from phenes_lab.bench.speed.tabular_speed import (
    TabularSpeedRow,
    TabularSpeedSettings,
    table,
)

from tests.optimised import measured


@pytest.mark.machine
@pytest.mark.tier("lab")
def test_compiled_steps_are_many_times_as_fast_as_gymnasium():
    """In one run, the fastest of several of both. `phenes bench steps` shows over 50 on a calm
    machine; here others may be at work.
    """
    settings = TabularSpeedSettings(
        environments=("FrozenLake-v1",), popsizes=(1000,), loop=4000, repeats=5
    )
    code = "import json\nfrom phenes_lab.bench.speed.tabular_speed import *\n"
    rows = [
        TabularSpeedRow(**row)
        for row in measured(f"{code}print(json.dumps([vars(row) for row in run({settings!r})]))")
    ]
    assert rows[0].ratio >= 15, rows
    assert rows[0].environment == "FrozenLake-v1"
    assert table(rows).row_count == 1


def test_misuse_is_a_value_error():
    with pytest.raises(ValueError, match="repeats must be"):
        TabularSpeedSettings(repeats=0)
