"""phenes beside the designs and libraries that engineers have, on `phenes.problems.engineering`."""

from phenes_lab.driver import Experiment

ENGINEERING = Experiment("engineering", "phenes_lab.bench.engineering", "EngineeringSettings")
