"""The paper's general family, from A alone where that is possible and refused where it is not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import betaln, gammaln
from scipy import integrate

from phenes import Batch, estimators, inputs, search
from phenes._trees import replace


def exponential_A(theta):
    """Waiting times of rate -theta: theta is negative."""
    return -jnp.log(-theta)


def exponential_B(phi, nu):
    return gammaln(nu + 1) - (nu + 1) * jnp.log(nu * phi)


def exponential_sampler(key, phi, nu):
    return -jax.random.gamma(key, nu + 1) / (nu * phi)


def cut_off(theta):
    """The same with the convention of convex analysis: infinite outside."""
    return jnp.where(theta < 0, -jnp.log(jnp.where(theta < 0, -theta, 1.0)), jnp.inf)


def half_line(theta):
    """Finite everywhere, convex on one side only."""
    return gammaln(theta + 1)


@pytest.mark.parametrize("A", [exponential_A, cut_off, half_line])
@pytest.mark.parametrize("only", ["neither", "B"])
def test_a_boundary_of_theta_needs_B_and_sampler(A, only):
    given = {} if only == "neither" else {"B": exponential_B}
    with pytest.raises(ValueError, match="A must be finite and convex on the whole line"):
        search.Conjugate(1.7, 0.8, A, **given)


def test_with_both_the_exponential_law_has_the_right_score():
    """d log P(x) / d phi against a difference of integrals over theta."""
    phi, nu, x, step = 1.7, 0.8, 3.0, 1e-4
    q = search.Conjugate(phi, nu, exponential_A, exponential_B, exponential_sampler)
    p = inputs.NaturalFamily(
        exponential_A, lambda x: x, lambda k, t: jax.random.exponential(k) / -t
    )

    def integral(phi, nu, extra):
        def density(t):
            return np.exp(nu * phi * t + nu * np.log(-t) + extra * (t * x + np.log(-t)))

        return integrate.quad(density, -60.0, 0.0, epsabs=0, epsrel=1e-12, points=[-1.0])[0]

    def log_p(phi):
        return np.log(integral(phi, nu, 1.0) / integral(phi, nu, 0.0))

    numeric = (log_p(phi + step) - log_p(phi - step)) / (2 * step)
    got = estimators.phenotype(p, q, Batch(theta=None, x=jnp.array([x])), jnp.ones(1))
    np.testing.assert_allclose(got.phi, numeric, rtol=1e-6)


@pytest.mark.parametrize(
    ("A", "inside", "outside"),
    [
        (jax.nn.softplus, [0.001, 0.3, 0.999], [-0.2, 0.0, 1.0, 1.2]),
        (jnp.exp, [1e-3, 1.7, 1e6], [-1.0, 0.0]),
        (lambda theta: 0.5 * theta**2, [-500.0, 0.0, 3.0, 500.0], []),
    ],
    ids=["Bernoulli", "Poisson", "normal"],
)
def test_phi_must_be_a_mean_that_the_law_can_have(A, inside, outside):
    """The mode is where A' = phi, however far away."""
    slope = jax.grad(A)
    for phi in inside:
        q = search.Conjugate(phi, 2.0, A)
        centre = q._mode(q.phi)
        np.testing.assert_allclose(slope(centre), phi, rtol=1e-9, atol=1e-12)
        assert np.isfinite(q.log_prob(centre))
    for phi in outside:
        with pytest.raises(ValueError, match="phi must be inside the range of the derivative of A"):
            search.Conjugate(phi, 2.0, A)


def test_the_normaliser_of_a_far_law_is_that_of_a_near_one():
    """Of the normal family, B(phi, nu) = nu phi^2 / 2 + log(2 pi / nu) / 2."""
    q = search.Conjugate(300.0, 2.0, lambda theta: 0.5 * theta**2)
    exact = 2.0 * 300.0**2 / 2 + 0.5 * np.log(2 * np.pi / 2.0)
    np.testing.assert_allclose(q.log_normaliser(q.phi, q.nu), exact, rtol=1e-13)


def bernoulli_B(phi, nu):
    return betaln(nu * phi, nu * (1 - phi))


def poisson_B(phi, nu):
    return gammaln(nu * phi) - nu * phi * jnp.log(nu)


@pytest.mark.parametrize("nu", [0.01, 0.3, 8.0, 1e4])
@pytest.mark.parametrize(
    ("A", "B", "phi"),
    [
        (jax.nn.softplus, bernoulli_B, 1e-6),
        (jax.nn.softplus, bernoulli_B, 0.5),
        (jax.nn.softplus, bernoulli_B, 0.999),
        (jnp.exp, poisson_B, 1e-8),
        (jnp.exp, poisson_B, 3.0),
        (jnp.exp, poisson_B, 1e4),
    ],
)
def test_the_normaliser_of_a_lopsided_law_is_the_closed_form(A, B, phi, nu):
    """One tail may be a million times the length of the other, and of what the curvature says."""
    q = search.Conjugate(phi, nu, A)
    np.testing.assert_allclose(q.log_normaliser(q.phi, q.nu), B(phi, nu), rtol=1e-9, atol=1e-9)
    got, exact = (jax.grad(each, (0, 1))(q.phi, q.nu) for each in (q.log_normaliser, B))
    np.testing.assert_allclose(got, exact, rtol=1e-7, atol=1e-10)


def test_a_mode_without_curvature():
    """int exp(-nu theta^4) = 2 Gamma(5/4) nu^(-1/4): A is convex, A'' at the mode is 0."""
    q = search.Conjugate(0.0, 8.0, lambda theta: theta**4)
    exact = np.log(2.0) + gammaln(1.25) - 0.25 * np.log(8.0)
    np.testing.assert_allclose(q.log_normaliser(q.phi, q.nu), exact, rtol=1e-12)
    theta = jax.vmap(q.sample)(jax.random.split(jax.random.key(0), 20_000))
    # E theta^4 = 1 / (4 nu); theta^4 is of a Gamma law of shape 1/4, whose deviation is twice that
    assert abs(np.mean(theta**4) - 1 / 32) < 4 * 2 / 32 / np.sqrt(theta.size)


def test_a_refused_A_is_named_where_it_fails():
    with pytest.raises(ValueError, match=r"got A\(0.05\) = nan"):
        search.Conjugate(1.7, 0.8, exponential_A)
    with pytest.raises(ValueError, match=r"an A whose slope falls before -70"):
        search.Conjugate(0.1, 0.8, lambda theta: -(theta**2))


@pytest.mark.parametrize(
    ("step", "after", "count"), [(0.1, 0.4, 0), (5.0, 0.93, 1), (-5.0, 0.03, 1)]
)
def test_phi_stays_where_the_law_exists(step, after, count):
    """A step out of (0, 1) takes .9 of the way, and is counted."""
    q = search.Conjugate(0.3, 2.0, jax.nn.softplus)
    moved, held_back = q.move(replace(q, phi=jnp.array(step), nu=jnp.array(0.0)))
    np.testing.assert_allclose(moved.phi, after, rtol=1e-9)
    assert held_back == count
