"""phenes beside the libraries that people use today, on BBOB under input noise: run -> store ->
verdicts, picture, report.

path = peers.run(peers.Settings(dims=(10,), sigmas=(0.1,)), Path("out/peers"), resume=True)
"""

from phenes_lab.bench.peers.execute import FILE, run
from phenes_lab.bench.peers.overview import summary, table
from phenes_lab.bench.peers.settings import Settings
from phenes_lab.bench.peers.writing import report

__all__ = ["FILE", "Settings", "report", "run", "summary", "table"]
