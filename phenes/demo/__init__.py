"""`phenes demo`: ES against PAES where the place you aim at is not the place you hit.

An assembly of parts, each aimed at a point of the plane and realised with Gaussian error. What a
part is worth is the mixture of Gaussians of Frohlich et al. (2020, "Noisy-input entropy search"):
two narrow peaks that the error ruins, and a broad, lower one that survives it. f is the mean over
the parts. A Gaussian bump smoothed by a Gaussian is a Gaussian bump, so E f and the regret are
exact.

Both methods have the same random numbers, search law, population, weights (standardised values:
ranks would move the optimum of E f), metric and learning rates; only the estimator differs. The
learning rates are those with which ES, not PAES, needs fewest evaluations. A wider search with
rates of its own (spread 0.075, 3.6 / (1 + t/3)) saves ES another fifth, no more.
"""

from phenes.demo.problem import assembly, landscape, optimum
from phenes.demo.race import DemoSettings, Results, load, run, run_method, save
from phenes.demo.scores import Score, Summary, finding, reached, regret, summary, table

__all__ = [
    "DemoSettings",
    "Results",
    "Score",
    "Summary",
    "assembly",
    "finding",
    "landscape",
    "load",
    "optimum",
    "reached",
    "regret",
    "run",
    "run_method",
    "save",
    "summary",
    "table",
]
