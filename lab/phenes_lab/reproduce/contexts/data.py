"""Data sets that come with scikit-learn, and a made-up one in the plane whose regions are known.
One split for each seed.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

CELLS = 100  # of the discretised digits
TEST = 0.25  # share of the examples that is kept for testing


class Split(NamedTuple):
    """Contexts c [seeds, n, d] and labels [seeds, n], to learn from and to test on. region: which
    rule made the label, where known.
    """

    train_c: np.ndarray
    train_y: np.ndarray
    test_c: np.ndarray
    test_y: np.ndarray
    labels: int
    test_region: np.ndarray | None = None


def _sklearn(name: str) -> Any:
    try:
        import sklearn.datasets

        return getattr(sklearn.datasets, name)(return_X_y=True)
    except ModuleNotFoundError as error:
        raise RuntimeError("this experiment needs scikit-learn: pip install -e ./lab") from error


def _split(c: np.ndarray, y: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, ...]:
    order = generator.permutation(len(y))
    held = round(TEST * len(y))
    return c[order[held:]], y[order[held:]], c[order[:held]], y[order[:held]]


def _with_one(c: np.ndarray) -> np.ndarray:
    """The constant as one more feature: all methods are then linear without a bias."""
    return np.concatenate([c, np.ones((len(c), 1))], axis=1)


def _digits(generator: np.random.Generator) -> tuple[np.ndarray, ...]:
    c, y = _sklearn("load_digits")
    return _split(_with_one(c / 16), y, generator)


def _wine(generator: np.random.Generator) -> tuple[np.ndarray, ...]:
    c, y = _sklearn("load_wine")
    train_c, train_y, test_c, test_y = _split(c, y, generator)
    mean, std = train_c.mean(axis=0), train_c.std(axis=0)
    return _with_one((train_c - mean) / std), train_y, _with_one((test_c - mean) / std), test_y


def _cells(generator: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Digits as discrete contexts: the cell of a k-means partition, made without labels, one-hot. A
    linear policy is then a table.
    """
    from sklearn.cluster import KMeans

    train_c, train_y, test_c, test_y = _digits(generator)
    cells = KMeans(CELLS, n_init=1, random_state=int(generator.integers(2**31)))  # pyright: ignore[reportArgumentType]
    cells.fit(train_c)
    one_hot = np.eye(CELLS)
    return one_hot[cells.predict(train_c)], train_y, one_hot[cells.predict(test_c)], test_y


CENTRES = 0.5 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])


def region_of(c: np.ndarray) -> np.ndarray:
    """The quadrant of a point in the plane."""
    return np.argmax(c[..., :2] @ CENTRES.T, axis=-1)


def label_of(c: np.ndarray) -> np.ndarray:
    """Three wedges around the middle of the quadrant, turned by half a right angle and renamed from
    one quadrant to the next.
    """
    g = region_of(c)
    angle = np.arctan2(*np.moveaxis(c[..., :2] - CENTRES[g], -1, 0)[::-1]) + g * np.pi / 4
    return (np.floor(3 * (angle % (2 * np.pi)) / (2 * np.pi)).astype(int) + g) % 3


def _regions(generator: np.random.Generator) -> tuple[np.ndarray, ...]:
    c = _with_one(generator.uniform(-1, 1, size=(4000, 2)))
    return _split(c, label_of(c), generator)


MAKERS: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, ...]]] = {
    "digits": _digits,
    "cells": _cells,
    "wine": _wine,
    "regions": _regions,
}
ABOUT = {
    "digits": "digits of scikit-learn: 64 pixels and a constant, 10 labels",
    "cells": (
        f"digits as discrete contexts: which of {CELLS} cells of a k-means partition, so that a"
        " policy is a table"
    ),
    "wine": "wine of scikit-learn: 13 standardised features and a constant, 3 labels",
    "regions": "points in a square; each quadrant has a linear rule of its own for 3 labels",
}


@functools.cache
def load(name: str, seeds: int, seed: int) -> Split:
    """A split for each seed, the same for all methods."""
    each = [MAKERS[name](np.random.default_rng([seed, k])) for k in range(seeds)]
    train_c, train_y, test_c, test_y = (np.stack(arrays) for arrays in zip(*each, strict=True))
    return Split(
        train_c,
        train_y,
        test_c,
        test_y,
        int(train_y.max()) + 1,
        region_of(test_c) if name == "regions" else None,
    )
