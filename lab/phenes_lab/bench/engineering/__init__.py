"""phenes beside the designs and libraries that engineers have, on `phenes.problems.engineering`:
run -> store -> table, pictures, report.

path = engineering.run(engineering.Settings(problems=("filter",)), Path("out/engineering"),
resume=True)
"""

from phenes_lab.bench.engineering.execute import BENCH, run
from phenes_lab.bench.engineering.overview import summary, table
from phenes_lab.bench.engineering.settings import Settings

__all__ = ["BENCH", "Settings", "run", "summary", "table"]
