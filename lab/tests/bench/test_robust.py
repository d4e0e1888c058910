"""The published problems with noisy inputs, from settings to rows."""

import io
import json

import numpy as np
import pytest
from phenes_lab.bench import robust
from phenes_lab.bench.robust import CONTENDERS, RobustSettings, Task
from rich.console import Console

from phenes.problems.robust import ROBUST, SINE

TINY = RobustSettings(seeds=3, evaluations=(20, 100, 400))


@pytest.fixture(scope="module")
def rows(inline_module):
    pytest.importorskip("cmaes")
    calls = []
    rows = robust.run(TINY, lambda done, total: calls.append((done, total)))
    assert calls == [(k, 24) for k in range(25)]
    return rows


@pytest.mark.tier("lab")
def test_every_contender_on_every_problem(rows):
    assert [(row.problem, row.contender) for row in rows] == [
        (p.name, c) for p in ROBUST for c in CONTENDERS
    ]
    for row in rows:
        assert np.all(np.array(row.low) <= row.median)
        assert np.all(np.array(row.median) <= row.high)
        assert min(row.low) > -1e-8  # nothing is better than the optimum


@pytest.mark.tier("lab")
def test_phenes_gets_close_to_the_optimum(rows):
    """After 400 evaluations of the easy one; the full figures are those of the command."""
    ours = next(
        row for row in rows if (row.problem, row.contender) == ("mixture of Gaussians", "phenes")
    )
    assert ours.median[-1] < 0.05


def test_regret_is_that_of_what_was_known(monkeypatch):
    """cmaes has generations of four in one dimension: with three evaluations nothing but the start
    is known.
    """
    pytest.importorskip("cmaes")
    seen = []
    monkeypatch.setattr(
        type(SINE), "regret", lambda self, points: seen.append(points) or np.zeros(len(points))
    )
    robust.regrets(RobustSettings(seeds=1, evaluations=(1, 3, 4)), Task(0, "cmaes"))
    points = seen[0]
    np.testing.assert_array_equal(points[0], points[1])
    assert points[2] != points[1]


@pytest.mark.tier("lab")
def test_json_and_table(rows):
    data = robust.as_json(rows)
    assert json.loads(json.dumps(data)) == data
    assert set(data["reached"]) == set(data["asked"]) == {p.name for p in ROBUST}
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(robust.table(rows))
    text = console.export_text()
    assert all(name in text for name in (*CONTENDERS, *(p.name for p in ROBUST)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"seeds": 0}, "seeds must be"), ({"evaluations": (100, 50)}, "must be positive and rise")],
)
def test_misuse_is_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        RobustSettings(**wrong)
