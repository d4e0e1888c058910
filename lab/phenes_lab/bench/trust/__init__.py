"""Can the answer be trusted? Functions that jump, fail, are flat, have no bottom, and smooth ones
as controls.

For every run it is asked whether E f at the answer lies within the claim, whether the answer is
worse than the start, whether it fails, whether the claim is impossible, whether success was said of
what is wrong, and whether the budget was kept.

rows = trust.run(trust.Settings(problems=("beam",), seeds=3), out=Path("out/trust"), resume=True)
"""

from phenes_lab.bench.trust.execute import Settings, run
from phenes_lab.bench.trust.overview import as_json, table

__all__ = ["Settings", "as_json", "run", "table"]
