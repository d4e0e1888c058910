"""Arrays as bytes and back.

Never pickled objects: a file from elsewhere must not be able to run code. Nor may it fill the
memory: how large arrays are is known before they are unpacked.
"""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from phenes._files import load_arrays

# bytes up to which a payload may grow when it is unpacked; larger ones are not compressed
LARGEST = 2**28


def pack(arrays: Mapping[str, Any], compress: bool = True) -> bytes:
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    objects = [name for name, value in plain.items() if value.dtype.hasobject]
    if objects:
        raise ValueError(
            f"a part must be arrays of numbers or strings, got objects in {', '.join(objects)}"
        )
    file = io.BytesIO()
    small = sum(value.nbytes for value in plain.values()) < LARGEST // 2
    save = np.savez_compressed if compress and small else np.savez
    save(file, **plain)  # pyright: ignore[reportArgumentType]
    return file.getvalue()


def unpack(payload: bytes, name: str) -> dict[str, np.ndarray]:
    try:
        return load_arrays(io.BytesIO(payload), max(LARGEST, len(payload)))
    except Exception as error:  # of any kind: the bytes may be anything
        raise ValueError(f"{name} is damaged: {error}") from error
