"""What is minimised over theta beside the mean of f(x): quantiles, tails, probabilities, spread.

A risk is a functional rho of the law of f(x) at theta. What a search and a claim need of it follows
from its linearisation at a law, `Risk.reference`: a function g of single values with E g(f) = rho
there, and to first order at other laws. For the conditional value at risk and for standard
deviations g is a majorant, rho <= E g(f) for every law (Rockafellar and Uryasev 2000; a square root
lies below its tangents): what lowers E g(f) lowers rho.
"""

from phenes.risk.kinds import cvar, mean, mean_plus_std, probability_below, quantile, std
from phenes.risk.reading import as_risk, from_described, parse
from phenes.risk.reference import Reference
from phenes.risk.risk import Risk

__all__ = [
    "Reference",
    "Risk",
    "as_risk",
    "cvar",
    "from_described",
    "mean",
    "mean_plus_std",
    "parse",
    "probability_below",
    "quantile",
    "std",
]
