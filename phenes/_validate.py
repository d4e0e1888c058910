"""Validation of what users give: a ValueError of one sentence names what was expected and given.

NumPy only: nothing here waits for a compiler. Public functions call these on entry, before anything
is evaluated, and hand on what they return; nothing further in checks the same argument again.
Whole numbers and real numbers may be Python's, NumPy's or arrays without axes, and 1e4 is a whole
number; True, text, NaN, infinity and classes are none of these.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

LARGEST = 1e100  # of a coordinate or a scale, so that squares neither overflow nor vanish
LONGEST = 200  # characters of a value that an error message quotes


class HasShape(Protocol):
    @property
    def shape(self) -> tuple[int, ...]: ...


Shaped = TypeVar("Shaped", bound=HasShape)
Called = TypeVar("Called", bound=Callable[..., Any])


def count(name: str, value: Any, least: int = 1) -> int:
    """`value` as an int of at least `least`."""
    number = whole(value)
    if number is None or number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {quote(value)}")
    return number


def number(name: str, value: Any) -> float:
    """`value` as a finite float."""
    given = _real(value)
    if given is None:
        raise ValueError(f"{name} must be a finite number, got {quote(value)}")
    return given


def positive_number(name: str, value: Any, unit: str = "") -> float:
    """`value` as a positive finite float. unit: for the error message, as " of seconds"."""
    given = _real(value)
    if given is None or given <= 0:
        raise ValueError(f"{name} must be a positive number{unit}, got {quote(value)}")
    return given


def whole(value: Any) -> int | None:
    """`value` as an int if it is a whole number, else None."""
    number = _scalar(value)
    if isinstance(number, float):
        return int(number) if number.is_integer() else None
    return number


def flag(name: str, value: Any, word: str | None = None) -> bool:
    """`value`, which must be True or False, or the word (which is true)."""
    # a bool of Python, or of NumPy without axes
    plain = isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_
    if plain and np.ndim(value) == 0:
        return bool(value)
    if word is not None and isinstance(value, str) and value == word:
        return True
    expected = "True or False" if word is None else f"True, False or {word!r}"
    raise ValueError(f"{name} must be {expected}, got {quote(value)}")


def path(name: str, value: Any) -> None:
    """Refuse what is not the path of a file, or None."""
    if value is None:
        return
    text = str(value) if isinstance(value, str | PurePath) else ""
    if not text or "\0" in text:
        raise ValueError(f"{name} must be the path of a file, got {quote(value)}")


def choice(name: str, value: Any, words: tuple[str, ...]) -> str:
    """`value`, which must be one of some words."""
    if not isinstance(value, str) or value not in words:
        listed = ", ".join(map(repr, words))
        raise ValueError(f"{name} must be one of {listed}, got {quote(value)}")
    return value


def text(name: str, value: Any) -> str:
    """`value`, which must be a text."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {quote(value)}")
    return value


def measured(name: str, value: Any) -> float:
    """`value` as a float; None and NaN, for what was not measured, are NaN."""
    given = np.nan if value is None else _scalar(value)
    if given is None or np.isinf(given):
        raise ValueError(f"{name} must be a finite number, got {quote(value)}")
    return float(given)


def mapping(value: Any) -> Mapping[str, Any] | None:
    """`value` if it is a mapping, else None."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else None


def same_names(what: str, given: Iterable[str], expected: Iterable[str], all_of: bool) -> None:
    """Refuse names that are not expected, and if `all_of` must be there, names that are missing."""
    names, known = list(given), list(expected)
    listed = ", ".join(map(str, known))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{what} must be by the names {listed}, got {quote(unknown[0])}")
    missing = [name for name in known if name not in names]
    if all_of and missing:
        raise ValueError(f"{what} must have all of {listed}, got no {missing[0]}")


def numbers(name: str, value: Any, booleans: bool = False) -> FloatArray:
    """A copy in double precision; None in a list is NaN. booleans: True and False are 1 and 0."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in ("iufOb" if booleans else "iufO"):
            return np.array(array, dtype=np.float64)
    except Exception:  # objects may refuse to be an array in any way
        pass
    raise ValueError(f"{name} must be a number or an array of numbers, got {quote(value)}")


def finite(name: str, array: Any) -> None:
    """Refuse an array with NaN or infinity in it."""
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {describe(array)}")


def positive(name: str, value: Any, strict: bool = True) -> FloatArray:
    """`value` as an array of positive (or, not strict, non-negative) finite numbers."""
    array = numbers(name, value)
    finite(name, array)
    signs(name, array, strict)
    return array


def signs(name: str, array: Any, strict: bool = True) -> None:
    """Refuse an array with negative numbers in it; strict: with zeros too."""
    if strict and not np.all(array > 0):
        raise ValueError(f"{name} must be positive, got {describe(array)}")
    if not np.all(array >= 0):
        raise ValueError(f"{name} must be non-negative, got {describe(array)}")


def semidefinite(name: str, matrix: Any, eps: float) -> None:
    """Refuse a matrix that is not symmetric and positive semidefinite up to the precision `eps`."""
    plain = np.asarray(matrix, dtype=np.float64)
    size = max(float(np.abs(plain).max()), float(np.finfo(np.float64).tiny))
    # rounding in the caller's own arithmetic is forgiven, a wrong matrix is not
    slack = 100 * plain.shape[0] * eps * size
    asymmetry = float(np.abs(plain - plain.T).max())
    if asymmetry > slack:
        raise ValueError(f"{name} must be symmetric, got asymmetry {asymmetry:.3g}")
    lowest = float(np.linalg.eigvalsh(plain).min())
    if lowest < -slack:
        raise ValueError(
            f"{name} must be positive semidefinite, got smallest eigenvalue {lowest:.3g}"
        )


def shape(name: str, array: Shaped, expected: tuple[int, ...], match: str) -> Shaped:
    """`array`, which must have the shape `expected` to match what `match` names."""
    if array.shape != expected:
        raise ValueError(f"{name} must have shape {expected} to match {match}, got {array.shape}")
    return array


def square(name: str, array: Shaped) -> Shaped:
    """`array`, which must be a square matrix."""
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} must be a square matrix, got shape {array.shape}")
    return array


def function(name: str, value: Called, example: str) -> Called:
    """`value`, which must be callable: a name in quotes or a class is a common slip."""
    if not callable(value) or isinstance(value, type):
        raise ValueError(f"{name} must be a function such as {example}, got {quote(value)}")
    return value


def takes(name: str, value: Callable[..., Any], arguments: str, hint: str = "") -> None:
    """Refuse a function that cannot be called with these arguments, such as "p, q, batch, w"."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # not every callable of C says what it takes
        return
    try:
        signature.bind(*arguments.split(", "))
    except TypeError:
        own = getattr(value, "__name__", type(value).__name__)
        raise ValueError(
            f"{name} must be a function of ({arguments}), got {own}{signature}{hint}"
        ) from None


def instance(name: str, value: Any, attributes: Iterable[str], example: str) -> Any:
    """`value`, which must have these attributes and not be a class that was not called."""
    if isinstance(value, type) or not all(hasattr(value, each) for each in attributes):
        raise ValueError(
            f"{name} must have {' and '.join(attributes)}, such as {example}, got {quote(value)}"
        )
    return value


def family(
    law: object,
    q: object,
    expected: type | tuple[type, ...],
    what: str = "closed-form marginal",
) -> None:
    """Refuse a search family for which `law` has no closed form, and say what to do instead."""
    if not isinstance(q, expected):
        kinds = expected if isinstance(expected, tuple) else (expected,)
        names = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(
            f"{type(law).__name__} has a {what} under {names}, got {type(q).__name__}: "
            "use estimators.information_mix or estimators.exchangeable, which need none"
        )


def counts(record: object, names: Iterable[str], least: int = 1) -> None:
    """Turn fields of a frozen dataclass, in its __post_init__, into whole numbers."""
    for name in names:
        object.__setattr__(record, name, count(name, getattr(record, name), least))


def start(x0: Any, sigma0: Any) -> tuple[FloatArray, FloatArray]:
    """x0 [d] and sigma0 [d], which may be given as one number."""
    centre = numbers("x0", x0)
    scale = numbers("sigma0", sigma0)
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
    finite("x0", centre)
    if np.any(np.abs(centre) > LARGEST):
        raise ValueError(f"x0 must lie within ±{LARGEST:g}, got {quote(x0)}")
    if not (np.all(np.isfinite(scale)) and np.all(scale > 0)):
        raise ValueError(f"sigma0 must be positive, got {quote(sigma0)}")
    if np.any(scale < 1 / LARGEST) or np.any(scale > LARGEST):
        raise ValueError(
            f"sigma0 must be between {1 / LARGEST:g} and {LARGEST:g}, got {quote(sigma0)}"
        )
    return centre, np.broadcast_to(scale, centre.shape).copy()


def bounds(value: Any, x0: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(lower [d], upper [d]) of `value`, infinite where open.

    value: None, (low, high) as numbers or vectors, d pairs as in SciPy (None in them is open), or
    scipy.optimize.Bounds.
    """
    dim = x0.size
    lower, upper = np.full(dim, -np.inf), np.full(dim, np.inf)
    if value is not None:
        low, high = _sides(value, dim)
        lower[:] = _side(low, -np.inf)
        upper[:] = _side(high, np.inf)
    if not np.all(lower < upper):
        raise ValueError(f"bounds must have low below high, got {lower} and {upper}")
    if np.any(x0 < lower) or np.any(x0 > upper):
        raise ValueError(f"x0 must lie within bounds, got {x0} outside {lower} to {upper}")
    return lower, upper


def _sides(value: Any, dim: int) -> tuple[list[Any], list[Any]]:
    """The lower and the upper side of bounds, each as a list of one or `dim` entries."""
    given: Any = value
    if hasattr(value, "lb"):
        given = (np.asarray(value.lb), np.asarray(value.ub))
    try:
        parts = [list(np.atleast_1d(np.array(part, dtype=object))) for part in given]
    except Exception:  # objects may refuse to be an array in any way
        raise ValueError(f"bounds must be (low, high) or {dim} pairs, got {quote(given)}") from None
    are_pairs = len(parts) == dim and all(len(part) == 2 for part in parts)
    # in two dimensions both readings are possible: arrays are sides, lists and tuples are a pair
    # for each coordinate, as in SciPy
    arrays = any(isinstance(part, np.ndarray) for part in given)
    arrays = arrays and not isinstance(given, np.ndarray)
    sized = len(parts) == 2 and all(len(part) in (1, dim) for part in parts)
    if sized and (arrays or not are_pairs):
        return parts[0], parts[1]
    if not are_pairs:
        raise ValueError(
            f"bounds must be (low, high) or {dim} pairs to match x0, got {quote(value)}"
        )
    return [low for low, _ in parts], [high for _, high in parts]


def _side(values: list[Any], unbounded: float) -> FloatArray:
    side = numbers("bounds", [unbounded if value is None else value for value in values])
    if side.ndim != 1 or np.any(np.isnan(side)):
        raise ValueError(f"bounds must be numbers or None, got {quote(values)}")
    return side


def budget(value: Any, dim: int) -> int:
    """Evaluations; by default enough for a smooth function in this dimension."""
    return 1000 * (dim + 10) if value is None else count("budget", value)


def batch(batch: Any, popsize: Any) -> tuple[int | None, int | None]:
    """Evaluations that are run at once, and evaluations of a generation: one of them, or none."""
    if batch is not None and popsize is not None:
        raise ValueError(
            "batch and popsize must not both be given: batch is how many are run at once, got"
            f" batch={quote(batch)} and popsize={quote(popsize)}"
        )
    at_once = None if batch is None else count("batch", batch)
    return at_once, None if popsize is None else count("popsize", popsize, 2)


def verify(value: Any, budget: int) -> int | None:
    """Evaluations kept for the verification; None: a share of the budget, 0: none."""
    if value is None:
        return None
    kept = count("verify", value, 0)
    if kept >= budget:
        raise ValueError(
            f"verify must be less than the budget of {budget} evaluations, got {quote(value)}"
        )
    return kept


def words(name: str, value: Any, number: int) -> tuple[str, ...]:
    """`value` as so many words, one for each coordinate."""
    listed: tuple[Any, ...] = ()
    if np.iterable(value) and not isinstance(value, str):
        listed = tuple(value)
    if len(listed) != number or not all(isinstance(each, str) for each in listed):
        raise ValueError(f"{name} must be {number} words to match x0, got {quote(value)}")
    return listed


def told(theta: Any, f: Any, realised: Any, dim: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """theta [n, d], f [n] and x [n, d], all NaN if nothing was measured."""
    intended = np.atleast_2d(numbers("theta", theta))
    values = np.atleast_1d(numbers("f", f, booleans=True))
    if intended.ndim != 2 or intended.shape[1] != dim:
        raise ValueError(f"theta must have shape [n, {dim}], got {intended.shape}")
    if values.shape != (len(intended),):
        raise ValueError(
            f"f must have one value for each of the {len(intended)} theta, got shape {values.shape}"
        )
    if not np.all(np.isfinite(intended)):
        raise ValueError("theta must be finite, got NaN or infinity")
    if realised is None:
        return intended, values, np.full_like(intended, np.nan)
    x = np.atleast_2d(numbers("realised", realised))
    if x.shape != intended.shape:
        raise ValueError(f"realised must have the shape of theta, {intended.shape}, got {x.shape}")
    return intended, values, np.where(np.isfinite(x), x, np.nan)


def describe(array: Any) -> str:
    """The numbers of an array, or its shape and range if they are many."""
    values = np.asarray(array)
    if values.size <= 6:
        return " ".join(str(values).split())
    return f"an array of shape {values.shape} from {values.min()} to {values.max()}"


def quote(value: object) -> str:
    """repr on one line, shortened in the middle if it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an object may be too broken to be printed
        text = f"an object of {type(value).__name__}"
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]} ... {text[-LONGEST // 4 :]}"


def printable(text: str) -> str:
    """`text` with what would act on a terminal, such as its escape sequences, spelt out."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _real(value: Any) -> float | None:
    """The finite number in `value` as a float; None if there is none, or it is too large."""
    number = _scalar(value)
    try:
        real = float("nan") if number is None else float(number)
    except OverflowError:
        return None
    return real if np.isfinite(real) else None


def _scalar(value: Any) -> int | float | None:
    """The number in `value`, which may be an array without axes; None if it is not a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, bool | str | bytes | type | None):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # objects may refuse to be an array in any way
        return None
    if array.ndim or array.dtype.kind not in "iuf":
        return None
    return float(array) if array.dtype.kind == "f" else int(array)
