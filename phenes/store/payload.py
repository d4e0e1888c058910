"""Arrays as bytes and back.

Never pickled objects: a file from elsewhere must not be able to run code.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np


def pack(arrays: Mapping[str, Any], compress: bool = True) -> bytes:
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    objects = [name for name, value in plain.items() if value.dtype.hasobject]
    if objects:
        raise ValueError(
            f"a part must be arrays of numbers or strings, got objects in {', '.join(objects)}"
        )
    file = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(file, **plain)  # pyright: ignore[reportArgumentType]
    return file.getvalue()


def unpack(payload: bytes, name: str) -> dict[str, np.ndarray]:
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as file:
            return {key: file[key] for key in file.files}
    except (
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        EOFError,
        KeyError,
        zlib.error,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(f"{name} is damaged: {error}") from error
