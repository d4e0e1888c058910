# pyright: reportUnknownMemberType=false
"""Conjugate search laws: Beta, Gamma, and the paper's general family (phi, nu).

theta is the natural parameter throughout (log-odds, log-rate), as in the paper: it has no boundary
to underflow at. `log_prob` is the density in theta. Beta and Gamma are elementwise: leaves of any
shape are that many independent laws.
"""

from collections.abc import Callable
from typing import Self, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from jax.scipy.special import betaln, digamma, gammaln, polygamma
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray
from numpy.typing import ArrayLike

from phenes import _arrays, _validate
from phenes._jax import grad, hessian, jacobian, solve
from phenes._trees import replace, shifted
from phenes.special import tiny


class Beta(eqx.Module):
    """Beta(a, b) law of a probability; psi = (log_a, log_b), theta = log-odds.

    Parameters
    ----------
    a : array_like, shape [...]
        Positive; successes so far, as it were.
    b : array_like, shape [...]
        Positive, shaped like a; failures so far.

    Raises
    ------
    ValueError
        If a or b is not positive, or their shapes differ.

    Examples
    --------
    >>> phenes.search.Beta(2.0, 6.0).mean.item()
    0.25
    """

    log_a: Float[Array, "*d"]
    log_b: Float[Array, "*d"]

    def __init__(self, a: ArrayLike, b: ArrayLike):
        self.log_a, self.log_b = (
            jnp.log(_arrays.positive("a", a)),
            jnp.log(_arrays.positive("b", b)),
        )
        _validate.shape("b", self.log_b, self.log_a.shape, "a")

    @property
    def a(self) -> Float[Array, "*d"]:
        """Parameter a, a pseudo-count of successes."""
        return jnp.exp(self.log_a)

    @property
    def b(self) -> Float[Array, "*d"]:
        """Parameter b, a pseudo-count of failures."""
        return jnp.exp(self.log_b)

    @property
    def mean(self) -> Float[Array, "*d"]:
        """Expected probability a / (a + b)."""
        return jax.nn.sigmoid(self.log_a - self.log_b)

    def centre(self) -> Float[Array, "*d"]:
        """The log-odds of the mean."""
        return self.log_a - self.log_b

    def draw(self, key: PRNGKeyArray, n: int) -> Key[Array, " n"]:
        """Random bits of n individuals."""
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*d"]:
        """One theta."""
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*d"]:
        """The theta of random bits, smooth in psi."""
        first, second = jax.random.split(xi)
        return jax.random.loggamma(first, self.a) - jax.random.loggamma(second, self.b)

    def log_prob(self, theta: Float[Array, "*d"]) -> Float[Array, ""]:
        """log q(theta)."""
        a, b = self.a, self.b
        return jnp.sum(
            a * jax.nn.log_sigmoid(theta) + b * jax.nn.log_sigmoid(-theta) - betaln(a, b)
        )

    def natural(self, g: Self) -> Self:
        """I[q] in (a, b) is diag(psi1(a), psi1(b)) - psi1(a + b)."""
        a, b = self.a, self.b
        t = polygamma(1, a + b)
        top, side, bottom = polygamma(1, a) - t, -t, polygamma(1, b) - t
        return _solve_in_logs(self, (a, g.log_a), (b, g.log_b), top, side, bottom)

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """psi + updates: every psi is inside the domain."""
        return shifted(self, updates), jnp.zeros((), jnp.int32)


class Gamma(eqx.Module):
    """Gamma(k, rate b) law of a rate; psi = (log_k, log_b), theta = log-rate.

    Parameters
    ----------
    k : array_like, shape [...]
        Positive shape parameter; events so far, as it were.
    b : array_like, shape [...]
        Positive rate parameter, shaped like k; the time they took.

    Raises
    ------
    ValueError
        If k or b is not positive, or their shapes differ.

    Examples
    --------
    >>> phenes.search.Gamma(2.0, 4.0).mean.item()
    0.5
    """

    log_k: Float[Array, "*d"]
    log_b: Float[Array, "*d"]

    def __init__(self, k: ArrayLike, b: ArrayLike):
        self.log_k, self.log_b = (
            jnp.log(_arrays.positive("k", k)),
            jnp.log(_arrays.positive("b", b)),
        )
        _validate.shape("b", self.log_b, self.log_k.shape, "k")

    @property
    def k(self) -> Float[Array, "*d"]:
        """Shape parameter."""
        return jnp.exp(self.log_k)

    @property
    def b(self) -> Float[Array, "*d"]:
        """Rate parameter."""
        return jnp.exp(self.log_b)

    @property
    def mean(self) -> Float[Array, "*d"]:
        """Expected rate k / b."""
        return jnp.exp(self.log_k - self.log_b)

    def centre(self) -> Float[Array, "*d"]:
        """The log-rate of the mean."""
        return self.log_k - self.log_b

    def draw(self, key: PRNGKeyArray, n: int) -> Key[Array, " n"]:
        """Random bits of n individuals."""
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*d"]:
        """One theta."""
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*d"]:
        """The theta of random bits, smooth in psi."""
        return jax.random.loggamma(xi, self.k) - self.log_b

    def log_prob(self, theta: Float[Array, "*d"]) -> Float[Array, ""]:
        """log q(theta)."""
        k = self.k
        return jnp.sum(k * (self.log_b + theta) - jnp.exp(self.log_b + theta) - gammaln(k))

    def score(self, theta: Float[Array, "n *d"], w: Float[Array, " n"]) -> Self:
        """1/N sum_i w_i d log q(theta_i) / d psi."""
        k = self.k
        z = self.log_b[None] + theta
        by_k = jnp.tensordot(w, z - digamma(k)[None], axes=1) / w.size
        by_b = jnp.tensordot(w, k[None] - jnp.exp(z), axes=1) / w.size
        return replace(self, log_k=k * by_k, log_b=by_b)

    def natural(self, g: Self) -> Self:
        """I[q] in (k, b) is [[psi1(k), -1/b], [-1/b, k/b^2]]."""
        k, b = self.k, self.b
        return _solve_in_logs(self, (k, g.log_k), (b, g.log_b), polygamma(1, k), -1 / b, k / b**2)

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """psi + updates: every psi is inside the domain."""
        return shifted(self, updates), jnp.zeros((), jnp.int32)


LINE = 5.0  # arsinh of theta up to which A is looked at: +-74
FAR = 80.0  # arsinh of theta beyond which there is no mode: 3e34
OVERFLOWS = 1e30  # of A: beyond it infinity is no boundary
# log of the distances from the mode that are looked at
NEAREST, FARTHEST = -80.0, 80.0
# theta = mode +- distance exp(t - exp(-t)): both ends fall double exponentially, to a mass below
# 1e-17 at t = -3.7 and exp(-58) at t = 4.1
HALF_LINE = np.linspace(-3.7, 4.1, 300)

Pair = TypeVar("Pair", Beta, Gamma)
Entry = tuple[Array, Array]  # a parameter, and the gradient in its logarithm


def _solve_in_logs(
    q: Pair, first: Entry, second: Entry, top: Array, side: Array, bottom: Array
) -> Pair:
    """Solve the 2 x 2 Fisher system of (u, v) for gradients and steps in (log u, log v)."""
    u, v = first[0], second[0]
    g_u, g_v = first[1] / u, second[1] / v
    det = top * bottom - side**2
    step = (bottom * g_u - side * g_v) / det / u, (top * g_v - side * g_u) / det / v
    return replace(q, **dict(zip(q.__dataclass_fields__, step, strict=True)))


class Conjugate(eqx.Module):
    """q(theta) = exp(nu phi.theta - nu A(theta) - B(phi, nu)); psi = (phi, nu).

    The conjugate of p = h exp(theta.u(x) - A(theta)). For a scalar theta without boundary, only the
    convex function A is needed: the normaliser B comes from quadrature, good to 1e-9 for nu from
    0.01 and however lopsided the law; samples come from rejection under a universal envelope for
    log-concave densities, exact but for B and rounding (errata 6-9). Where theta has a boundary, as
    the negative rate of an exponential law, give B and sampler.

    Parameters
    ----------
    phi : array_like, shape [] or [n]
        Mean of u(x), inside the range of grad A.
    nu : array_like, shape []
        Positive strength: of how many observations the law knows.
    A : callable
        (theta) -> log-partition function of p, convex and smooth.
    B : callable, optional
        (phi, nu) -> log-normaliser of q; needed for a vector theta, and for one with a boundary.
    sampler : callable, optional
        (key, phi, nu) -> theta; needed for a vector theta, and for one with a boundary.

    Raises
    ------
    ValueError
        If nu is not one positive number, if B or sampler is missing for a vector theta or for an A
        that is not finite and convex on the whole line, or if phi is outside the range of grad A.

    Examples
    --------
    >>> q = phenes.search.Conjugate(0.25, 8.0, jax.nn.softplus)
    >>> q.sample(jax.random.key(0)).shape
    ()
    """

    phi: Float[Array, "*n"]
    nu: Float[Array, ""]
    A: Callable[[Array], Array] = eqx.field(static=True)
    B: Callable[[Array, Array], Array] | None = eqx.field(static=True)
    sampler: Callable[[PRNGKeyArray, Array, Array], Array] | None = eqx.field(static=True)

    def __init__(
        self,
        phi: ArrayLike,
        nu: ArrayLike,
        A: Callable[[Array], Array],
        B: Callable[[Array, Array], Array] | None = None,
        sampler: Callable[[PRNGKeyArray, Array, Array], Array] | None = None,
    ):
        self.phi = _arrays.as_float("phi", phi)
        self.nu = _validate.shape(
            "nu", _arrays.positive("nu", nu), (), "one strength for all of phi"
        )
        # A and B are the paper's names, not constants
        self.A = _validate.function("A", A, "jax.nn.softplus")  # pyright: ignore[reportConstantRedefinition]
        self.B = B  # pyright: ignore[reportConstantRedefinition]
        self.sampler = sampler
        if self.phi.ndim and (B is None or sampler is None):
            raise ValueError(
                f"B and sampler must be given for a vector theta, got phi of shape {self.phi.shape}"
                " without them"
            )
        if (B is None or sampler is None) and _arrays.concrete(self.phi):
            self._check_line()

    def _check_line(self) -> None:
        """Refuse an A that quadrature, mode and envelope are not made for, and a phi without q."""
        with jax.ensure_compile_time_eval():
            theta = jnp.sinh(jnp.linspace(-LINE, LINE, 201, dtype=self.phi.dtype))
            value = np.asarray(jax.vmap(self.A)(theta))
            slope = np.asarray(jax.vmap(grad(self.A))(theta))
            low, high = (float(end) for end in self._range())
        # an A that has grown beyond all numbers is no boundary
        known = np.isfinite(value) | (value == np.inf) & (np.nanmax(np.abs(value)) > OVERFLOWS)
        known &= ~np.isnan(slope) | (value == np.inf)
        steps = np.diff(slope[np.isfinite(slope)])
        if not np.all(known):
            at = np.asarray(theta)[~known][0]
            raise ValueError(
                f"A must be finite and convex on the whole line for a law without B and sampler,"
                f" got A({at:.3g}) = {value[~known][0]:.3g}: give both"
            )
        falls = steps < -1e-4 * np.abs(slope[np.isfinite(slope)]).max()
        if np.any(falls):
            at = np.asarray(theta)[np.isfinite(slope)][1:][falls][0]
            raise ValueError(
                "A must be finite and convex on the whole line for a law without B and sampler, got"
                f" an A whose slope falls before {at:.3g}: give both"
            )
        if not low < float(self.phi) < high:
            raise ValueError(
                f"phi must be inside the range of the derivative of A, {low:.3g} to {high:.3g}, got"
                f" {float(self.phi):.6g}"
            )

    def _range(self) -> tuple[Array, Array]:
        """The ends of what A' can be, and with it phi."""
        far = jnp.asarray(np.sinh(FAR), self.phi.dtype)
        slope = grad(self.A)
        low, high = slope(-far), slope(far)
        # far out A may overflow
        return jnp.where(jnp.isnan(low), -jnp.inf, low), jnp.where(jnp.isnan(high), jnp.inf, high)

    def log_normaliser(self, phi: Array, nu: Array) -> Float[Array, ""]:
        """B(phi, nu) = log int exp(nu (phi.theta - A(theta))) d theta, smooth in phi and nu.

        Parameters
        ----------
        phi : array
            Mean parameter.
        nu : array
            Number of pseudo-observations.

        Returns
        -------
        array, shape []
        """
        if self.B is not None:
            return self.B(phi, nu)
        centre = lax.stop_gradient(self._mode(phi))
        left, right = lax.stop_gradient(self._reach(phi, nu, centre))
        t = jnp.asarray(HALF_LINE, centre.dtype)
        part = jnp.exp(t - jnp.exp(-t))
        theta = centre + jnp.concatenate([-left * part, right * part])
        slope = jnp.tile(t + jnp.log1p(jnp.exp(-t)) - jnp.exp(-t), 2)  # log of d part / dt
        log_step = (
            jnp.log(t[1] - t[0]) + slope + jnp.repeat(jnp.log(jnp.stack([left, right])), t.size)
        )
        cost = jax.vmap(self.A)(theta)
        # far out A may overflow: no mass there, and no gradient (inf * 0) either
        finite = jnp.isfinite(cost)
        inner = phi * jnp.where(finite, theta, 0.0) - jnp.where(finite, cost, 0.0)
        return jax.nn.logsumexp(jnp.where(finite, nu * inner + log_step, -jnp.inf))

    def draw(self, key: PRNGKeyArray, n: int) -> Key[Array, " n"]:
        """Random bits of n individuals."""
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*n"]:
        """One theta."""
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*n"]:
        """The theta of random bits; rejection is not smooth in psi, so never reparameterise."""
        if self.sampler is not None:
            return self.sampler(xi, self.phi, self.nu)
        centre = self._mode(self.phi)
        log_total = self.log_normaliser(self.phi, self.nu)  # once, not in every attempt

        def log_density(theta: Array) -> Array:
            return self._exponent(theta) - log_total

        return _log_concave_draw(xi, log_density, centre)

    def log_prob(self, theta: Float[Array, "*n"]) -> Float[Array, ""]:
        """log q(theta)."""
        return self._exponent(theta) - self.log_normaliser(self.phi, self.nu)

    def _exponent(self, theta: Array) -> Array:
        return self.nu * (jnp.sum(self.phi * theta) - self.A(theta))

    def natural(self, g: Self) -> Self:
        """I[q]^-1 g, I[q] = J' Hess B(chi, nu) J with canonical (chi = nu phi, nu) (erratum 8)."""
        psi, unravel = ravel_pytree((self.phi, self.nu))

        def canonical(chi_nu: Array) -> Array:
            chi, nu = unravel(chi_nu)
            return self.log_normaliser(chi / nu, nu)

        def to_canonical(psi: Array) -> Array:
            phi, nu = unravel(psi)
            return ravel_pytree((nu * phi, nu))[0]

        J = jacobian(to_canonical)(psi)
        fisher = J.T @ hessian(canonical)(to_canonical(psi)) @ J
        phi, nu = unravel(solve(fisher, ravel_pytree((g.phi, g.nu))[0]))
        return replace(self, phi=phi, nu=nu)

    def move(self, updates: Self) -> tuple[Self, Int[Array, ""]]:
        """nu and phi stay inside: a step takes at most .9 of the way out, and that is counted."""
        free, phi = self.nu + updates.nu, self.phi + updates.phi
        kept = jnp.maximum(free, 0.1 * self.nu)
        held_back = (kept != free).astype(jnp.int32)
        if self.B is None:
            low, high = self._range()
            inside = jnp.clip(phi, 0.1 * self.phi + 0.9 * low, 0.1 * self.phi + 0.9 * high)
            held_back, phi = held_back + (inside != phi).astype(jnp.int32), inside
        return replace(self, phi=phi, nu=kept), held_back

    def _mode(self, phi: Array) -> Array:
        """The maximum of phi theta - A(theta), by bisection in arsinh theta: of any size."""
        slope = grad(self.A)

        def before(middle: Array) -> Array:
            steep = slope(jnp.sinh(middle))
            # so far out that A overflows: back
            return jnp.where(jnp.isnan(steep), middle < 0, steep < phi)

        edge = jnp.asarray(FAR, phi.dtype)
        return jnp.sinh(_bisect(before, -edge, edge))

    def _reach(self, phi: Array, nu: Array, centre: Array) -> tuple[Array, Array]:
        """How far q reaches to the left and to the right of its mode.

        There distance times slope of the exponent is one. The exponent has fallen by one at most
        until there, and falls at least as exp(-theta / distance) beyond; so one of these lengths
        may be a million times the other, or the curvature at the mode be 0.
        """
        slope = grad(self.A)

        def of(side: float) -> Array:
            def before(log_distance: Array) -> Array:
                distance = jnp.exp(log_distance)
                return nu * distance * jnp.abs(slope(centre + side * distance) - phi) < 1

            ends = jnp.asarray(NEAREST, phi.dtype), jnp.asarray(FARTHEST, phi.dtype)
            return jnp.exp(_bisect(before, *ends))

        return of(-1.0), of(1.0)


def _bisect(before: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Where `before` turns from True to False."""

    def halve(ends: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], None]:
        low, high = ends
        middle = 0.5 * (low + high)
        below = before(middle)
        return (jnp.where(below, middle, low), jnp.where(below, high, middle)), None

    (low, high), _ = lax.scan(halve, (low, high), length=64)
    return 0.5 * (low + high)


Attempt = tuple[PRNGKeyArray, Array, Array]  # key, theta, accepted


def _log_concave_draw(
    key: PRNGKeyArray, log_density: Callable[[Array], Array], mode: Array
) -> Array:
    """One draw by rejection: f(mode + t / f(mode)) <= f(mode) min(1, exp(1 - |t|))."""
    peak = log_density(mode)

    def attempt(carry: Attempt) -> Attempt:
        key, _, _ = carry
        key, for_u, for_v, for_side = jax.random.split(key, 4)
        u = jax.random.uniform(for_u, (), mode.dtype, maxval=2.0)
        v = jax.random.uniform(for_v, (), mode.dtype)
        tail = jnp.maximum(u - 1, tiny(u))
        distance = jnp.where(u <= 1, u, 1 - jnp.log(tail))
        height = jnp.where(u <= 1, v, v * tail)
        side = jnp.where(jax.random.bernoulli(for_side), 1.0, -1.0)
        theta = mode + side * distance * jnp.exp(-peak)
        return key, theta, jnp.log(height) <= log_density(theta) - peak

    def rejected(carry: Attempt) -> Array:
        return ~carry[2]

    return lax.while_loop(rejected, attempt, (key, mode, jnp.array(False)))[1]
