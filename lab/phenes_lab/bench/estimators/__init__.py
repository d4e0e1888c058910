"""Variances of the estimators on the same populations, relative to `phenotype`, with the theory
beside them.

A cell is one search law, one input law and one ratio C/S of their variances. Batches of populations
are drawn in it; every number is a ratio of means over the batches, and its standard error the
jackknife over them.
"""

import jax
import numpy as np

from phenes_lab.bench.estimators import cells, measure
from phenes_lab.bench.estimators.cells import Cell
from phenes_lab.bench.estimators.measure import Sample
from phenes_lab.bench.estimators.rows import (
    BASELINE,
    BATCHES,
    POPSIZE,
    EstimatorsRow,
    EstimatorsSettings,
    Ratio,
    as_json,
    jackknife,
    ratio_of_means,
    relative_bias,
    table,
)
from phenes_lab.driver import Progress, silent

__all__ = ["EstimatorsRow", "EstimatorsSettings", "Ratio", "as_json", "run", "table"]


def run(settings: EstimatorsSettings, progress: Progress = silent) -> list[EstimatorsRow]:
    """All cells. `progress(done, total)` is called after each."""
    with jax.enable_x64(True):
        all_cells, rows = cells.cells_of(settings), []
        for i, cell in enumerate(all_cells):
            # the same key: cells differ in their laws, not in their random numbers
            samples = measure.measure(
                cell, jax.random.key(settings.seed), settings.samples // (POPSIZE * BATCHES)
            )
            rows += [
                _row(cell, name, own, samples[BASELINE])
                for name, own in samples.items()
                if name != BASELINE
            ]
            progress(i + 1, len(all_cells))
    return rows


def _row(cell: Cell, name: str, own: Sample, baseline: Sample) -> EstimatorsRow:
    d, theory = cell.q.dim, _theory(cell, name)
    count = own.g.shape[1]
    # the same populations; mirrored ones are compared with independent ones, as many of them
    baseline = Sample(*(leaf[:, :count] for leaf in baseline))
    scores, estimates, biases = [], [], []
    for part, expected in zip((slice(0, d), slice(d, None)), theory, strict=True):
        power = [np.sum(s.power[..., part], axis=-1).mean(axis=1) for s in (own, baseline)]
        variance = [np.sum(s.g[..., part].var(axis=1, ddof=1), axis=-1) for s in (own, baseline)]
        scores.append(
            None if name in cell.pairs else jackknife(ratio_of_means, *power, theory=expected)
        )
        estimates.append(jackknife(ratio_of_means, *variance))
        biases.append(
            jackknife(relative_bias, *(s.g[..., part].mean(axis=1) for s in (own, baseline)))
        )
    return EstimatorsRow(
        cell.noise,
        cell.family,
        d,
        cell.ratio,
        name,
        BATCHES * count * POPSIZE,
        *scores,
        *estimates,
        *biases,
    )


def _theory(cell: Cell, name: str) -> tuple[float | None, float | None]:
    """Second moments of the scores of mean and spread over those of `phenotype`, for Gaussian noise
    with C = c S (docs/estimators).

    The mix of second order estimates the posterior variance V by 2 V - e e', e ~ N(0, V), which is
    where its 1 + c^2 comes from.
    """
    c = cell.ratio
    if cell.noise != "Gaussian":
        return None, None
    return {
        "genotype": (1 + c, (1 + c) ** 2),
        "reparameterised": (
            1 + 1 / c,
            (1 + c) ** 2 / (2 * c) if cell.family == "isotropic" else None,
        ),
        "information_mix": (1.0, 1 + c**2),
        "information_mix, curvature": (1.0, 1.0),
    }.get(name, (None, None))
