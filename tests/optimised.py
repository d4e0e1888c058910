"""What is optimised, though most programs of tests are not (conftest.py says why): those that run
for long, and measurements of speed, which have a process of their own.
"""

import functools
import json
import os
import subprocess
import sys
from typing import Any

import jax

from tests.compiled import settings

# a little: it saves a long simulation more than it costs the compiler
for_long = functools.partial(
    jax.jit,
    compiler_options={"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False},
)


def measured(code: str) -> Any:
    """`code` is a script whose last line of output is JSON."""
    ours = ("XLA_FLAGS", "OPENBLAS_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= settings() | {"JAX_ENABLE_X64": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
