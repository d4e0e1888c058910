"""One writer for each run: an advisory lock beside the file.

The system lets it go when its process ends, however it ends.
"""

import contextlib
import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without locks
    fcntl = None

PATIENCE = 0.3  # seconds to retry: another process may hold the lock to test it


class Lock:
    """An advisory lock, held from its construction until `release`."""

    def __init__(self, path: Path, run: int):
        self.path, self.file = _beside(path, run), None
        deadline = time.monotonic() + PATIENCE
        while fcntl is not None and self.file is None:
            self.file = _try(self.path, fcntl.LOCK_EX)
            if self.file is None:
                if time.monotonic() > deadline:
                    by = self.path.read_text() if self.path.exists() else ""
                    raise ValueError(
                        f"run {run} of {path} is being written by {by or 'another process'}: wait"
                        " for it, or end it first"
                    )
                time.sleep(0.02)
        if self.file is not None:
            os.ftruncate(self.file, 0)
            os.write(self.file, f"process {os.getpid()}".encode())

    def release(self) -> None:
        if self.file is not None:
            self.path.unlink(missing_ok=True)
            os.close(self.file)
            self.file = None


def held(path: Path, run: int) -> bool:
    """True while some process writes this run."""
    file = _beside(path, run)
    if fcntl is None or not file.exists():
        return False
    with contextlib.suppress(OSError):
        taken = _try(file, fcntl.LOCK_SH, create=False)
        if taken is None:
            return True
        os.close(taken)
    return False


def _beside(path: Path, run: int) -> Path:
    return path.with_name(f"{path.name}-lock{run}")


def _try(path: Path, kind: int, create: bool = True) -> int | None:
    """The descriptor of the locked file, or None if another process holds the lock."""
    file = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o666)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)  # pyright: ignore[reportOptionalMemberAccess]
        # the previous holder may have unlinked the file in the meantime: a lock on an unlinked file
        # excludes nobody
        if os.path.samestat(os.fstat(file), os.stat(path)):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(file)
    return None
