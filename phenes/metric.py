"""From the gradient to the direction of the step: (p, q, g) -> shaped like q."""

from phenes.protocols import HasMarginalNatural, HasNatural, HasPoint, InputLaw, Q

__all__ = ["natural", "natural_marginal", "plain"]


def plain(p: InputLaw, q: Q, g: Q) -> Q:
    """The gradient as it is.

    Parameters
    ----------
    p : InputLaw
        Not looked at.
    q : SearchLaw
        Not looked at.
    g : SearchLaw
        The gradient, shaped like q.

    Returns
    -------
    SearchLaw
        g.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.zeros(2), 0.5)
    >>> phenes.metric.plain(p, q, q) is q
    True
    """
    return g


def natural(p: InputLaw, q: Q, g: Q) -> Q:
    """I[q]^-1 g, the default: distances as the search law sees them.

    For the phenotype gradient of Gaussian search this is (K r, K r r' K' - K S) (erratum 3).

    A point population (`search.Gaussian` of covariance 0) has no I[q]. Its psi is the mean alone,
    whose distances are those of x, as in `natural_marginal`; its covariance stays 0. Where the
    covariance is singular but not 0, the mean moves along the directions that have a spread.

    Parameters
    ----------
    p : InputLaw
        Looked at for a point population only.
    q : SearchLaw
        The search law, with `natural` in closed form.
    g : SearchLaw
        The gradient, shaped like q.

    Returns
    -------
    SearchLaw
        The direction, shaped like q.

    Raises
    ------
    ValueError
        If q has no Fisher information in closed form.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.1), phenes.search.IsotropicGaussian(jnp.ones(2), 0.5)
    >>> phenes.metric.natural(p, q, q).mean
    Array([0.25, 0.25], dtype=float32)
    """
    if not isinstance(q, HasNatural):
        raise ValueError(
            f"{type(q).__name__} has no Fisher information in closed form: use metric.plain"
        )
    direction = q.natural(g)
    if isinstance(q, HasPoint) and isinstance(p, HasMarginalNatural):
        return q.where_point(p.marginal_natural(q, g), direction)
    return direction


def natural_marginal(p: InputLaw, q: Q, g: Q) -> Q:
    """I[P]^-1 g, the paper's choice for Gaussian search: distances as realised inputs see them.

    Errata 2, 4. It does not keep S positive semidefinite, and its steps are (1 + C/S) times longer;
    compare learning rates accordingly. Directions of which x says nothing, since an actuator has
    fewer outputs than inputs, are not moved.

    Parameters
    ----------
    p : InputLaw
        The input law, with `marginal_natural` in closed form.
    q : SearchLaw
        The search law.
    g : SearchLaw
        The gradient, shaped like q.

    Returns
    -------
    SearchLaw
        The direction, shaped like q.

    Raises
    ------
    ValueError
        If p has no Fisher information of x in closed form.

    Examples
    --------
    >>> p, q = phenes.inputs.GaussianNoise(0.5), phenes.search.IsotropicGaussian(jnp.ones(2), 0.5)
    >>> phenes.metric.natural_marginal(p, q, q).mean
    Array([0.5, 0.5], dtype=float32)
    """
    if not isinstance(p, HasMarginalNatural):
        raise ValueError(
            f"{type(p).__name__} has no Fisher information of x in closed form: use metric.natural"
        )
    return p.marginal_natural(q, g)
