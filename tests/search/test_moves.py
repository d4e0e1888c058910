"""How search laws take steps: kept inside their domain, and every entry held back is counted."""

import jax.numpy as jnp
import numpy as np
import pytest

from phenes import search
from phenes._trees import replace
from phenes.search.dirichlet import HIGHEST, LOWEST
from phenes.search.full_gaussian import project_psd


def test_the_projection_clips_what_is_negative():
    """Not its absolute value: the nearest matrix of the cone is diag(1, 0)."""
    inside, count = project_psd(jnp.diag(jnp.array([1.0, -2.0])))
    np.testing.assert_allclose(inside, np.diag([1.0, 0.0]), atol=1e-12)
    assert count == 1


def test_the_projection_is_the_nearest_of_the_cone():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(4, 4))
    a = a + a.T
    nearest = np.linalg.norm(np.asarray(project_psd(jnp.asarray(a))[0]) - a)
    others = (b @ b.T for b in rng.normal(size=(200, 4, 4)))
    assert all(nearest <= np.linalg.norm(other - a) for other in others)
    reflected = np.linalg.eigh(a)
    reflected = (reflected[1] * np.abs(reflected[0])) @ reflected[1].T
    assert nearest < 0.9 * np.linalg.norm(reflected - a)


@pytest.mark.parametrize(
    ("alpha", "step", "after", "count"),
    [
        (1.0, 9.0, np.exp(0.5), 1),
        (1.0, -9.0, np.exp(-0.5), 1),
        (1.0, 0.4, np.exp(0.4), 0),
        (HIGHEST, 0.3, HIGHEST, 1),
        (LOWEST, -0.3, LOWEST, 1),
    ],
)
def test_a_dirichlet_law_moves_half_a_unit_at_most(alpha, step, after, count):
    q = search.Dirichlet([alpha, 2.0])
    moved, held_back = q.move(replace(q, log_alpha=jnp.array([step, 0.0])))
    np.testing.assert_allclose(moved.alpha, [after, 2.0], rtol=1e-9)
    assert held_back == count


@pytest.mark.parametrize(
    ("step", "after", "count"), [(-10.0, 0.2, 1), (-0.5, 1.5, 0), (3.0, 5.0, 0)]
)
def test_the_strength_of_a_conjugate_law_stays_positive(step, after, count):
    """It falls to a tenth at most."""
    q = search.Conjugate(0.3, 2.0, jnp.exp)
    moved, held_back = q.move(replace(q, phi=jnp.array(0.1), nu=jnp.array(step)))
    np.testing.assert_allclose([moved.phi, moved.nu], [0.4, after], rtol=1e-12)
    assert held_back == count


@pytest.mark.parametrize("q", [search.Beta(1.0, 2.0), search.Gamma(1.0, 2.0)])
def test_laws_in_logarithms_move_freely(q):
    first, second = q.__dataclass_fields__
    moved, held_back = q.move(replace(q, **{first: jnp.array(3.0), second: jnp.array(-3.0)}))
    np.testing.assert_allclose(getattr(moved, first) - getattr(q, first), 3.0)
    np.testing.assert_allclose(getattr(moved, second) - getattr(q, second), -3.0)
    assert held_back == 0


@pytest.mark.parametrize(
    "q",
    [
        search.Gaussian(np.zeros(2), np.eye(2)),
        search.DiagonalGaussian(np.zeros(2), 1.0),
        search.IsotropicGaussian(np.zeros(2), 1.0),
    ],
)
def test_mirrored_partners_lie_on_the_other_side_of_the_mean(q):
    xi = jnp.array([0.3, -1.2])
    np.testing.assert_allclose(q.push(xi) + q.push(q.mirror(xi[None])[0]), 2 * q.mean, atol=1e-15)
