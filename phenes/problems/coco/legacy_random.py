"""The random numbers of BBOB-2009, which fix every instance of the suite.

All of it runs on the host in float64: an instance is made once and then only evaluated.
"""

import math

import numpy as np

_MODULUS = 2**31 - 1
_MULTIPLIER = 16807
_TABLE_SIZE = 32
_WARM_UP = 40
_BIN_WIDTH = 67108865  # splits [0, 2^31 - 1) into the 32 slots of the table


def uniform(count: int, seed: int) -> np.ndarray:
    """Draws numbers in (0, 1), shape [count], from a Lehmer generator with Bays-Durham shuffling.

    The state follows s <- 16807 s mod (2^31 - 1). Each draw takes the table entry that the previous
    draw points to and puts the new state in its place.
    """
    state = max(abs(seed), 1)
    warm_up = []
    for _ in range(_WARM_UP):
        state = state * _MULTIPLIER % _MODULUS
        warm_up.append(state)
    table = warm_up[: -_TABLE_SIZE - 1 : -1]  # the last 32 states, latest first
    drawn = table[0]
    draws = []
    for _ in range(count):
        state = state * _MULTIPLIER % _MODULUS
        slot = drawn // _BIN_WIDTH
        drawn = table[slot]
        table[slot] = state
        draws.append(drawn)
    # Zero becomes a tiny number so that the logarithm in `gaussian` stays finite.
    return np.maximum(np.array(draws, dtype=np.float64) / _MODULUS, 1e-99)


def gaussian(count: int, seed: int) -> np.ndarray:
    """Draws `count` standard normal numbers, shape [count], by Box and Muller's cosine formula."""
    numbers = uniform(2 * count, seed).tolist()
    # The scalar functions of `math` round like those of the official C code; NumPy's may differ in
    # the last bit.
    pairs = zip(numbers[:count], numbers[count:], strict=True)
    normal = np.array(
        [
            math.sqrt(-2 * math.log(radius)) * math.cos(2 * math.pi * angle)
            for radius, angle in pairs
        ]
    )
    return np.where(normal == 0, 1e-99, normal)


def rotation(seed: int, dim: int) -> np.ndarray:
    """Draws an orthogonal matrix [dim, dim] by Gram-Schmidt on the columns of a Gaussian matrix.

    This is modified Gram-Schmidt in the order that cleans all later columns at once: every column
    still sees the same subtractions in the same order as when the columns are finished one after
    the other. All sums run from first to last like in the official code, for where columns are
    nearly dependent, the matrix amplifies differences in rounding by orders of magnitude.
    """
    matrix = np.ascontiguousarray(gaussian(dim * dim, seed).reshape(dim, dim).T)
    for i in range(dim):
        column, rest = matrix[:, i : i + 1], matrix[:, i + 1 :]
        column /= np.sqrt(_sequential_sum(column * column))
        rest -= _sequential_sum(rest * column) * column
    return matrix


def _sequential_sum(terms: np.ndarray) -> np.ndarray:
    """Sum over the first axis from first to last, unlike np.sum, which may add in pairs."""
    return np.cumsum(terms, axis=0)[-1]


def location(seed: int, dim: int) -> np.ndarray:
    """Draws a point [dim] of the grid with step 8e-4 in [-4, 4), without zero coordinates."""
    point = 8 * np.floor(1e4 * uniform(dim, seed)) / 1e4 - 4
    return np.where(point == 0, -1e-5, point)


def offset(seed: int) -> float:
    """Draws an optimal value: 100 times a Cauchy number, to two decimals, within [-1000, 1000]."""
    ratio = gaussian(1, seed).item() / gaussian(1, seed + 1).item()
    return float(np.clip(np.floor(1e4 * ratio + 0.5) / 100, -1000, 1000))
