"""Risks of f(x) beside inner Monte Carlo: evaluations until the same regret of the risk.

outcome = run(RiskSettings(seeds=5), Path("out/risk"), resume=True)
"""

from phenes_lab.driver import Experiment

RISK = Experiment("risk", "phenes_lab.bench.risk", "RiskSettings")
