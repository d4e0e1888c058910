"""Holes between regimes: regret against dimension and budget, from one engine to the next.

outcome = driver.run(REGIMES, RegimesSettings(dims=(50, 100), each=(20,)), Path("out/regimes"))
"""

from phenes_lab.driver import Experiment

REGIMES = Experiment("regimes", "phenes_lab.bench.regimes", "RegimesSettings")
