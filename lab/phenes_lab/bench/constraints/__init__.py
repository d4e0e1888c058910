"""Chance constraints beside inner Monte Carlo: is the answer truly feasible, and at what price?

outcome = driver.run(CONSTRAINTS, ConstraintsSettings(seeds=5), Path("out/constraints"))
"""

from phenes_lab.driver import Experiment

CONSTRAINTS = Experiment("constraints", "phenes_lab.bench.constraints", "ConstraintsSettings")
