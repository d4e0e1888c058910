"""Runs under fire: workers and the program itself are killed at random moments, and started again.

Each round is one run of `minimize`. Afterwards: the same final state as undisturbed, to the last
bit; each evaluation in the record once; nothing that was in the record at a kill evaluated again.
"""

from phenes_lab.bench.survive.report import as_json, read, table, write
from phenes_lab.bench.survive.rounds import Round, Settings, run

__all__ = ["Round", "Settings", "as_json", "read", "run", "table", "write"]
