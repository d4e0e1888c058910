"""What happened, update by update, in bounded memory."""

from collections.abc import Mapping
from typing import Any

import numpy as np

NAMES = ("nfev", "x", "fun", "fun_se", "f_median", "spread", "phase")
LIMIT = 4096  # entries: more than a picture can show


class History:
    """One entry for each update; every second, fourth, ... once there are more than LIMIT.

    The last is always there. Events of entries that are dropped are kept, with their number, in the
    next entry that is not: none is lost, and memory is bounded because their texts come from a
    finite set.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[Any, ...]] = []
        self.events: list[dict[str, int]] = []  # of each entry
        self.pending: dict[str, int] = {}  # of updates since the last entry
        self.last: tuple[Any, ...] = ()
        self.count, self.stride = 0, 1

    def add(self, *entry: Any, events: Mapping[str, int] | None = None) -> None:
        """An entry in the order of NAMES; events: texts with their number."""
        self.last = entry
        _merge(self.pending, events or {})
        if self.count % self.stride == 0:
            self.entries.append(entry)
            self.events.append(self.pending)
            self.pending = {}
        if len(self.entries) >= LIMIT:
            self._thin()
        self.count += 1

    def _thin(self) -> None:
        """Keeps every second entry, and the events of all."""
        merged: list[dict[str, int]] = []
        waiting: dict[str, int] = {}
        for index, events in enumerate(self.events):
            _merge(waiting, events)
            if index % 2 == 0:
                merged.append(waiting)
                waiting = {}
        self.pending = _merge(waiting, self.pending)
        self.events = merged
        self.entries, self.stride = self.entries[::2], 2 * self.stride

    def arrays(self) -> dict[str, np.ndarray]:
        """Columns by name: those of NAMES, and "event", empty where nothing happened."""
        kept, events = self.entries, self.events
        if self.entries and self.entries[-1] is not self.last:
            kept, events = [*kept, self.last], [*events, self.pending]
        columns = {name: np.asarray([entry[k] for entry in kept]) for k, name in enumerate(NAMES)}
        return columns | {"event": np.asarray([_sentence(each) for each in events], dtype=str)}

    def means(self) -> np.ndarray:
        """Means along the way, [k, d]."""
        return np.array([entry[1] for entry in self.entries])


def _merge(into: dict[str, int], events: Mapping[str, int]) -> dict[str, int]:
    """Merges counts of events, in the order of their first."""
    for text, number in events.items():
        into[text] = into.get(text, 0) + number
    return into


def _sentence(events: Mapping[str, int]) -> str:
    parts = [text if number == 1 else f"{text} ({number} times)" for text, number in events.items()]
    return "; ".join(parts)
