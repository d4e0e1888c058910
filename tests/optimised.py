"""Measurements of speed in a process of their own, where programs are optimised as for users
(conftest.py says why they are not here).
"""

import json
import os
import subprocess
import sys
from typing import Any


def measured(code: str) -> Any:
    """`code` is a script whose last line of output is JSON."""
    ours = ("XLA_FLAGS", "OPENBLAS_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in ours} | {
        "JAX_ENABLE_X64": "1"
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
