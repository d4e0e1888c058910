"""A front as plain data, for files: JSON without NaN, which has no place in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from phenes._validate import FloatArray
from phenes.evidence.evaluations import Evaluations
from phenes.space import Space

if TYPE_CHECKING:
    from phenes.pareto.answer import Axis, Front

FORMAT = "phenes front"
VERSION = 1


def as_data(front: Front) -> dict[str, Any]:
    """All of a front as JSON has it.

    Parameters
    ----------
    front : Front
        What is saved.

    Returns
    -------
    dict
    """
    told = front.evaluations
    return {
        "format": FORMAT,
        "version": VERSION,
        "vectors": _numbers(front.vectors),
        "values": _numbers(front.values),
        "errors": _numbers(front.errors),
        "draws": front.draws.tolist(),
        "failing": front.failing.tolist(),
        "axes": [
            {
                "label": axis.label,
                "risk": axis.risk,
                "maximised": axis.maximised,
                "ends": _numbers(np.array(axis.ends)),
            }
            for axis in front.axes
        ],
        "beaten": {name: _numbers(part) for name, part in front.beaten.items()},
        "nfev": front.nfev,
        "failed": front.failed,
        "success": front.success,
        "message": front.message,
        "errors_of_f": list(front.errors_of_f),
        "space": None if front.space is None else front.space.described(),
        "seed": front.seed,
        "evaluations": {
            "theta": _numbers(np.asarray(told.theta)),
            "x": _numbers(np.asarray(told.x)),
            "f": _numbers(told.f),
            "phase": told.phase.tolist(),
            "further": {name: _numbers(part) for name, part in told.further.items()},
        },
    }


def read(path: str | Path, front: type[Front], axis: type[Axis]) -> Front:
    """The front of a file.

    Parameters
    ----------
    path : str or Path
        The file.
    front, axis : type
        What is made of its data.

    Returns
    -------
    Front

    Raises
    ------
    ValueError
        If it is no such file.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise ValueError(f"format {data['format']!r}, version {data['version']!r}")
        return _front(data, front, axis)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} must be a file that Front.save wrote, got {type(error).__name__}: {error}"
        ) from None


def _front(data: Any, front: type[Front], axis: type[Axis]) -> Front:
    told = data["evaluations"]
    space = None if data["space"] is None else Space.from_described(data["space"])
    further = {str(name): _array(part) for name, part in told["further"].items()}
    phase = np.array(told["phase"], dtype=str)
    rows = Evaluations(
        _array(told["theta"]), _array(told["x"]), _array(told["f"]), phase, further=further
    )
    first, second = (
        axis(each["label"], each["risk"], each["maximised"], _pair(_array(each["ends"])))
        for each in data["axes"]
    )
    return front(
        _array(data["vectors"]),
        _array(data["values"]),
        _array(data["errors"]),
        np.array(data["draws"], int),
        np.array(data["failing"], int),
        (first, second),
        {str(name): _array(part) for name, part in data["beaten"].items()},
        int(data["nfev"]),
        int(data["failed"]),
        bool(data["success"]),
        str(data["message"]),
        tuple(map(str, data["errors_of_f"])),
        space,
        rows if space is None else rows.named(space),
        int(data["seed"]),
    )


def _numbers(array: NDArray[Any]) -> Any:
    """Nested lists; what is not finite as text."""
    if array.ndim == 0:
        value = float(array)
        return value if np.isfinite(value) else str(value)
    return [_numbers(part) for part in array]


def _array(data: Any) -> FloatArray:
    """The reverse; text that is no number is refused."""
    found = np.array(cast("list[Any]", data), dtype=object)
    return found.astype(np.float64)


def _pair(array: FloatArray) -> tuple[float, float]:
    low, high = (float(each) for each in array)
    return low, high
