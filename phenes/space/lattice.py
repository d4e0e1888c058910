"""Which vectors there are, where some coordinates are whole numbers or one of some options."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phenes._validate import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Lattice:
    """Coordinates that take some values only.

    Parameters
    ----------
    dim : int
        Number of coordinates d.
    integers : ndarray of int
        Coordinates that are whole numbers.
    choices : tuple of ndarray of int
        For each choice its coordinates, of which one is 1 and the others are 0.

    Examples
    --------
    >>> import numpy as np
    >>> lattice = Lattice(4, np.array([0]), (np.array([2, 3]),))
    >>> lattice.snap(np.array([[1.7, 0.3, 0.2, 0.6]])).tolist()
    [[2.0, 0.3, 0.0, 1.0]]
    """

    dim: int
    integers: IntArray
    choices: tuple[IntArray, ...]

    @property
    def plain(self) -> bool:
        """Whether all coordinates are real numbers."""
        return not self.integers.size and not self.choices

    @property
    def chosen(self) -> BoolArray:
        """Which coordinates belong to choices, (d,)."""
        mask = np.zeros(self.dim, bool)
        for block in self.choices:
            mask[block] = True
        return mask

    @property
    def fixed(self) -> BoolArray:
        """Which coordinates are not real numbers, (d,)."""
        mask = self.chosen
        mask[self.integers] = True
        return mask

    def snap(self, rows: FloatArray) -> FloatArray:
        """The nearest vectors that there are.

        Parameters
        ----------
        rows : ndarray, shape (n, d) or (d,)

        Returns
        -------
        ndarray
            A copy, of the same shape.
        """
        out = np.array(rows, dtype=np.float64)
        out[..., self.integers] = np.rint(out[..., self.integers])
        for block in self.choices:
            best = np.argmax(out[..., block], axis=-1)
            out[..., block] = np.eye(block.size)[best]
        return out
