"""Where compiled programs are kept between runs of the tests, and for the processes they start.

JAX finds a program again by its text, options and version: a change of the code is a change of the
text.
"""

import hashlib
import os
from pathlib import Path

COMPILED = Path(__file__).parents[1] / ".cache" / "jax"


def processor() -> str | None:
    """A name for what programs are compiled for."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    kinds = {line for line in lines if line.startswith(("flags", "Features", "model name"))}
    return hashlib.sha256("\n".join(sorted(kinds)).encode()).hexdigest()[:16]


def settings() -> dict[str, str]:
    """Settings of JAX, as its environment names them; none where the user has his own."""
    if "JAX_COMPILATION_CACHE_DIR" in os.environ or (name := processor()) is None:
        return {}
    return {
        "JAX_COMPILATION_CACHE_DIR": str(COMPILED / name),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none",
        # another process is writing an entry: the program is compiled instead
        "PYTHONWARNINGS": "ignore:Error reading persistent,ignore:Error writing persistent",
    }
