"""Conjugate search laws: Beta, Gamma, and the paper's general family (phi, nu) built from A(theta)
and u(x).

theta is the natural parameter throughout (log-odds, log-rate), as in the paper: it has no boundary
to underflow at. `log_prob` is the density in theta. Beta and Gamma are elementwise: leaves of any
shape are that many independent laws.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jax.flatten_util import ravel_pytree
from jax.scipy.special import betaln, digamma, gammaln, polygamma
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _arrays, _validate
from phenes._trees import replace


class Beta(eqx.Module):
    """Beta(a, b) law of a probability; psi = (log_a, log_b), theta = log-odds."""

    log_a: Float[Array, "*d"]
    log_b: Float[Array, "*d"]

    def __init__(self, a, b):
        self.log_a, self.log_b = (
            jnp.log(_arrays.positive("a", a)),
            jnp.log(_arrays.positive("b", b)),
        )
        _validate.shape("b", self.log_b, self.log_a.shape, "a")

    @property
    def a(self) -> Float[Array, "*d"]:
        return jnp.exp(self.log_a)

    @property
    def b(self) -> Float[Array, "*d"]:
        return jnp.exp(self.log_b)

    @property
    def mean(self) -> Float[Array, "*d"]:
        """Expected probability a / (a + b)."""
        return jax.nn.sigmoid(self.log_a - self.log_b)

    def draw(self, key: PRNGKeyArray, n: int) -> PRNGKeyArray:
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*d"]:
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*d"]:
        first, second = jax.random.split(xi)
        return jax.random.loggamma(first, self.a) - jax.random.loggamma(second, self.b)

    def log_prob(self, theta: Float[Array, "*d"]) -> Float[Array, ""]:
        a, b = self.a, self.b
        return jnp.sum(
            a * jax.nn.log_sigmoid(theta) + b * jax.nn.log_sigmoid(-theta) - betaln(a, b)
        )

    def natural(self, g: "Beta") -> "Beta":
        """I[q] in (a, b) is diag(psi1(a), psi1(b)) - psi1(a + b)."""
        a, b = self.a, self.b
        t = polygamma(1, a + b)
        top, side, bottom = polygamma(1, a) - t, -t, polygamma(1, b) - t
        return _solve_in_logs(self, (a, g.log_a), (b, g.log_b), top, side, bottom)

    def move(self, updates: "Beta") -> tuple["Beta", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)


class Gamma(eqx.Module):
    """Gamma(k, rate b) law of a rate; psi = (log_k, log_b), theta = log-rate."""

    log_k: Float[Array, "*d"]
    log_b: Float[Array, "*d"]

    def __init__(self, k, b):
        self.log_k, self.log_b = (
            jnp.log(_arrays.positive("k", k)),
            jnp.log(_arrays.positive("b", b)),
        )
        _validate.shape("b", self.log_b, self.log_k.shape, "k")

    @property
    def k(self) -> Float[Array, "*d"]:
        return jnp.exp(self.log_k)

    @property
    def b(self) -> Float[Array, "*d"]:
        return jnp.exp(self.log_b)

    @property
    def mean(self) -> Float[Array, "*d"]:
        """Expected rate k / b."""
        return jnp.exp(self.log_k - self.log_b)

    def draw(self, key: PRNGKeyArray, n: int) -> PRNGKeyArray:
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*d"]:
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*d"]:
        return jax.random.loggamma(xi, self.k) - self.log_b

    def log_prob(self, theta: Float[Array, "*d"]) -> Float[Array, ""]:
        k = self.k
        return jnp.sum(k * (self.log_b + theta) - jnp.exp(self.log_b + theta) - gammaln(k))

    def score(self, theta: Float[Array, "n *d"], w: Float[Array, " n"]) -> "Gamma":
        k = self.k
        z = self.log_b[None] + theta
        by_k = jnp.tensordot(w, z - digamma(k)[None], axes=1) / w.size
        by_b = jnp.tensordot(w, k[None] - jnp.exp(z), axes=1) / w.size
        return replace(self, log_k=k * by_k, log_b=by_b)

    def natural(self, g: "Gamma") -> "Gamma":
        """I[q] in (k, b) is [[psi1(k), -1/b], [-1/b, k/b^2]]."""
        k, b = self.k, self.b
        return _solve_in_logs(self, (k, g.log_k), (b, g.log_b), polygamma(1, k), -1 / b, k / b**2)

    def move(self, updates: "Gamma") -> tuple["Gamma", Int[Array, ""]]:
        return eqx.apply_updates(self, updates), jnp.zeros((), jnp.int32)


def _solve_in_logs(q, first, second, top, side, bottom):
    """Solve the 2 x 2 Fisher system of (u, v) for gradients and steps in (log u, log v)."""
    (u, g_u), (v, g_v) = first, second
    g_u, g_v = g_u / u, g_v / v
    det = top * bottom - side**2
    step = (bottom * g_u - side * g_v) / det / u, (top * g_v - side * g_u) / det / v
    names = [field for field in q.__dataclass_fields__]
    return replace(q, **dict(zip(names, step, strict=True)))


class Conjugate(eqx.Module):
    """q(theta) = exp(nu phi.theta - nu A(theta) - B(phi, nu)), the conjugate of p = h
    exp(theta.u(x) - A(theta)); psi = (phi, nu).

    For a scalar theta only the convex function A is needed: the normaliser B comes from quadrature,
    samples from rejection under a universal envelope for log-concave densities, both exact to
    rounding. For a vector theta give `B(phi, nu)` and `sampler(key, phi, nu)`. phi must lie inside
    the range of grad A (the mean values of u), nu must be positive (errata 6-9).
    """

    phi: Float[Array, "*n"]
    nu: Float[Array, ""]
    A: Callable[[Array], Array] = eqx.field(static=True)
    B: Callable[[Array, Array], Array] | None = eqx.field(static=True)
    sampler: Callable[[PRNGKeyArray, Array, Array], Array] | None = eqx.field(static=True)

    def __init__(self, phi, nu, A, B=None, sampler=None):
        self.phi = _arrays.as_float("phi", phi)
        self.nu = _validate.shape(
            "nu", _arrays.positive("nu", nu), (), "one strength for all of phi"
        )
        self.A = _validate.function("A", A, "jax.nn.softplus")
        self.B, self.sampler = B, sampler
        if self.phi.ndim and (B is None or sampler is None):
            raise ValueError(
                f"B and sampler must be given for a vector theta, got phi of shape {self.phi.shape}"
                " without them"
            )

    def log_normaliser(self, phi: Array, nu: Array) -> Float[Array, ""]:
        """B(phi, nu) = log int exp(nu (phi.theta - A(theta))) d theta, smooth in phi and nu."""
        if self.B is not None:
            return self.B(phi, nu)
        centre, width = jax.tree.map(lax.stop_gradient, self._mode(phi, nu))
        # theta = centre + width sinh(t): the trapezoidal rule then converges exponentially even for
        # exponential tails
        t = jnp.linspace(-9.0, 9.0, 401, dtype=centre.dtype)
        theta = centre + width * jnp.sinh(t)
        cost = jax.vmap(self.A)(theta)
        # far out A may overflow: no mass there, and no gradient (inf * 0) either
        finite = jnp.isfinite(cost)
        inner = phi * jnp.where(finite, theta, 0.0) - jnp.where(finite, cost, 0.0)
        exponent = jnp.where(finite, nu * inner + jnp.log(jnp.cosh(t)), -jnp.inf)
        return jax.nn.logsumexp(exponent) + jnp.log(width * (t[1] - t[0]))

    def draw(self, key: PRNGKeyArray, n: int) -> PRNGKeyArray:
        return jax.random.split(key, n)

    def sample(self, key: PRNGKeyArray) -> Float[Array, "*n"]:
        return self.push(key)

    def push(self, xi: PRNGKeyArray) -> Float[Array, "*n"]:
        """A draw for the random bits xi. Rejection is not smooth in psi: there is no
        reparameterised estimator here.
        """
        if self.sampler is not None:
            return self.sampler(xi, self.phi, self.nu)
        centre, _ = self._mode(self.phi, self.nu)
        log_total = self.log_normaliser(self.phi, self.nu)  # once, not in every attempt
        return _log_concave_draw(xi, lambda theta: self._exponent(theta) - log_total, centre)

    def log_prob(self, theta: Float[Array, "*n"]) -> Float[Array, ""]:
        return self._exponent(theta) - self.log_normaliser(self.phi, self.nu)

    def _exponent(self, theta):
        return self.nu * (jnp.sum(self.phi * theta) - self.A(theta))

    def natural(self, g: "Conjugate") -> "Conjugate":
        """I[q] = J' Hess B(chi, nu) J with the canonical coordinates (chi = nu phi, nu) (erratum
        8).
        """
        psi, unravel = ravel_pytree((self.phi, self.nu))

        def canonical(chi_nu):
            chi, nu = unravel(chi_nu)
            return self.log_normaliser(chi / nu, nu)

        def to_canonical(psi):
            phi, nu = unravel(psi)
            return ravel_pytree((nu * phi, nu))[0]

        jacobian = jax.jacfwd(to_canonical)(psi)
        fisher = jacobian.T @ jax.hessian(canonical)(to_canonical(psi)) @ jacobian
        phi, nu = unravel(jnp.linalg.solve(fisher, ravel_pytree((g.phi, g.nu))[0]))
        return replace(self, phi=phi, nu=nu)

    def move(self, updates: "Conjugate") -> tuple["Conjugate", Int[Array, ""]]:
        """nu stays positive: it falls at most to a tenth in one step, and that is counted."""
        free = self.nu + updates.nu
        kept = jnp.maximum(free, 0.1 * self.nu)
        return replace(self, phi=self.phi + updates.phi, nu=kept), (kept != free).astype(jnp.int32)

    def _mode(self, phi, nu):
        """The maximum of phi theta - A(theta), by bisection on A' = phi, and a width from the
        curvature there.
        """
        slope = jax.grad(self.A)

        def halve(ends, _):
            low, high = ends
            middle = 0.5 * (low + high)
            below = slope(middle) < phi
            return (jnp.where(below, middle, low), jnp.where(below, high, middle)), None

        edge = jnp.asarray(80.0, phi.dtype)
        (low, high), _ = lax.scan(halve, (-edge, edge), length=60)
        centre = 0.5 * (low + high)
        return centre, 1 / jnp.sqrt(nu * jax.grad(slope)(centre))


def _log_concave_draw(
    key: PRNGKeyArray, log_density: Callable[[Array], Array], mode: Array
) -> Array:
    """One draw from a log-concave density on the line, by rejection: f(mode + t / f(mode)) <=
    f(mode) min(1, exp(1 - |t|)).
    """
    peak = log_density(mode)

    def attempt(carry):
        key, _, _ = carry
        key, for_u, for_v, for_side = jax.random.split(key, 4)
        u = jax.random.uniform(for_u, (), mode.dtype, maxval=2.0)
        v = jax.random.uniform(for_v, (), mode.dtype)
        tail = jnp.maximum(u - 1, jnp.finfo(u.dtype).tiny)
        distance = jnp.where(u <= 1, u, 1 - jnp.log(tail))
        height = jnp.where(u <= 1, v, v * tail)
        side = jnp.where(jax.random.bernoulli(for_side), 1.0, -1.0)
        theta = mode + side * distance * jnp.exp(-peak)
        return key, theta, jnp.log(height) <= log_density(theta) - peak

    return lax.while_loop(lambda carry: ~carry[2], attempt, (key, mode, jnp.array(False)))[1]
