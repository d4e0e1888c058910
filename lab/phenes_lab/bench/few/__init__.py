"""Few evaluations: phenes beside the libraries that people take for expensive functions.

outcome = run(FewSettings(problems=("held-out",), budgets=(30, 60)), Path("out/few"), resume=True)
"""

from phenes_lab.driver import Experiment

FEW = Experiment("few", "phenes_lab.bench.few", "FewSettings")
