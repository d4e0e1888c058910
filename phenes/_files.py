"""Files that are there whole or not at all, and arrays of files from elsewhere."""

import contextlib
import math
import os
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@contextlib.contextmanager
def replaced(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` when all of it is on disk.

    Until then, and if anything fails, `path` is what it was. Two that write at once do not mix:
    each has a file of its own, and the last to finish stays.
    """
    path = Path(path).resolve()  # what a link points to is replaced, not the link
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load_arrays(file: IO[bytes], largest: int) -> dict[str, np.ndarray]:
    """Arrays of an open npz file, never objects; at most `largest` bytes.

    Sizes are compared before memory is taken: a small file can unpack to a large one, and a header
    can speak of more than follows. A damaged file raises whatever its reader does.
    """
    with zipfile.ZipFile(file) as packed:
        members = packed.infolist()
        total = sum(member.file_size for member in members)
        if total > largest:
            raise ValueError(f"it would grow to {total} bytes, more than the {largest} it may have")
        for member in members:
            _check_size(packed, member)
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _check_size(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse an array whose header says more, or less, than there is."""
    if member.compress_type not in KINDS:
        raise ValueError(f"{member.filename!r} is compressed in another way than NumPy does")
    with packed.open(member) as content:
        version = npy.read_magic(content)
        read_header: Any = HEADERS.get(version)
        if read_header is None:
            raise ValueError(f"version {version} of NumPy's format is not known")
        shape, _, dtype = read_header(content)
        # math.prod is of integers of Python, which do not overflow
        declared = content.tell() + math.prod(shape) * dtype.itemsize
    if declared != member.file_size:
        raise ValueError(
            f"{member.filename!r} declares {declared} bytes and has {member.file_size}"
        )
