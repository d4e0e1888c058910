"""The 24 BBOB functions, each as f(x) - f_opt of one point x [d].

Every function takes the point and the data of the instance in the dtype of the point. Indices count
from zero and pen(x) is the squared distance of x to the box [-5, 5]^d. Where the definitions
subtract nearly equal numbers close to the optimum (1 - cos(z), z^2 - z near one, 10 - 10 exp(-q)),
the forms below are equal to them but free of cancellation, so the difference to f_opt keeps its
relative accuracy.
"""

import math

import jax.numpy as jnp
import numpy as np
from jax import Array

from phenes.problems.coco.instances import LUNACEK_OPTIMUM, SCHWEFEL_OPTIMUM, Instance, stretch
from phenes.problems.coco.transforms import (
    dot,
    geometric,
    like,
    oscillate,
    penalty,
    ramp,
    sine_of_pi,
    skew,
)


def sphere(x: Array, data: Instance) -> Array:
    """f1: |z|^2, z = x - x_opt."""
    return jnp.sum(jnp.square(x - data.x_opt))


def separable_ellipsoid(x: Array, data: Instance) -> Array:
    """f2: sum_i 10^(6 i / (d - 1)) z_i^2, z = T_osz(x - x_opt)."""
    z = oscillate(x - data.x_opt)
    return dot(geometric(1e6, z), jnp.square(z))


def separable_rastrigin(x: Array, data: Instance) -> Array:
    """f3: Rastrigin's function of z = Lambda^10 T_asy^0.2(T_osz(x - x_opt))."""
    z = skew(oscillate(x - data.x_opt), 0.2)
    return _rastrigin(geometric(math.sqrt(10), z) * z)


def bueche_rastrigin(x: Array, data: Instance) -> Array:
    """f4: Rastrigin's function of z = S Lambda^10 T_osz(x - x_opt), plus 100 pen(x).

    The diagonal matrix S is 10 at positive entries of even index and 1 elsewhere.
    """
    z = oscillate(x - data.x_opt)
    steep = (z > 0) & (np.arange(z.size) % 2 == 0)
    return _rastrigin(
        jnp.where(steep, 10.0, 1.0) * geometric(math.sqrt(10), z) * z
    ) + 100 * penalty(x)


def linear_slope(x: Array, data: Instance) -> Array:
    """f5: sum_i 10^(i / (d - 1)) (5 - z_i), z_i = min(sign(x_opt_i) x_i, 5).

    It is flat beyond the bound at x_opt.
    """
    z = jnp.minimum(jnp.sign(data.x_opt) * x, 5)
    return dot(geometric(10, z), 5 - z)


def attractive_sector(x: Array, data: Instance) -> Array:
    """f6: T_osz(sum_i (s_i z_i)^2)^0.9, z = R Lambda^10 Q (x - x_opt).

    s_i = 100 where z_i x_opt_i > 0, else 1.
    """
    z = dot(data.matrices[0], x - data.x_opt)
    inner = jnp.where(z * data.x_opt > 0, 100.0, 1.0) * z
    return oscillate(dot(inner, inner)) ** 0.9


def step_ellipsoid(x: Array, data: Instance) -> Array:
    """f7: 0.1 max(|v_0| / 10^4, sum_i 100^(i / (d - 1)) z_i^2), z = R step(v), plus pen(x).

    v = Lambda^10 Q (x - x_opt). The steps are 1 wide where |v_i| > 1/2 and 1/10 wide otherwise.
    """
    scale, r = data.matrices
    v = dot(scale, x - data.x_opt)
    z = dot(r, jnp.where(jnp.abs(v) > 0.5, jnp.floor(v + 0.5), jnp.floor(10 * v + 0.5) / 10))
    return 0.1 * jnp.maximum(jnp.abs(v[0]) / 1e4, dot(geometric(100, z), jnp.square(z))) + penalty(
        x
    )


def rosenbrock(x: Array, data: Instance) -> Array:
    """f8: Rosenbrock's function of z = c (x - x_opt) + 1, c = max(1, sqrt(d) / 8)."""
    return jnp.sum(_rosenbrock_terms(stretch(x.size) * (x - data.x_opt)))


def rotated_rosenbrock(x: Array, data: Instance) -> Array:
    """f9: Rosenbrock's function of z = c R x + 1/2 = c R (x - x_opt) + 1."""
    return jnp.sum(_rosenbrock_terms(dot(data.matrices[0], x - data.x_opt)))


def ellipsoid(x: Array, data: Instance) -> Array:
    """f10: sum_i 10^(6 i / (d - 1)) z_i^2, z = T_osz(R (x - x_opt))."""
    z = oscillate(dot(data.matrices[0], x - data.x_opt))
    return dot(geometric(1e6, z), jnp.square(z))


def discus(x: Array, data: Instance) -> Array:
    """f11: 10^6 z_0^2 + sum_{i>0} z_i^2, z = T_osz(R (x - x_opt))."""
    squares = jnp.square(oscillate(dot(data.matrices[0], x - data.x_opt)))
    return 1e6 * squares[0] + jnp.sum(squares[1:])


def bent_cigar(x: Array, data: Instance) -> Array:
    """f12: z_0^2 + 10^6 sum_{i>0} z_i^2, z = R T_asy^0.5(R (x - x_opt))."""
    inner, outer = data.matrices
    squares = jnp.square(dot(outer, skew(dot(inner, x - data.x_opt), 0.5)))
    return squares[0] + 1e6 * jnp.sum(squares[1:])


def sharp_ridge(x: Array, data: Instance) -> Array:
    """f13: z_0^2 + 100 |(z_1, ..., z_{d-1})|, z = R Lambda^10 Q (x - x_opt)."""
    squares = jnp.square(dot(data.matrices[0], x - data.x_opt))
    return squares[0] + 100 * jnp.sqrt(jnp.sum(squares[1:]))


def different_powers(x: Array, data: Instance) -> Array:
    """f14: sqrt(sum_i |z_i|^(2 + 4 i / (d - 1))), z = R (x - x_opt)."""
    z = dot(data.matrices[0], x - data.x_opt)
    return jnp.sqrt(jnp.sum(jnp.abs(z) ** (2 + 4 * ramp(z))))


def rastrigin(x: Array, data: Instance) -> Array:
    """f15: Rastrigin's function of z = R Lambda^10 Q T_asy^0.2(T_osz(R (x - x_opt)))."""
    inner, outer = data.matrices
    return _rastrigin(dot(outer, skew(oscillate(dot(inner, x - data.x_opt)), 0.2)))


def weierstrass(x: Array, data: Instance) -> Array:
    """f16: 10 m^3 + 10 / d pen(x), m the mean over i of sum_k 2^-k (1 - cos(2 pi 3^k z_i)).

    k = 0 .. 11, z = R Lambda^0.01 Q T_osz(R (x - x_opt)). With w = exp(i pi z), each term is
    2 Im(w^(3^k))^2, so repeated cubing spares all but one evaluation of the sine and the cosine.
    """
    inner, outer = data.matrices
    z = dot(outer, oscillate(dot(inner, x - data.x_opt)))
    angle = jnp.pi * (z - jnp.round(z))
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    terms = 2 * jnp.square(sine)
    for k in range(1, 12):
        real, imaginary = jnp.square(cosine) - jnp.square(sine), 2 * cosine * sine
        cosine, sine = cosine * real - sine * imaginary, cosine * imaginary + sine * real
        terms = terms + 2.0 ** (1 - k) * jnp.square(sine)
    # A product with ones, as XLA would fuse jnp.sum with the cubing into one loop that computes
    # terms repeatedly.
    mean = dot(jnp.ones_like(terms), terms) / z.size
    return 10 * mean**3 + 10 / x.size * penalty(x)


def schaffer(x: Array, data: Instance) -> Array:
    """f17, f18: the squared mean of sqrt(s_i) (1 + sin(50 s_i^0.2)^2), plus 10 pen(x).

    s_i = |(z_i, z_{i+1})| and z = Lambda^a Q T_asy^0.5(R (x - x_opt)) with a = 10 for f17 and 1000
    for f18.
    """
    inner, outer = data.matrices
    squares = jnp.square(dot(outer, skew(dot(inner, x - data.x_opt), 0.5)))
    pairs = squares[:-1] + squares[1:]
    terms = jnp.sqrt(jnp.sqrt(pairs)) * (1 + jnp.square(jnp.sin(50 * pairs**0.1)))
    return jnp.square(jnp.sum(terms) / terms.size) + 10 * penalty(x)


def griewank_rosenbrock(x: Array, data: Instance) -> Array:
    """f19: ten times the mean over i of t_i / 4000 + 1 - cos(t_i).

    t_i are the Rosenbrock terms of z = c R x + 1/2.
    """
    terms = _rosenbrock_terms(dot(data.matrices[0], x - data.x_opt))
    return 10 * jnp.sum(terms / 4000 + 2 * jnp.square(jnp.sin(terms / 2))) / terms.size


def schwefel(x: Array, data: Instance) -> Array:
    """f20: 4.1898 - mean_i(z_i sin(10 sqrt(|z_i|))) + 100 pen(z).

    With y = 2 sign(x_opt) x - m and m = 4.2097: z = Lambda^10 v + m, v_0 = y_0 and v_i = y_i +
    y_{i-1} / 4.
    """
    y = 2 * jnp.sign(data.x_opt) * x - SCHWEFEL_OPTIMUM
    v = y + jnp.concatenate([jnp.zeros_like(y[:1]), y[:-1] / 4])
    z = geometric(math.sqrt(10), v) * v + SCHWEFEL_OPTIMUM
    waves = z * jnp.sin(10 * jnp.sqrt(jnp.abs(z)))
    return 4.189828872724339 - jnp.sum(waves) / z.size + 100 * penalty(z)


def gallagher(x: Array, data: Instance) -> Array:
    """f21, f22: T_osz(10 - max_p h_p exp(-q_p / (2 d)))^2 + pen(x), q_p = |s_p (u - c_p)|^2.

    u = R (x - x_opt). 10 - h exp(-q) is written as (10 - h) - h expm1(-q), which is exact close to
    the highest peak at u = 0. The squares are not expanded into matrix products, as that would lose
    digits close to all other peaks.
    """
    assert data.peaks is not None
    centres, scales, heights = data.peaks
    u = dot(data.matrices[0], x - data.x_opt)
    distances = scales * (u[None, :] - centres)
    q = jnp.einsum("pj,pj->p", distances, distances, precision="highest")
    depths = (10 - heights) - heights * jnp.expm1(-q / (2 * x.size))
    return jnp.square(oscillate(jnp.min(depths))) + penalty(x)


def katsuura(x: Array, data: Instance) -> Array:
    """f23: 10 / d^2 (prod_i (1 + (i + 1) t_i)^(10 / d^1.2) - 1) + pen(x).

    t_i = sum_k |2^k z_i - round(2^k z_i)| / 2^k, k = 1 .. 32, z = R Lambda^100 Q (x - x_opt). The
    product could overflow, so it is computed as a sum of logarithms.
    """
    z = dot(data.matrices[0], x - data.x_opt)
    roughness = jnp.zeros_like(z)
    for k in range(1, 33):
        scaled = 2.0**k * z
        roughness = roughness + jnp.abs(scaled - jnp.round(scaled)) / 2.0**k
    logs = jnp.log1p(like(np.arange(1, z.size + 1), z) * roughness)
    return 10 / z.size**2 * jnp.expm1(10 / z.size**1.2 * jnp.sum(logs)) + penalty(x)


def lunacek_bi_rastrigin(x: Array, data: Instance) -> Array:
    """f24: min(|y - m|^2, d + s |y - n|^2) + 10 sum_i (1 - cos(2 pi z_i)) + 10^4 pen(x).

    y = 2 sign(x_opt) x and z = R Lambda^100 Q (y - m), with m = 2.5, s = 1 - 1 / (2 sqrt(d + 20) -
    8.2) and n = -sqrt((m^2 - 1) / s).
    """
    s = 1 - 0.5 / (math.sqrt(x.size + 20) - 4.1)
    second = -math.sqrt((LUNACEK_OPTIMUM**2 - 1) / s)
    y = 2 * jnp.sign(data.x_opt) * x
    away = y - LUNACEK_OPTIMUM
    funnels = jnp.minimum(dot(away, away), x.size + s * jnp.sum(jnp.square(y - second)))
    waves = jnp.sum(jnp.square(sine_of_pi(dot(data.matrices[0], away))))
    return funnels + 20 * waves + 1e4 * penalty(x)


def _rastrigin(z: Array) -> Array:
    """sum_i 10 (1 - cos(2 pi z_i)) + z_i^2 of z [d]."""
    return jnp.sum(20 * jnp.square(sine_of_pi(z)) + jnp.square(z))


def _rosenbrock_terms(v: Array) -> Array:
    """Rosenbrock's terms 100 (z_i^2 - z_{i+1})^2 + (z_i - 1)^2 [d - 1] of z = 1 + v, v [d]."""
    head, tail = v[:-1], v[1:]
    return 100 * jnp.square(head * (2 + head) - tail) + jnp.square(head)


FUNCTIONS = {
    1: ("sphere", sphere),
    2: ("separable ellipsoid", separable_ellipsoid),
    3: ("separable Rastrigin", separable_rastrigin),
    4: ("Bueche-Rastrigin", bueche_rastrigin),
    5: ("linear slope", linear_slope),
    6: ("attractive sector", attractive_sector),
    7: ("step ellipsoid", step_ellipsoid),
    8: ("Rosenbrock", rosenbrock),
    9: ("rotated Rosenbrock", rotated_rosenbrock),
    10: ("ellipsoid", ellipsoid),
    11: ("discus", discus),
    12: ("bent cigar", bent_cigar),
    13: ("sharp ridge", sharp_ridge),
    14: ("different powers", different_powers),
    15: ("Rastrigin", rastrigin),
    16: ("Weierstrass", weierstrass),
    17: ("Schaffer F7", schaffer),
    18: ("ill-conditioned Schaffer F7", schaffer),
    19: ("Griewank-Rosenbrock", griewank_rosenbrock),
    20: ("Schwefel", schwefel),
    21: ("Gallagher 101 peaks", gallagher),
    22: ("Gallagher 21 peaks", gallagher),
    23: ("Katsuura", katsuura),
    24: ("Lunacek bi-Rastrigin", lunacek_bi_rastrigin),
}
