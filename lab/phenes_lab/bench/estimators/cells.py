"""Laws and the estimators that are measured under them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from phenes import inputs
from phenes.estimators import (
    biased_imitation,
    biased_linear,
    diagonal,
    exchangeable,
    exchangeable_coordinates,
    full,
    genotype,
    information_mix,
    mirrored,
    mirrored_phenotype,
    phenotype,
    reparameterised,
)
from phenes.search import Gaussian, IsotropicGaussian
from phenes_lab.bench.estimators.rows import EstimatorsSettings


class Cell(NamedTuple):
    noise: str
    family: str
    ratio: float
    p: Any
    q: Any
    plain: dict[str, Any]  # estimators that are averages over individuals
    auxiliary: dict[str, Any]  # the same, but dear
    pairs: dict[str, Any]  # estimators for mirrored populations


BIASED: dict[str, Any] = {"biased_linear": biased_linear(), "biased_imitation": biased_imitation}


def cells_of(settings: EstimatorsSettings) -> list[Cell]:
    joint, coordinates = (
        exchangeable(settings.auxiliaries),
        exchangeable_coordinates(settings.auxiliaries),
    )
    # made once: one compilation for each dimension serves all ratios
    dear = {"exchangeable": joint, "exchangeable_coordinates": coordinates}
    cells = [isotropic_cell(d, c, dear) for d in settings.dims for c in settings.ratios]
    if settings.full_dim:
        cells += [full_cell(settings.full_dim, c, {"exchangeable": joint}) for c in settings.ratios]
    if settings.noise_dim:
        cells += cells_of_other_laws(settings.noise_dim, {"exchangeable_coordinates": coordinates})
    return cells


def isotropic_cell(d: int, c: float, dear: dict[str, Any]) -> Cell:
    q = IsotropicGaussian(jnp.zeros(d), jnp.asarray(1.0))
    plain = _plain(diagonal, jnp.full(d, 1 / c)) | BIASED
    return Cell(
        "Gaussian", "isotropic", c, inputs.GaussianNoise(jnp.sqrt(c)), q, plain, dear, _pairs()
    )


def full_cell(d: int, c: float, dear: dict[str, Any]) -> Cell:
    """Ill-conditioned S with C = c S: the ratios of isotropic laws hold for these too."""
    rotation = jnp.linalg.qr(jax.random.normal(jax.random.key(0), (d, d)))[0]
    cov = (rotation * jnp.logspace(-1, 1, d)[None]) @ rotation.T
    cov = 0.5 * (cov + cov.T)
    plain = _plain(full, jnp.linalg.inv(c * cov)) | BIASED
    return Cell(
        "Gaussian",
        "full",
        c,
        inputs.GaussianNoise(c * cov),
        Gaussian(jnp.zeros(d), cov),
        plain,
        dear,
        _pairs(),
    )


def _plain(shape: Callable[[Array], Array], info: Array) -> dict[str, Any]:
    return {
        "phenotype": phenotype,
        "genotype": genotype,
        "reparameterised": reparameterised,
        "information_mix": information_mix(shape, info=info),
        "information_mix, curvature": information_mix(shape, curvature=True, info=info),
        "information_mix, learnt": information_mix(shape),
    }


def _pairs() -> dict[str, Any]:
    return {
        "mirrored": mirrored,
        "mirrored_phenotype": mirrored_phenotype,
        "phenotype, mirrored": phenotype,
    }


def cells_of_other_laws(d: int, dear: dict[str, Any]) -> list[Cell]:
    """Variance 1, as that of the search law, before saturation cuts the ends off."""
    laws = {
        "Student t, 5": inputs.StudentTNoise(jnp.sqrt(3 / 5), 5.0),
        "Laplace": inputs.LaplaceNoise(jnp.sqrt(1 / 2)),
        "uniform": inputs.UniformNoise(jnp.sqrt(3.0)),
        "saturating": inputs.SaturatingNoise(1.0, -1.0, 1.0),
        "rounding": inputs.RoundingNoise(jnp.sqrt(6.0), jnp.sqrt(1 / 2)),
    }
    q = IsotropicGaussian(jnp.zeros(d), jnp.asarray(1.0))
    plain = {"phenotype": phenotype, "genotype": genotype, "biased_linear": biased_linear()}
    sloped = plain | {
        "biased_imitation": biased_imitation,
        "information_mix, learnt": information_mix(),
    }
    return [
        Cell(name, "isotropic", 1.0, p, q, plain if name == "uniform" else sloped, dear, {})
        for name, p in laws.items()
    ]
