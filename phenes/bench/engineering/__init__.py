"""phenes beside the designs and libraries that engineers have, on `phenes.problems.engineering`:
run -> store -> table, pictures, report.

path = engineering.run(engineering.Settings(problems=("filter",)), Path("out/engineering"),
resume=True)
"""

from phenes.bench.engineering.execute import BENCH, run
from phenes.bench.engineering.overview import summary, table
from phenes.bench.engineering.settings import Settings

__all__ = ["BENCH", "Settings", "run", "summary", "table"]
