"""What callers hand in, checked once: a ValueError of one sentence says what was given and what was
expected.
"""

from typing import Any

import numpy as np


def start(x0: Any, sigma0: Any) -> tuple[np.ndarray, np.ndarray]:
    """x0 [d] and sigma0, one number or [d]."""
    centre, scale = numbers("x0", x0), numbers("sigma0", sigma0)
    if centre.ndim > 1 or centre.size == 0:
        raise ValueError(
            f"x0 must be a vector of at least one coordinate, got shape {centre.shape}"
        )
    centre = np.atleast_1d(centre)
    if scale.ndim and scale.shape != centre.shape:
        raise ValueError(
            f"sigma0 must be one number or have shape {centre.shape} to match x0, got shape"
            f" {scale.shape}"
        )
    if not np.all(np.isfinite(centre)):
        raise ValueError(f"x0 must be finite, got {centre}")
    if not (np.all(np.isfinite(scale)) and np.all(scale > 0)):
        raise ValueError(f"sigma0 must be positive, got {sigma0!r}")
    return centre, scale


def box(bounds: Any, x0: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(lower, upper), each [d], of `bounds`: (low, high) numbers or vectors, d pairs as in SciPy
    (None is open), scipy.optimize.Bounds.
    """
    if bounds is None:
        return None, None
    d = x0.size
    if hasattr(bounds, "lb"):
        bounds = (np.asarray(bounds.lb), np.asarray(bounds.ub))
    try:
        parts = [list(np.atleast_1d(np.array(part, dtype=object))) for part in bounds]
    except TypeError:
        raise ValueError(f"bounds must be (low, high) or {d} pairs, got {bounds!r}") from None
    are_pairs = len(parts) == d and all(len(part) == 2 for part in parts)
    # in two dimensions both readings are possible: arrays are sides, lists and tuples are a pair
    # for each coordinate, as in SciPy
    arrays = not isinstance(bounds, np.ndarray) and any(
        isinstance(part, np.ndarray) for part in bounds
    )
    are_sides = (
        len(parts) == 2 and all(len(part) in (1, d) for part in parts) and (arrays or not are_pairs)
    )
    if not (are_sides or are_pairs):
        raise ValueError(f"bounds must be (low, high) or {d} pairs to match x0, got {bounds!r}")
    columns = parts if are_sides else list(zip(*parts, strict=True))
    lower, upper = (
        np.broadcast_to(_side(side, open_), (d,)).copy()
        for side, open_ in zip(columns, (-np.inf, np.inf), strict=True)
    )
    if not np.all(lower < upper):
        raise ValueError(f"bounds must have low below high, got {lower} and {upper}")
    if np.any(x0 < lower) or np.any(x0 > upper):
        raise ValueError(f"x0 must lie within bounds, got {x0} outside {lower} to {upper}")
    return lower, upper


def _side(values: Any, open_: float) -> np.ndarray:
    side = numbers("bounds", [open_ if value is None else value for value in values])
    if np.any(np.isnan(side)):
        raise ValueError(f"bounds must be numbers or None, got {list(values)!r}")
    return side


def popsize(value: Any) -> int | None:
    return None if value is None else whole("popsize", value, 2)


def budget(value: Any, dim: int) -> int:
    """Evaluations; by default enough for a smooth function in this dimension."""
    return 1000 * (dim + 10) if value is None else whole("budget", value, 1)


def verify(value: Any, budget: int) -> int | None:
    """Evaluations kept for the verification; None: a share of the budget, 0: none."""
    if value is None:
        return None
    count = whole("verify", value, 0)
    if count >= budget:
        raise ValueError(
            f"verify must be less than the budget of {budget} evaluations, got {value!r}"
        )
    return count


def seed(value: Any) -> int:
    return whole("seed", value, 0)


def target(value: Any) -> float | None:
    if value is None:
        return None
    number = numbers("target", value)
    if number.ndim or np.isnan(number):
        raise ValueError(f"target must be a number, got {value!r}")
    return float(number)


def told(theta: Any, f: Any, realised: Any, dim: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """theta [n, d], f [n] and x [n, d], all NaN if nothing was measured."""
    theta, f = np.atleast_2d(numbers("theta", theta)), np.atleast_1d(numbers("f", f))
    if theta.ndim != 2 or theta.shape[1] != dim:
        raise ValueError(f"theta must have shape [n, {dim}], got {theta.shape}")
    if f.shape != (len(theta),):
        raise ValueError(
            f"f must have one value for each of the {len(theta)} theta, got shape {f.shape}"
        )
    if not np.all(np.isfinite(theta)):
        raise ValueError("theta must be finite, got NaN or infinity")
    if realised is None:
        return theta, f, np.full_like(theta, np.nan)
    x = np.atleast_2d(numbers("realised", realised))
    if x.shape != theta.shape:
        raise ValueError(f"realised must have the shape of theta, {theta.shape}, got {x.shape}")
    return theta, f, np.where(np.isfinite(x), x, np.nan)


def numbers(name: str, value: Any) -> np.ndarray:
    """A copy in double precision."""
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number or an array of numbers, got {value!r}") from None


def whole(name: str, value: Any, least: int) -> int:
    # 1e4 is how people write budgets
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or value != int(value)
        or value < least
    ):
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)
