"""From the gradient to the direction of the step: (p, q, g) -> shaped like q."""

from typing import Any, TypeVar

Q = TypeVar("Q", bound=Any)


def plain(p: Any, q: Q, g: Q) -> Q:
    """The gradient as it is."""
    return g


def natural(p: Any, q: Q, g: Q) -> Q:
    """I[q]^-1 g, the default: distances as the search law sees them. For the phenotype gradient of
    Gaussian search this is (K r, K r r' K' - K S) (erratum 3)."""
    if not hasattr(q, "natural"):
        raise ValueError(
            f"{type(q).__name__} has no Fisher information in closed form: use metric.plain"
        )
    return q.natural(g)


def natural_marginal(p: Any, q: Q, g: Q) -> Q:
    """I[P]^-1 g, the paper's choice for Gaussian search: distances as the realised inputs see them
    (errata 2, 4).

    It does not keep S positive semidefinite, and its steps are (1 + C/S) times longer; compare
    learning rates accordingly.
    """
    if not hasattr(p, "marginal_natural"):
        raise ValueError(
            f"{type(p).__name__} has no Fisher information of x in closed form: use metric.natural"
        )
    return p.marginal_natural(q, g)
