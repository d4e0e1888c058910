"""`phenes demo`: ES, PAES and `phenes.maximize` on a problem with input noise.

An assembly of parts, each aimed at a point of the plane and realised with Gaussian error. The value
of a part is the mixture of Gaussians of Frohlich et al. (2020, "Noisy-input entropy search"):
two narrow peaks that the error ruins, and a broad, lower one that survives it. f is the mean over
the parts. A Gaussian bump smoothed by a Gaussian is a Gaussian bump, so E f and the regret are
exact.

Both methods have the same random numbers, search law, population, weights (standardised values:
ranks would move the optimum of E f), metric and learning rates; only the estimator differs. The
learning rates are those with which ES, not PAES, needs fewest evaluations. A wider search with
rates of its own (spread 0.075, 3.6 / (1 + t/3)) saves ES another fifth, no more.

`phenes.maximize`, the third contender, starts at the same place with the same spread and has no
further settings. ES against PAES shows the gain by the paper's estimator alone, `maximize` that of
the whole library.
"""

from phenes.demo.problem import assembly, landscape, optimum
from phenes.demo.product import Answer
from phenes.demo.race import Results, load, run, run_method, save
from phenes.demo.scores import Product, Score, Summary, finding, reached, regret, summary, table
from phenes.demo.settings import DemoSettings

__all__ = [
    "Answer",
    "DemoSettings",
    "Product",
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
