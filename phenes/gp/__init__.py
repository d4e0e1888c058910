"""A Gaussian process of f on the realised x, and a search by it: for few evaluations.

With x measured, noise on the inputs never enters the fit: f is exact at x. It enters the question,
F(theta) = E f(x), whose posterior is known in closed form (`posterior`). Noise that is learnt,
coordinates that were not measured and evaluations under way are one formula (`kernel`).
"""

from phenes.gp.search import BayesianSearch

__all__ = ["BayesianSearch"]
