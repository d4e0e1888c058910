"""The file of a run by ask and tell: its settings, and the calls that made it what it is.

A line of JSON for the settings, then one for each call. Text, because these are the results of
weeks in a lab: any editor and any language reads them, now and in twenty years, and a file that is
only ever added to survives whatever ends the program. Data only: nothing in it can run. Each line
ends with a checksum of all lines so far, so that damage is noticed. The state of the search itself
is not in it: calls that are made again reproduce it to the last bit, and mean the same to later
versions.

`save` writes a whole file, which says how many calls it has. The file of a checkpoint is open: it
does not, and an incomplete last line is a call that was never finished.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from phenes import _validate
from phenes._version import __version__
from phenes.optimizer.records.journal import ASK, BUDGET, TELL, VERIFY, WITHDRAW, Call
from phenes.optimizer.records.plain import from_plain, to_plain

FORMAT = 1
MAGIC = b'{"phenes":"optimizer"'
SUM = len(',"sum":"01234567"}')  # characters at the end of each line


class Saved(NamedTuple):
    """What a file holds.

    settings: as JSON has them. calls: in order. version: of phenes, that began it. whole: it was
    written by `save`. end: bytes of complete lines. checksum: of these.
    """

    settings: dict[str, Any]
    calls: list[Call]
    version: str
    whole: bool
    end: int
    checksum: int


def header(settings: Mapping[str, Any], calls: int | None) -> dict[str, Any]:
    """The first line. calls: how many follow, None if it is open."""
    first = {"phenes": "optimizer", "format": FORMAT, "version": __version__, "calls": calls}
    return first | {"settings": dict(settings)}


def lines(records: Iterable[Mapping[str, Any]], checksum: int = 0) -> tuple[bytes, int]:
    """Lines of a file that begins with this checksum, and the checksum after them."""
    out: list[bytes] = []
    for record in records:
        body = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()
        checksum = zlib.crc32(body, checksum)
        out.append(b'%s,"sum":"%08x"}\n' % (body[:-1], checksum))
    return b"".join(out), checksum


def encode(call: Call) -> dict[str, Any]:
    """A call as JSON has it."""
    if call.kind == BUDGET:
        return {"call": BUDGET, "budget": call.number}
    record = {"call": call.kind, "theta": to_plain(call.theta)}
    if call.kind == ASK:
        record["pending"] = call.number
    if call.kind == TELL:
        # an infinite value has failed like one that is not there
        f = np.where(np.isfinite(call.f), call.f, np.nan)
        record |= {"x": to_plain(call.x), "f": to_plain(f)}
        if call.c is not None:
            columns = zip(call.names, call.c.T, strict=True)
            record["constraints"] = {name: to_plain(column) for name, column in columns}
    return record


def decode(record: Mapping[str, Any], dim: int) -> Call:
    """The reverse; a ValueError, KeyError or TypeError if it is none."""
    kind = _validate.choice("call", record["call"], (ASK, VERIFY, TELL, WITHDRAW, BUDGET))
    empty = np.empty((0, dim))
    if kind == BUDGET:
        number = _validate.count("budget", record["budget"])
        return Call(BUDGET, empty, empty, np.empty(0), number)
    theta = from_plain("theta", record["theta"], 2)
    _validate.finite("theta", theta)
    _validate.shape("theta", theta, (len(theta), dim), "x0")
    if kind != TELL:
        number = _validate.count("pending", record["pending"], 0) if kind == ASK else 0
        return Call(kind, theta, empty, np.empty(0), number)
    x, f = from_plain("x", record["x"], 2), from_plain("f", record["f"], 1)
    _validate.shape("x", x, theta.shape, "theta")
    _validate.shape("f", f, (len(theta),), "theta")
    if "constraints" not in record:
        return Call(TELL, theta, x, f)
    held = {
        _validate.text("constraint", name): from_plain(name, column, 1)
        for name, column in dict(record["constraints"]).items()
    }
    for name, column in held.items():
        _validate.shape(name, column, (len(theta),), "theta")
    return Call(TELL, theta, x, f, 0, tuple(held), np.stack(list(held.values()), axis=1))


def write(path: Path, settings: Mapping[str, Any], calls: list[Call], whole: bool = True) -> None:
    """Replace the file, or leave it as it was."""
    first = header(settings, len(calls) if whole else None)
    content, _ = lines([first, *map(encode, calls)])
    # a name of its own in the same folder: two programs do not write into each other's file
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _keep_name(path.parent)
    except OSError as error:
        raise unwritten(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def unwritten(path: Path, error: OSError) -> ValueError:
    """The error for a file that the system does not write."""
    why = error.strerror or str(error)
    return ValueError(f"{path} cannot be written: {why}; what it held before is intact")


def _keep_name(folder: Path) -> None:
    """fsync the folder, where the system allows it: the new name then survives a power cut."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: Path) -> Saved:
    """All of a file; a ValueError of one sentence if it is not one of ours, or damaged."""
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist: there is no run to load"
        raise ValueError(f"{path} {what}")
    try:
        with open(path, "rb") as file:
            return _read(path, file)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error


def _read(path: Path, file: BinaryIO) -> Saved:
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{path} is not a saved Optimizer of phenes")
    file.seek(0)
    records = _records(path, file)
    first, end, checksum = next(records)  # the file is not empty
    with _damage(path, 1):
        if first["format"] != FORMAT:
            raise _Other(
                f"{path} has format {_validate.quote(first['format'])} of a saved Optimizer, this"
                f" version of phenes reads format {FORMAT}"
            )
        settings, version = dict(first["settings"]), str(first["version"])
        expected = None if first["calls"] is None else _validate.count("calls", first["calls"], 0)
        dim = from_plain("x0", settings["x0"], 1).size
    calls: list[Call] = []
    for record, place, total in records:
        with _damage(path, len(calls) + 2):
            calls.append(decode(record, dim))
        end, checksum = place, total
    size = path.stat().st_size
    if expected is not None and (len(calls) != expected or end != size):
        raise ValueError(f"{path} is damaged: it has {len(calls)} of {expected} calls")
    return Saved(settings, calls, version, expected is not None, end, checksum)


def _records(path: Path, file: BinaryIO) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The complete lines, each with the place and the checksum after it."""
    checksum = place = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            if number > 1:
                return  # the call was never finished
            raise ValueError(f"{path} is damaged: its first line is incomplete")
        with _damage(path, number):
            body, end = line[: -SUM - 1] + b"}", line[-SUM - 1 :]
            checksum = zlib.crc32(body, checksum)
            if end != b',"sum":"%08x"}\n' % checksum:
                raise ValueError("its checksum is wrong")
            place += len(line)
            record: dict[str, Any] = dict(json.loads(body))
        yield record, place, checksum


class _Other(ValueError):
    """Not damaged."""


@contextlib.contextmanager
def _damage(path: Path, line: int) -> Generator[None]:
    """What cannot be understood is damage, and says where it is."""
    try:
        yield
    except _Other:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        why = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is damaged in line {line}: {why}") from error
