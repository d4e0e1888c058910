"""How many cores this process may use."""

import os


def count() -> int:
    """The cores it is allowed to run on; where the system does not say, those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
