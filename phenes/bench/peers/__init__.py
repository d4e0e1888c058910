"""phenes beside the libraries that people use today, on BBOB under input noise: run -> store ->
verdicts, picture, report.

path = peers.run(peers.Settings(dims=(10,), sigmas=(0.1,)), Path("out/peers"), resume=True)
"""

from phenes.bench.peers.execute import FILE, run
from phenes.bench.peers.overview import summary, table
from phenes.bench.peers.settings import Settings
from phenes.bench.peers.writing import report

__all__ = ["FILE", "Settings", "report", "run", "summary", "table"]
