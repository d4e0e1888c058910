"""p_theta(x): what the world does with an intention theta.

A law has `sample(key, theta) -> x` and `log_prob(x, theta)`, for one individual. Where mathematics
allows it also has `marginal(q)` (P, with `log_prob`) and `posterior(q, x)`, and, as the fast path,
`marginal_score(q, x[N], w[N])`. What was not measured is NaN.
"""

from phenes.covariance import shared_errors
from phenes.inputs.coordinates import (
    LaplaceNoise,
    RoundingNoise,
    SaturatingNoise,
    StudentTNoise,
    UniformNoise,
)
from phenes.inputs.counts import Bernoulli, Exponential, Multinomial, Poisson
from phenes.inputs.custom import Law, Repeated
from phenes.inputs.experts import Experts
from phenes.inputs.gaussian import GaussianNoise, HeteroscedasticNoise
from phenes.inputs.mixture import GaussianMixtureNoise, MultivariateTNoise
from phenes.inputs.natural import NaturalFamily

__all__ = [
    "Bernoulli",
    "Experts",
    "Exponential",
    "GaussianMixtureNoise",
    "GaussianNoise",
    "HeteroscedasticNoise",
    "LaplaceNoise",
    "Law",
    "Multinomial",
    "MultivariateTNoise",
    "NaturalFamily",
    "Poisson",
    "Repeated",
    "RoundingNoise",
    "SaturatingNoise",
    "StudentTNoise",
    "UniformNoise",
    "shared_errors",
]
