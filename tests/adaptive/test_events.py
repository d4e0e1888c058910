"""Turning points, in bounded memory."""

from phenes.adaptive.events import Events


def test_events_are_counted_in_their_order_and_taken_once():
    events = Events()
    for text in ("b", "a", "b"):
        events.add(text)
    taken = events.take()
    assert list(taken.items()) == [("b", 2), ("a", 1)]
    assert events.take() == {}


def test_memory_is_bounded_if_nobody_reads():
    events = Events()
    for _ in range(10_000):
        events.add("restart: ended elsewhere")
    assert events.take() == {"restart: ended elsewhere": 10_000}
