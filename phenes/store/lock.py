"""One writer for each run: an advisory lock beside the file.

The system lets it go when its process ends, however it ends.
"""

import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without locks
    fcntl = None

EXCLUSIVE, SHARED = (fcntl.LOCK_EX, fcntl.LOCK_SH) if fcntl else (0, 0)

PATIENCE = 0.3  # seconds to retry: another process may hold the lock to test it


class Lock:
    """An advisory lock, held from its construction until `release`."""

    def __init__(self, path: Path, run: int):
        self.path, self.file = _beside(path, run), None
        if fcntl is None:
            return
        try:
            self.file = self._wait(path, run)
            os.ftruncate(self.file, 0)
            os.write(self.file, f"process {os.getpid()}".encode())
        except OSError as error:  # a full disk, a folder that cannot be written
            self.release()
            raise ValueError(
                f"run {run} of {path} cannot be locked: {error.strerror} ({self.path})"
            ) from error

    def _wait(self, path: Path, run: int) -> int:
        deadline = time.monotonic() + PATIENCE
        while True:
            file = _try(self.path, EXCLUSIVE, os.O_RDWR | os.O_CREAT)
            if file is not None:
                return file
            if time.monotonic() > deadline:
                by = self.path.read_text() if self.path.exists() else ""
                raise ValueError(
                    f"run {run} of {path} is being written by {by or 'another process'}: wait"
                    " for it, or end it first"
                )
            time.sleep(0.02)

    def release(self) -> None:
        if self.file is not None:
            self.path.unlink(missing_ok=True)
            os.close(self.file)
            self.file = None


def held(path: Path, run: int) -> bool:
    """True while some process writes this run; read permission is enough to ask."""
    file = _beside(path, run)
    if fcntl is None or not file.exists():
        return False
    try:
        taken = _try(file, SHARED, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:  # it exists and cannot be read: another user's lock
        return True
    if taken is None:
        return True
    os.close(taken)
    return False


def _beside(path: Path, run: int) -> Path:
    return path.with_name(f"{path.name}-lock{run}")


def _try(path: Path, kind: int, mode: int) -> int | None:
    """The descriptor of the locked file, or None if another process holds the lock."""
    file = os.open(path, mode, 0o666)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)  # pyright: ignore[reportOptionalMemberAccess]
        # the previous holder may have unlinked the file in the meantime: a lock on an unlinked file
        # excludes no other process
        if os.path.samestat(os.fstat(file), os.stat(path)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None
