"""The model of the lab's campaign after five weeks, and its next batch."""

from blocks import DOCS, namespace
from matplotlib.figure import Figure


def figure() -> Figure:
    return namespace(DOCS / "lab.md", 6)["figure"]
