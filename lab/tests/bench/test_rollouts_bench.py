"""Rollouts beside Gymnasium's synchronous vector environment: the same job, counted in two ways."""

import io
import json

import jax
import numpy as np
import pytest
from phenes_lab.bench import rollouts
from phenes_lab.bench.speed.rollout_speed import Settings
from rich.console import Console

pytestmark = pytest.mark.machine

SMALL = Settings(environments=("CartPole-v1",), popsize=6, limit=40, repeats=1)


@pytest.fixture(scope="module")
def rows():
    calls = []
    rows = rollouts.run(SMALL, lambda done, total: calls.append((done, total)))
    assert calls == [(0, 2), (1, 2), (2, 2)]
    return rows


def test_both_sides_are_measured(rows):
    untrained, balancing = rows
    assert untrained.length < balancing.length == 40
    for row in rows:
        assert row.ours > 0
        assert row.ratio == pytest.approx(row.gymnasium / row.ours)
        assert row.least <= row.ratio * (1 + 1e-9)


def test_steps_are_counted_until_the_last_episode_has_ended():
    from phenes.rl import rollouts as ours

    with jax.enable_x64(False):
        job = rollouts._job(SMALL, ours.spaces("CartPole-v1"), "untrained", 40)
        counted, taken = rollouts._synchronous(job)()
    assert counted <= taken
    assert taken % 6 == 0
    assert np.asarray(job.theta).dtype == np.float32


def test_json_and_table(rows):
    data = rollouts.as_json(rows)
    assert json.loads(json.dumps(data)) == data
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(rollouts.table(rows))
    assert "balancing" in console.export_text()


def test_misuse_is_a_value_error():
    with pytest.raises(ValueError, match="repeats must be"):
        Settings(repeats=0)
