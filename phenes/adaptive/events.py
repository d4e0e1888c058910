"""Events of the search, as sentences with their count: memory is bounded if none is read."""


class Events:
    """What happened since `take` was last called."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, text: str) -> None:
        """Counts one more event of this text; texts come from a finite set."""
        self._counts[text] = self._counts.get(text, 0) + 1

    def take(self) -> dict[str, int]:
        """Returns events with their counts, in the order of their first, and forgets them."""
        counts = self._counts
        self._counts = {}
        return counts
