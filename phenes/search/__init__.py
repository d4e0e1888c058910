"""q_psi(theta): what we choose. A law is its parameters: an equinox module whose leaves are psi.

Each has `draw(key, n) -> xi[n]` (row i does not depend on n) and `push(xi_i) -> theta_i` (together:
`sample(key)`), `log_prob(theta)`, `natural(g)` (I[q]^-1 g) and `move(updates) -> (q, count)` (psi +
updates, kept inside its domain); `score(theta[N], w[N])` where a closed form is faster than
autodiff.
"""

from phenes.search.conjugate import Beta, Conjugate, Gamma
from phenes.search.dirichlet import Dirichlet
from phenes.search.full_gaussian import Gaussian, exponential
from phenes.search.gate import Choice, Gate
from phenes.search.gaussian import DiagonalGaussian, IsotropicGaussian

__all__ = [
    "Beta",
    "Choice",
    "Conjugate",
    "DiagonalGaussian",
    "Dirichlet",
    "Gamma",
    "Gate",
    "Gaussian",
    "IsotropicGaussian",
    "exponential",
]
