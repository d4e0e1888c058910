"""The design of a spring: how its quality scatters, and which tolerance causes that."""

from blocks import DOCS, namespace
from matplotlib.figure import Figure


def figure() -> Figure:
    return namespace(DOCS / "space.md", 2)["figure"]
