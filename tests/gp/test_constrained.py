"""The search with constraints: margins, and the best place that meets them."""

import numpy as np
import pytest
from scipy import stats

import phenes
from phenes.gp import BayesianSearch
from phenes.gp.constrained import Limits

NOISE = 0.05
A, B = np.array([0.6, 0.8]), 0.5


def limits(wish, c, noise=NOISE):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (40, 2))
    cov = np.full(2, noise**2) if noise else None
    found = Limits(wish.requirements(("c",) * c(x).shape[1]), c(x).shape[1], cov, np.zeros(2))
    found.add(x, x, c(x), np.ones(x.shape, bool))
    return found, c(x).std(axis=0)


@pytest.mark.parametrize("p", [0.9, 0.999])
def test_the_margin_of_a_plane_is_its_mean_and_k_standard_deviations(p):
    known, scale = limits(phenes.chance(p), lambda x: (x @ A - B)[:, None])
    u = np.array([[0.1, 0.2], [0.5, 0.5]])
    k = stats.norm.isf(0.95 * (1 - p))
    np.testing.assert_allclose(known.margins(u)[:, 0] * scale, u @ A - B + k * NOISE, atol=1e-5)
    assert known.cautious(u)[0] < 0 < known.cautious(u)[1]


def test_the_shape_of_the_law_is_learnt_at_the_answer():
    """A square of a normal number has another quantile than a normal number."""
    known, scale = limits(phenes.chance(0.99), lambda x: ((x[:, :1] - 0.5) / NOISE) ** 2)
    at = np.array([0.5, 0.5])
    known.calibrate(at)
    expected = stats.chi2.isf(0.0095, 1)
    assert known.margins(at[None])[0, 0] * scale[0] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_pass_or_fail_has_its_limit_in_the_middle(low):
    """Of 0 and 1 all that is good lay at the limit itself: nothing was within by its error."""
    known, _ = limits(phenes.chance(0.9), lambda x: np.where(x @ A > B, 1.0, low)[:, None])
    centre = A * B
    u = np.array([centre - 0.4 * A, centre, centre + 0.4 * A])
    cautious = known.cautious(u)
    assert cautious[0] < 0 < cautious[1]
    met = np.exp(known.log_met(u))
    assert met[0] > 0.99
    assert met[2] < 0.01


def test_pass_or_fail_is_modelled_alike_whatever_the_numbers():
    one, other = (
        limits(
            phenes.chance(0.9),
            lambda x, low=low, high=high: np.where(x @ A > B, high, low)[:, None],
        )[0]
        for low, high in ((0.0, 1.0), (-1.0, 1.0))
    )
    u = np.random.default_rng(1).uniform(0, 1, (10, 2))
    np.testing.assert_allclose(one.margins(u), other.margins(u), atol=1e-6)


def test_a_limit_that_jumps_is_kept_away_from():
    """The violations that proposals may use are a fifth of those allowed, not nearly all."""
    known, _ = limits(phenes.chance(0.9), lambda x: (x @ A - B)[:, None])
    k = stats.norm.isf(0.2 * 0.1)
    step, _ = limits(phenes.chance(0.9), lambda x: np.where(x @ A > B, 1.0, 0.0)[:, None])
    assert step.factors[0] == pytest.approx(k)
    assert known.factors[0] == pytest.approx(stats.norm.isf(0.95 * 0.1))


def test_rows_beyond_a_limit_that_jumps_are_told_once_some_are_within():
    rows = np.array([[0.2], [1.0]])
    smooth, _ = limits(phenes.chance(0.9), lambda x: (x @ A - B)[:, None])
    assert not smooth.beyond(rows).any()
    step, _ = limits(phenes.chance(0.9), lambda x: np.where(x @ A > B, 1.0, 0.0)[:, None])
    np.testing.assert_array_equal(step.beyond(np.array([[0.0], [1.0], [np.nan]])), [0, 1, 1])
    never, _ = limits(phenes.chance(0.9), lambda x: np.ones((len(x), 1)))
    assert not never.beyond(np.ones((2, 1))).any()


@pytest.mark.tier("runs")
def test_the_answer_is_the_best_that_meets_them():
    world = np.random.default_rng(1)
    search = BayesianSearch(
        np.zeros(2), np.full(2, 0.5), np.full(2, 0.01), seed=0, wanted=phenes.chance(0.9)
    )
    normal = np.array([0.6, 0.8])
    while search.evaluations < 24:
        theta = search.ask()
        x = theta + 0.1 * world.standard_normal(theta.shape)
        f = np.sum((x - normal) ** 2, axis=1)
        search.tell(theta, x, np.column_stack([f, x @ normal - 0.5]))
    k = stats.norm.isf(0.95 * 0.1)
    np.testing.assert_allclose(search.mean, normal * (0.5 - 0.1 * k), atol=0.02)
