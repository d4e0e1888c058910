"""Newton steps: as long as models are known, and shaped as the curvature is clear."""

import math

import numpy as np
import pytest

from phenes.adaptive import newton
from phenes.adaptive.model.quadratic import Fit


def a_fit(g, h, r2=0.99, residual=1e-6, outer=1.0, turn=None, n=200):
    g, h = np.asarray(g, float), np.asarray(h, float)
    return Fit(0.0, g, h, turn, turn is not None, residual, r2, n, 1 + 2 * g.size, outer)


def free(g, curvature):
    return -g / curvature, False


FAR = np.full(3, np.inf)  # excess: no noise anywhere


def test_a_final_step_is_that_of_newton_within_its_reach():
    step = newton.final(a_fit([0.2, -0.6, 0.1], [1.0, 2.0, 0.5]), False, free)
    assert np.allclose(step.move, [-0.2, 0.3, -0.2])
    assert step.length == pytest.approx(0.3)


@pytest.mark.parametrize(("r2", "longest"), [(0.89, 1.0), (0.91, 2.0)])
def test_a_final_step_is_limited(r2, longest):
    """The model wants ten standard deviations: one, or two if it is a good one."""
    step = newton.final(a_fit([10.0, -10.0], [1.0, 1.0], r2), False, free)
    assert np.allclose(step.move, [-longest, longest])
    assert step.length == pytest.approx(10)


def test_what_a_final_step_makes_of_the_widths():
    clear = a_fit([0.1, 0.0], [1.0, 1e-9])
    assert np.allclose(newton.final(clear, False, free).factors, [0.3, 1.5])
    late = a_fit([3.0, 0.1], [1.0, 1.0])
    assert np.allclose(newton.final(late, False, free).factors, [2.0, 1.0])
    poor = a_fit([3.0, 0.1], [1.0, 1.0], r2=0.8)
    assert np.allclose(newton.final(poor, False, free).factors, 1)


@pytest.mark.parametrize(
    ("r2", "outer", "factor"), [(0.1, 1.0, 4.0), (0.3, 2.0, 1.5), (0.7, 1.0, 1.0), (0.7, 2.0, 0.3)]
)
def test_without_input_noise_the_search_widens_until_it_sees_over_that_of_the_values(
    r2, outer, factor
):
    """r2 = 0.7 with larger residuals outside is no noise: the model is too simple."""
    unseen = a_fit([0.0, 0.0], [0.3, 0.3], r2, residual=0.5, outer=outer)
    assert np.allclose(newton.final(unseen, True, free).factors, factor)


def test_an_early_step_stays_in_the_trust_region():
    step = newton.early(a_fit([100.0, 1.0, 0.0], np.ones(3)), FAR, free, False)
    assert np.linalg.norm(step.move) <= 1.5 * math.sqrt(3) + 1e-6
    assert step.length == pytest.approx(100)
    short = newton.early(a_fit([0.1, 0.2, 0.0], [1.0, 2.0, 1.0]), FAR, free, False)
    assert np.allclose(short.move, [-0.1, -0.1, 0.0])


def test_the_search_takes_the_shape_of_the_inverse_hessian():
    """Towards it by factors of ten at most, and narrower near the optimum of a good model."""
    h = np.array([0.5, 1.0, 1e6])
    step = newton.early(a_fit([0.1, 0.1, 0.1], h, r2=0.95), FAR, free, False)
    level = np.exp(np.mean(np.log(h)))
    assert np.allclose(step.factors, 0.5 * np.clip(level / h, 0.1, 10))


def test_directions_at_the_noise_do_not_inflate_the_others():
    h, excess = np.array([1.0, 1.0, 1e4]), np.array([np.inf, np.inf, 0.1])
    step = newton.early(a_fit([0.1, 0.1, 0.1], h, r2=0.9), excess, free, False)
    assert np.allclose(step.factors[:2], 1.0)


@pytest.mark.parametrize(("growing", "factor"), [(True, 2.0), (False, 1.0)])
def test_unclear_curvature_along_a_clear_slope_widens_only_if_it_may(growing, factor):
    slope = a_fit([1.0, 0.0], [0.0, 0.0], residual=0.01)
    assert np.allclose(newton.early(slope, FAR[:2], free, growing).factors, factor)


def test_a_promise_of_errors_alone_is_one():
    """Gradients of noise: the signal is 1 on average."""
    rng, n, d = np.random.default_rng(0), 60, 4
    spare = n - (1 + 2 * d)
    signals = []
    for _ in range(400):
        g = rng.standard_normal(d) / math.sqrt(spare)
        step = newton.final(a_fit(g, [5.0] * d, residual=1.0, n=n), False, free)
        signals.append(step.signal)
    # 400 times chi^2_4 / 4: standard error .035
    assert np.mean(signals) == pytest.approx(1, abs=0.15)


def test_curvature_below_the_edge_may_be_an_error():
    """Largest eigenvalue of a symmetric matrix of errors residual / sqrt n: the edge, or nearly."""
    rng, d, n = np.random.default_rng(0), 30, 1000
    noise = rng.standard_normal((d, d)) / math.sqrt(n)
    largest = np.linalg.eigvalsh((noise + noise.T) / math.sqrt(2)).max()
    fit = a_fit(np.zeros(d), np.ones(d), residual=1.0, turn=np.eye(d), n=n)
    assert newton.edge_of(fit) == pytest.approx(largest, rel=0.2)
    axes = a_fit(np.zeros(d), np.ones(d), residual=1.0, n=n)
    assert newton.edge_of(axes) < newton.edge_of(fit)


def test_curvatures_that_are_unclear_one_by_one_may_be_clear_together():
    """A hundred of .1 with errors of .1: the median of them is known nearly ten times better."""
    h = 0.1 + 0.1 * np.random.default_rng(0).standard_normal(100)
    many = a_fit(np.ones(100), h, residual=0.7, n=100)
    edge = newton.edge_of(many)
    assert h.max() < 3 * edge
    assert newton.common_curvature(many, edge) == pytest.approx(np.median(h))
    few = a_fit(np.ones(3), h[:3], residual=0.7, n=100)
    assert newton.common_curvature(few, newton.edge_of(few)) == 0
    excess = np.full(100, np.inf)
    # no wider then, and no step divides by less than the median
    assert newton.early(many, excess, free, True).factors.max() == 1
    assert newton.early(few, FAR, free, True).factors.max() == 2
    assert newton.final(many, False, free).length == pytest.approx(1 / np.median(h))


def test_what_is_not_known_of_the_products_is_no_more_than_the_residual():
    """The edge of a model with products ends to grow where there are fewer rows than products."""
    turn = np.eye(100)
    edges = [newton.edge_of(a_fit(np.ones(100), np.ones(100), turn=turn, n=n)) for n in (500, 1000)]
    assert edges[0] == edges[1]
    axes = [newton.edge_of(a_fit(np.ones(100), np.ones(100), n=n)) for n in (500, 1000)]
    assert axes[0] > axes[1]


@pytest.mark.parametrize("h", [[1.0, 2.0, 5.0], [-3.0, 0.0, 2.0], [-1e-9, 1.0, 1e9]])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_regularised_curvatures_keep_a_step_within_one_and_no_shorter_than_they_must(h, size):
    g, h = size * np.array([1.0, -2.0, 0.5]), np.array(h)
    curvature = newton.regularised(g, h)
    assert np.all(curvature > 0)
    length = np.linalg.norm(g / curvature)
    assert length <= 1 + 1e-9
    if length < 1 - 1e-6:
        np.testing.assert_array_equal(curvature, h)
    else:
        np.testing.assert_allclose(np.diff(curvature), np.diff(h))
