"""Holes between regimes: regret against dimension and budget, from one engine to the next.

outcome = run(RegimesSettings(dims=(50, 100, 200), each=(20,)), Path("out/regimes"), resume=True)
"""

from phenes_lab.driver import Experiment

REGIMES = Experiment("regimes", "phenes_lab.bench.regimes", "RegimesSettings")
