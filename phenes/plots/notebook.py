"""A figure that notebooks show, whether or not pyplot has been loaded."""

import io

import matplotlib
from matplotlib.figure import Figure

from phenes.plots import STYLE


class Picture(Figure):
    """A matplotlib Figure.

    Those made without pyplot are not shown by notebooks, and pyplot keeps all that it makes.
    """

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        with matplotlib.rc_context(STYLE):
            self.savefig(file, format="png", dpi=100, facecolor="white")
        return file.getvalue()
