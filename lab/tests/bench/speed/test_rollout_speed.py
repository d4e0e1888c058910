"""Rollouts beside Gymnasium's synchronous vector environment: the same job, counted in two ways."""

import io
import json

import jax
import numpy as np
import pytest
from phenes_lab.bench.speed import rollout_speed
from phenes_lab.bench.speed.rollout_speed import RolloutSpeedSettings
from phenes_lab.report import rows_as_json
from rich.console import Console

SMALL = RolloutSpeedSettings(environments=("CartPole-v1",), popsize=6, limit=40, repeats=1)


@pytest.fixture(scope="module")
def rows():
    calls = []
    rows = rollout_speed.run(SMALL, lambda done, total: calls.append((done, total)))
    assert calls == [(0, 2), (1, 2), (2, 2)]
    return rows


@pytest.mark.tier("lab")
def test_both_sides_are_measured(rows):
    untrained, balancing = rows
    assert untrained.length < balancing.length == 40
    for row in rows:
        assert row.ours > 0
        assert row.ratio == pytest.approx(row.gymnasium / row.ours)
        assert row.least <= row.ratio * (1 + 1e-9)


@pytest.mark.tier("lab")
def test_steps_are_counted_until_the_last_episode_has_ended():
    from phenes.rl import rollouts as ours

    with jax.enable_x64(False):
        job = rollout_speed._job(SMALL, ours.spaces("CartPole-v1"), "untrained", 40)
        counted, taken = rollout_speed._synchronous(job)()
    assert counted <= taken
    assert taken % 6 == 0
    assert np.asarray(job.theta).dtype == np.float32


@pytest.mark.tier("lab")
def test_json_and_table(rows):
    data = rows_as_json("rollouts", rows)
    assert json.loads(json.dumps(data)) == data
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(rollout_speed.table(rows))
    assert "balancing" in console.export_text()


def test_misuse_is_a_value_error():
    with pytest.raises(ValueError, match="repeats must be"):
        RolloutSpeedSettings(repeats=0)
