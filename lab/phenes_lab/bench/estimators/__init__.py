"""Variances of the estimators on the same populations, relative to `phenotype`, with the theory
beside them.

A cell is one search law, one input law and one ratio C/S of their variances. Batches of populations
are drawn in it; every number is a ratio of means over the batches, and its standard error the
jackknife over them.
"""

from phenes_lab.bench.estimators.compare import run
from phenes_lab.bench.estimators.rows import EstimatorsRow, EstimatorsSettings, Ratio
from phenes_lab.bench.estimators.table import as_json, table

__all__ = ["EstimatorsRow", "EstimatorsSettings", "Ratio", "as_json", "run", "table"]
