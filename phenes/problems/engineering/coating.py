"""A mirror coating for sum-frequency generation, with errors in the thickness of its layers.

33 layers of SiO2 (n = 1.45) and Ta2O5 (2.06) on fused silica (1.45), the first from the air side a
SiO2 cap, light at normal incidence. Asked are T = 5000 ppm (4000 to 6000) at 1064 nm and R < 200
ppm, whatever the errors, at the two other waves: 2050 nm and the sum frequency, 0.6582 * 1064 = 700
nm. This is the "SFG cavity mirror" of OptimalBragg (California Institute of Technology,
projects/SFG), the program of Venugopalan et al., Optics Express 32, 11751 (2024). Its errors of 0.5
% are kept; the refractive indices are constants here. The innermost layer has the index of the
substrate and no effect.

f = -(|log(T / 5000)| + log(1 + R1 / 200) + log(1 + R2 / 200)), in ppm. Two laws of errors: each
layer by itself (COATING), or the rates of the two sources (COATING_SHARED): one error for all
layers of a material, with a fifth of it for each layer by itself.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from phenes.problems.engineering.data import (
    NOMINAL_COATING,
    ROBUST_COATING,
    ROBUST_COATING_SHARED,
    SCREENED_COATING,
)
from phenes.problems.engineering.problem import EngineeringProblem, Readings

AIR, LOW, HIGH, SUBSTRATE = 1.0, 1.45, 2.06, 1.45
LAYERS = 33
INDICES = tuple(LOW if k % 2 == 0 else HIGH for k in range(LAYERS))
WAVE = 1064.0  # nm
WAVES = (WAVE, 0.6582 * WAVE, 1.9268 * WAVE)
TRANSMITTED, REFLECTED = 5000.0, 200.0  # ppm, the targets
# specification in ppm: T around its target, R at 700 nm, R at 2050 nm
WITHIN = (1000.0, 2000.0, 1000.0)
ERROR = 0.005


def transmission(thickness: Any, wave: Any) -> tuple[Any, Any]:
    """Transmittance T and reflectance R [...] of layers [..., 33], in nm, at one wavelength.

    At m wavelengths they are [..., m], for thicknesses [..., 1, 33]. The matrix of a layer is
    [[cos, i sin / n], [i n sin, cos]]; without absorption the product keeps that form, so four real
    numbers do.
    """
    xp = thickness.__array_namespace__()
    a, b, c, d = 1.0, 0.0, 0.0, 1.0
    for k, n in enumerate(INDICES):
        phase = (2 * np.pi * n) * thickness[..., k] / wave
        cos, sin = xp.cos(phase), xp.sin(phase)
        a, b, c, d = (
            a * cos - b * (n * sin),
            a * (sin / n) + b * cos,
            c * cos + d * (n * sin),
            d * cos - c * (sin / n),
        )
    plus = (AIR * a + SUBSTRATE * d) ** 2 + (AIR * SUBSTRATE * b + c) ** 2
    minus = (AIR * a - SUBSTRATE * d) ** 2 + (AIR * SUBSTRATE * b - c) ** 2
    return 4 * AIR * SUBSTRATE / plus, minus / plus


def spectrum(x: Any, waves: npt.ArrayLike) -> Any:
    """R [..., m] at m wavelengths in nm."""
    xp = x.__array_namespace__()
    return transmission(xp.exp(x)[..., None, :], xp.asarray(waves))[1]


def figures(x: Any) -> tuple[Any, Any, Any]:
    """T at 1064 nm, R at 700 nm, R at 2050 nm [...], in ppm."""
    thickness = x.__array_namespace__().exp(x)
    transmitted, _ = transmission(thickness, WAVES[0])
    first, second = (transmission(thickness, wave)[1] for wave in WAVES[1:])
    return 1e6 * transmitted, 1e6 * first, 1e6 * second


def simulate(x: Any) -> Readings:
    """Penalty of mirrors with the layers x [..., 33], and whether they meet the specification.

    It asks for T within 1000 ppm of 5000, R at 700 nm below 2000 ppm and R at 2050 nm below
    1000 ppm.
    """
    xp = x.__array_namespace__()
    transmitted, first, second = figures(x)
    penalty = (
        xp.abs(xp.log(transmitted / TRANSMITTED))
        + xp.log1p(first / REFLECTED)
        + xp.log1p(second / REFLECTED)
    )
    passes = (
        (xp.abs(transmitted - TRANSMITTED) <= WITHIN[0])
        & (first <= WITHIN[1])
        & (second <= WITHIN[2])
    )
    return Readings(-penalty, passes, penalty)


def _design(x: npt.ArrayLike) -> np.ndarray:
    return np.exp(x)


def _shared() -> np.ndarray:
    low = np.arange(LAYERS) % 2 == 0
    same = low[:, None] == low
    return ERROR**2 * same + (ERROR / 5) ** 2 * np.eye(LAYERS)


def _problem(
    name: str, noise: np.ndarray, optimum: tuple[float, ...], value: float
) -> EngineeringProblem:
    return EngineeringProblem(
        name=name,
        simulate=simulate,
        unit="-f",
        design=_design,
        noise=noise,
        x0=np.log(NOMINAL_COATING),
        sigma0=np.full(LAYERS, 2 * ERROR),
        nominal=np.log(NOMINAL_COATING),
        optimum=np.log(optimum),
        value=value,
        budget=30_000,
        screened=np.log(SCREENED_COATING),
    )


COATING = _problem("mirror coating", np.full(LAYERS, ERROR), ROBUST_COATING, -1.307)
COATING_SHARED = _problem("mirror coating, shared errors", _shared(), ROBUST_COATING_SHARED, -0.482)
