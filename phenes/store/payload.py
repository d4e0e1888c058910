"""Arrays as bytes and back.

Never pickled objects: a file from elsewhere must not be able to run code. Nor may it fill the
memory: how large arrays are is known before they are unpacked.
"""

import io
import math
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

# bytes up to which a payload may grow when it is unpacked; larger ones are not compressed
LARGEST = 2**28
KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


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
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > max(LARGEST, len(payload)):
                raise ValueError(f"it would grow from {len(payload)} to {size} bytes")
            return {
                member.filename.removesuffix(".npy"): _array(archive, member) for member in members
            }
    except Exception as error:  # of any kind: the bytes may be anything
        raise ValueError(f"{name} is damaged: {error}") from error


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array, whose header must say as much as there is."""
    if member.compress_type not in KINDS:
        raise ValueError(f"{member.filename!r} is compressed in another way than NumPy does")
    with archive.open(member) as file:
        shape, dtype = _header(file)
        declared = file.tell() + math.prod(shape) * dtype.itemsize
    if declared != member.file_size:
        raise ValueError(
            f"{member.filename!r} declares {declared} bytes and has {member.file_size}"
        )
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"version {version} of NumPy's format is not known")
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded")
    return shape, dtype
