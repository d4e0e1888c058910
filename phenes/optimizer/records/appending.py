"""The open file of a checkpoint: calls are added to it, and are on disk before the run goes on."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phenes.optimizer.records import saved
from phenes.optimizer.records.journal import Call

try:
    import fcntl
except ImportError:  # Windows: without locks
    fcntl = None


class Appending:
    """A file that one Optimizer adds to.

    A lock of the operating system excludes other processes until this one ends, however it ends.
    Within a process the newest Optimizer takes the file over, as when a notebook cell is run again.

    path: the file, which is made if it is not there. known: what it holds, None if it is new.
    """

    def __init__(self, path: Path):
        self.path = path
        before = _open.pop(path, None)
        if before is not None:
            before.close()
        self._file, self._checksum = _locked(path), 0
        try:
            self.known = self._read()
        except BaseException:
            os.close(self._file)
            raise
        self._finish = weakref.finalize(self, os.close, self._file)
        _open[path] = self

    def _read(self) -> saved.Saved | None:
        with open(self.path, "rb") as file:
            first = file.readline(len(saved.MAGIC))
        size = os.fstat(self._file).st_size
        if saved.MAGIC.startswith(first) and size == len(first):
            os.ftruncate(self._file, 0)  # its writer died before the first line was complete
            return None
        found = saved.read(self.path)
        if found.whole:
            saved.write(self.path, found.settings, found.calls, whole=False)
            os.close(self._file)
            self._file = _locked(self.path)
            found = saved.read(self.path)
        os.ftruncate(self._file, found.end)
        self._checksum = found.checksum
        return found

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Write the first line of a new file."""
        self._write([saved.header(settings, None)])

    def append(self, calls: list[Call]) -> None:
        """Add calls; all of them are on disk when this returns, or none."""
        self._write([saved.encode(call) for call in calls])

    def close(self) -> None:
        """Leave the file to others."""
        self._finish()
        self._file = -1

    def _write(self, records: list[dict[str, Any]]) -> None:
        if self._file < 0:
            raise ValueError(
                f"{self.path} was opened again by another Optimizer of this program: use that one"
            )
        content, checksum = saved.lines(records, self._checksum)
        end = os.fstat(self._file).st_size
        try:
            _write_all(self._file, content)
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, end)
            raise saved.unwritten(self.path, error) from error
        self._checksum = checksum


# those of this program, by path
_open: weakref.WeakValueDictionary[Path, Appending] = weakref.WeakValueDictionary()


def _write_all(file: int, content: bytes) -> None:
    os.lseek(file, 0, os.SEEK_END)
    while content:
        content = content[os.write(file, content) :]


def _locked(path: Path) -> int:
    """The file, opened for this program alone."""
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise saved.unwritten(path, error) from error
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except BlockingIOError:
            os.close(file)
            raise ValueError(
                f"{path} is being written by another program: wait for it, or end it first"
            ) from None
        except FileNotFoundError:
            pass
        os.close(file)  # it was replaced in the meantime
