"""Where evaluations fail: a Gaussian process of the labels 0 (a value) and 1 (none) at x.

Labels are no normal values: a marginal likelihood of theirs is won by kernels that tell a few rows
from all others by chance. So kernels are judged by what they predict of each label from all other
rows, as probabilities. Far from all rows the probability is the share of all that failed: a mean by
generalised least squares would count a hundred failures of one place as little more than one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phenes._validate import FloatArray
from phenes.gp import tuning
from phenes.gp.cloud import Cloud
from phenes.gp.kernel import Kernel, matern
from phenes.gp.posterior import Posterior


class Place(NamedTuple):
    """Where evaluations fail: the kernel of the labels, and their noise."""

    kernel: Kernel
    eta: float

    def posterior(
        self,
        rows: Cloud,
        labels: FloatArray,
        noise: FloatArray | None,
        bias: FloatArray | None = None,
    ) -> Posterior:
        """The labels of an evaluation at theta, given those of rows."""
        level = float(labels.mean())
        return Posterior(self.kernel, self.eta, rows, labels, noise, bias, level=level)


def find_place(rows: Cloud, labels: FloatArray) -> Place | None:
    """The kernel that predicts labels (n,) best; None where they are no matter of place.

    A few failures, or a few values, are taken to be one.
    """
    n, dim = rows.points.shape
    rarer = float(min(labels.sum(), n - labels.sum()))
    lengths = tuning.LENGTH * math.sqrt(dim) * np.ones(dim)
    places = [
        Place(Kernel(matern(False), share * lengths), eta)
        for share in tuning.LABEL_LENGTHS
        for eta in tuning.LABEL_ETAS
    ]
    scores = [_surprise(each, rows, labels) for each in places]
    least = min(scores)
    if rarer > tuning.FEW_FAILURES and least > _surprise_anywhere(labels) - tuning.PLACED:
        return None
    # the shortest of the lengths that predict as well: failures reach no further than they must
    return next(
        each for each, score in zip(places, scores, strict=True) if score <= least + tuning.AS_GOOD
    )


def _surprise(place: Place, rows: Cloud, labels: FloatArray) -> float:
    """Minus the logarithm of the probability of each label by all others, summed."""
    try:
        residual, _ = place.posterior(rows, labels, None).leave_one_out()
    except np.linalg.LinAlgError:
        return np.inf
    return _cost(labels - residual, labels)


def _surprise_anywhere(labels: FloatArray) -> float:
    """The same where the share of the others is all that is known."""
    n = labels.size
    return _cost((labels.sum() - labels) / (n - 1), labels)


def _cost(p: FloatArray, labels: FloatArray) -> float:
    """Labels predicted at p; no prediction is surer than as many rows as there are can make it."""
    least = 1 / (labels.size + 2)
    p = np.clip(p, least, 1 - least)
    return -float(np.sum(np.log(np.where(labels > 0, p, 1 - p))))
