"""The history of a long run stays small, in order, and ends with the last entry."""

import numpy as np

import phenes
from phenes.optimizer import history


def test_memory_is_bounded_and_the_ends_are_kept():
    kept = history.History()
    for k in range(1_000_000 // 10):
        kept.add(10 * k, np.zeros(2), 0.0, 0.0, 0.0, np.zeros(2), "search")
        assert len(kept.entries) < history.LIMIT
    nfev = kept.arrays()["nfev"]
    assert (nfev[0], nfev[-1]) == (0, 999_990)
    assert np.all(np.diff(nfev) > 0)
    assert len(nfev) > history.LIMIT / 4


def test_a_short_run_keeps_every_update():
    result = phenes.minimize(
        lambda x: float(np.sum(x**2)), np.ones(2), 0.5, 0.1, budget=300, seed=0
    )
    assert len(result.history["nfev"]) == result.nit
    assert result.history["nfev"][-1] == result.nfev


def test_no_event_is_lost_when_entries_are_dropped(monkeypatch):
    """Every update has one: they are kept with their number in the next entry that is."""
    monkeypatch.setattr(history, "LIMIT", 8)
    kept = history.History()
    for k in range(101):
        events = {"often": 1} | ({f"once at {k}": 1} if k in (0, 37, 99) else {})
        kept.add(k, np.zeros(2), 0.0, 0.0, 0.0, np.zeros(2), "search", events=events)
        column = kept.arrays()["event"]
        counts = [history_count(text) for text in column]
        assert sum(counts) == k + 1
    nfev = kept.arrays()["nfev"]
    assert len(column) == len(nfev)
    for at in (0, 37, 99):
        (place,) = np.flatnonzero([f"once at {at}" in text for text in column])
        assert nfev[place] >= at
        assert place == 0 or nfev[place - 1] < at


def history_count(text):
    """How often "often" happened, by the text of an entry."""
    for part in text.split("; "):
        if part.startswith("often"):
            return int(part.removeprefix("often").strip(" ()times") or 1)
    return 0


def test_the_history_says_why_the_search_stopped():
    result = phenes.minimize(
        lambda x: float(np.sum(x**2)), np.ones(2), 0.5, 0.1, budget=6000, seed=0
    )
    events = [text for text in result.history["event"] if text]
    assert len(result.history["event"]) == len(result.history["nfev"])
    assert events[0] == "Newton steps stay within the noise"
    assert "the steps of the mean are below what the noise resolves" in "; ".join(events)
