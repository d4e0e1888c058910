"""Gradient estimators. One signature: `estimator(p, q, batch, w) -> g`, shaped like q.

==========================  ===========  ==============================  ====================
estimator                   unbiased     variance                        needs of p
==========================  ===========  ==============================  ====================
genotype                    yes          the evolution strategy's        nothing
phenotype                   yes          smallest: Rao-Blackwell         marginal
reparameterised             yes          above or below genotype         d log p / d theta
information_mix             yes          below both                      d log p / d theta
exchangeable(_coordinates)  yes          between phenotype and genotype  log p
two_point(_phenotype)       yes          as the base                     nothing, or marginal
mirrored(_phenotype)        yes          as the base                     nothing, or marginal
rao_blackwellise(any)       as the base  below the base                  posterior
biased_linear               no           small                           x - theta
biased_imitation            no           as reparameterised, or below    d log p / d theta
==========================  ===========  ==============================  ====================

Those that learn from past generations (information_mix, biased_linear) have `start(p, q, batch)`
and `step(p, q, batch, w) -> (g, estimator)`: the gradient with what was known before, and the
estimator that has learnt from this generation. `es` takes care of both.

`es(..., reuse=k)` gives phenotype the individuals of k earlier generations too, with importance
weights: `Reuse`, `balance_weights`, `ratio_weights`.
"""

from phenes.estimators.exchangeable import (
    GaussianProposal,
    exchangeable,
    exchangeable_coordinates,
    fit_proposal,
)
from phenes.estimators.imitation import biased_imitation
from phenes.estimators.information import InformationMix, diagonal, full, information_mix, scalar
from phenes.estimators.learnt import BiasedLinear, biased_linear
from phenes.estimators.pairs import mirrored, mirrored_phenotype, two_point, two_point_phenotype
from phenes.estimators.reuse import Reuse, balance_weights, ratio_weights
from phenes.estimators.scores import (
    Estimator,
    genotype,
    phenotype,
    rao_blackwellise,
    reparameterised,
)

__all__ = [
    "BiasedLinear",
    "Estimator",
    "GaussianProposal",
    "InformationMix",
    "Reuse",
    "balance_weights",
    "biased_imitation",
    "biased_linear",
    "diagonal",
    "exchangeable",
    "exchangeable_coordinates",
    "fit_proposal",
    "full",
    "genotype",
    "information_mix",
    "mirrored",
    "mirrored_phenotype",
    "phenotype",
    "rao_blackwellise",
    "ratio_weights",
    "reparameterised",
    "scalar",
    "two_point",
    "two_point_phenotype",
]
