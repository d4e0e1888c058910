"""The bench of tables: Q-learning learns, and rows say who was there first."""

import numpy as np
import pytest
from phenes_lab.bench import tables
from phenes_lab.bench.tables import TASKS, TablesRow, TablesSettings


@pytest.mark.tier("lab")
def test_q_learning_learns_the_cliff():
    """It is a fair rival: the shortest way within 1000 episodes, both ways of exploring."""
    for falls in (False, True):
        found = tables.q_learning(TASKS["CliffWalking-v1"], 0, 1000, falls)
        assert found.values[-1] == -13
        assert found.values[0] < -13 or found.episodes[0] == tables.LOOK


@pytest.mark.tier("lab")
def test_rows_and_table():
    rows = tables.run(TablesSettings(environments=("CliffWalking-v1",), seeds=1, episodes=300))
    assert [row.contender for row in rows] == list(tables.CONTENDERS)
    ours = rows[0]
    assert ours.reached[0] is not None
    assert ours.last == (-13.0,)
    assert tables.table(rows).row_count == 3
    said = tables.as_json(
        [*rows, TablesRow("Taxi-v4", "phenes", (100, None), (1.0, 1.0), (7.9, 0.0))]
    )
    assert said["solved"] == {"CliffWalking-v1": True, "Taxi-v4": False}


def test_targets_are_not_above_the_best():
    for task in TASKS.values():
        assert task.target <= task.best
        assert np.isfinite(task.best)


def test_misuse():
    with pytest.raises(ValueError, match="environments must be of"):
        TablesSettings(environments=("Chess",))
    with pytest.raises(ValueError, match="episodes must be at least 100"):
        TablesSettings(episodes=10)
