"""What a user waits for: the first call from a cold start, and ask and tell beside peers."""

import io
import json

import pytest
from phenes_lab.bench.speed import startup
from phenes_lab.bench.speed.startup import StartupSettings
from phenes_lab.report import rows_as_json
from rich.console import Console

SMALL = StartupSettings(repeats=1, budget=600, wide=5, popsize=10, evaluations=300, rounds=2)


@pytest.fixture(scope="module")
def rows():
    calls = []
    rows = startup.run(SMALL, lambda done, total: calls.append((done, total)))
    assert calls == [(k, 5) for k in range(1, 6)]
    return rows


@pytest.mark.tier("lab")
def test_the_start_is_measured_with_import_and_apart(rows):
    imported, first, both, second, whole = (row.seconds for row in rows if row.section == "start")
    assert both == pytest.approx(imported + first)
    assert 0 < second < whole
    assert both < whole
    assert any("600 evaluations" in row.name for row in rows)


@pytest.mark.tier("lab")
def test_ask_and_tell_are_ratios_to_phenes(rows):
    pytest.importorskip("cma")
    pytest.importorskip("cmaes")
    timed = [row for row in rows if row.section != "start"]
    assert [row.name for row in timed] == ["phenes", "pycma", "cmaes"] * 2
    assert all(row.low <= row.seconds <= row.high and row.ratio > 0 for row in timed)
    assert all(row.ratio == 1 for row in timed if row.name == "phenes")


@pytest.mark.tier("lab")
def test_json_and_table(rows):
    data = rows_as_json("start", rows)
    assert json.loads(json.dumps(data)) == data
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(startup.table(rows))
    text = console.export_text()
    assert all(row.name in text for row in rows)


def test_a_first_call_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(startup, "COLD", "raise KeyError('no such thing')")
    with pytest.raises(RuntimeError, match="no such thing"):
        startup._cold(SMALL)


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"evaluations": 100}])
def test_misuse_is_a_value_error(wrong):
    with pytest.raises(ValueError, match=r"must be .*at least"):
        StartupSettings(**wrong)
