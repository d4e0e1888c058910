"""The parts of the engine: each does what its formula says."""

import numpy as np
import pytest

from phenes.adaptive import box, cma, newton, quadratic, restarts
from phenes.adaptive.archive import Archive
from phenes.adaptive.normal import Normal
from phenes.adaptive.record import from_record, to_record
from phenes.adaptive.space import make_space

NO_BOX = {"bias": np.zeros(3), "lower": np.full(3, -np.inf), "upper": np.full(3, np.inf)}


def spd(dim, seed):
    root = np.random.default_rng(seed).standard_normal((dim, dim))
    return root @ root.T


def test_the_noise_is_white_in_y():
    cov, width = spd(3, 0), np.array([1.0, 10.0, 0.1])
    space = make_space(cov, width, **NO_BOX)
    noise = np.random.default_rng(1).multivariate_normal(np.zeros(3), cov, 20_000)
    # 20,000 draws: entries of the covariance have a standard error of at most .01
    assert np.allclose(np.cov(space.to_y(noise).T), np.eye(3), atol=0.05)
    assert np.allclose(space.to_x(space.to_y(noise)), noise)
    assert np.allclose(space.std_x(space.start()), width)


def test_directions_without_noise_stay_so():
    root = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]).T
    space = make_space(root @ root.T, np.ones(3), **NO_BOX)
    assert sorted(space.c) == [0, 1, 1]


@pytest.mark.parametrize("c", [np.ones(3), np.array([1.0, 1.0, 0.0])])
def test_the_search_never_falls_below_the_noise(c):
    normal = Normal(np.zeros(3), 0.5 * spd(3, 2))
    normal.settle(c)
    assert np.linalg.eigvalsh(normal.cov - np.diag(c)).min() > -1e-12
    assert np.allclose(normal.push @ normal.push.T, normal.search(c))
    z = np.random.default_rng(0).standard_normal((5, 3))
    assert np.allclose(normal.whiten(normal.mean + normal.unwhiten(z)), z)


def test_rates_are_those_of_the_tutorial():
    """d = 10, n = 10: values computed by hand from the formulas."""
    k = cma.rates(10, 10, 10, False)
    assert k.mu == 5
    assert np.isclose(k.weights[:5].sum(), 1)
    assert np.isclose(k.mu_eff, 3.1673, atol=1e-3)
    assert np.isclose(k.c_s, 5.1673 / 18.1673, atol=1e-3)
    assert np.all(k.weights[5:] < 0)


def test_values_of_a_model_move_the_mean_but_teach_no_faster():
    """50 points of which 10 are evaluated: weights of 50, rates of 10."""
    few, many, mixed = (
        cma.rates(10, 10, 10, False),
        cma.rates(10, 50, 50, False),
        cma.rates(10, 50, 10, False),
    )
    assert np.array_equal(mixed.weights[:25], many.weights[:25])
    assert mixed.mu_eff == many.mu_eff
    assert (mixed.c_s, mixed.damping, mixed.c_c, mixed.c_1, mixed.c_mu) == (
        few.c_s,
        few.damping,
        few.c_c,
        few.c_1,
        few.c_mu,
    )


def test_neutral_selection_keeps_the_covariance():
    """Random values: after many generations the log width has no drift beyond 4 standard errors of
    a random walk.
    """
    rng = np.random.default_rng(0)
    drifts = []
    for _ in range(20):
        normal, paths = Normal(np.zeros(4), np.eye(4)), cma.Paths(np.zeros(4), np.zeros(4))
        normal.settle(np.zeros(4))
        for _ in range(30):
            cma.update(
                normal, paths, normal.draw(rng.standard_normal((12, 4))), rng.random(12), 5.0
            )
            normal.settle(np.zeros(4))
        drifts.append(normal.log_width)
    assert abs(np.mean(drifts)) < 4 * np.std(drifts) / np.sqrt(20) + 0.1


@pytest.mark.parametrize("n", [4, 10, 50])
@pytest.mark.parametrize("paired", [False, True])
def test_the_path_has_length_one_under_neutral_selection(n, paired):
    """In each coordinate, so that the step size has no drift; pairs would make it shorter if nobody
    took them into account.
    """
    dim, rng, squares = 6, np.random.default_rng(0), []
    for _ in range(300):
        normal, paths = (
            Normal(np.zeros(dim), np.eye(dim)),
            cma.Paths(rng.standard_normal(dim), np.zeros(dim)),
        )
        normal.settle(np.zeros(dim))
        z = rng.standard_normal((n // 2 if paired else n, dim))
        cma.update(
            normal,
            paths,
            np.concatenate([z, -z]) if paired else z,
            rng.random(n),
            9.0,
            paired=paired,
        )
        squares.append(paths.s**2)
    # the path began as a standard normal vector and has to be one afterwards: 1800 squares with a
    # standard deviation of sqrt 2
    assert np.mean(squares) == pytest.approx(1, abs=4 * np.sqrt(2 / 1800))


def test_the_model_of_a_quadratic_is_exact():
    rng = np.random.default_rng(0)
    hessian, g = spd(4, 1), rng.standard_normal(4)
    z = rng.standard_normal((40, 4))
    model = quadratic.fit(z, z @ g + 0.5 * np.sum((z @ hessian) * z, axis=1) + 3)
    assert model is not None
    assert model.turn is not None
    assert np.allclose((model.turn * model.h) @ model.turn.T, hessian, atol=1e-4)
    assert np.allclose(model.turn @ model.g, g, atol=1e-4)
    assert model.r2 > 1 - 1e-9
    step = newton.final(model, False, lambda u, _: u)
    assert step.length == pytest.approx(np.abs(model.g / model.h).max(), rel=1e-4)


def test_the_gradient_is_that_of_the_smoothed_function():
    """Stein: for f = z^3 + ... the gradient of E f(m + z) at m = 0 is 3, although f' = 0 there;
    richer models make its error smaller.
    """
    rng = np.random.default_rng(0)
    plain, rich = [], []
    for _ in range(40):
        z = rng.standard_normal((200, 3))
        f = z[:, 0] ** 3 + z**2 @ np.array([1.0, 3.0, 9.0])
        model = quadratic.fit(z, f)
        assert model is not None
        for found, one in ((plain, model), (rich, quadratic.enrich(z, f, model))):
            assert one.turn is not None
            found.append((one.turn @ one.g)[0])
    for found in (plain, rich):
        assert abs(np.mean(found) - 3) < 4 * np.std(found) / np.sqrt(40) + 1e-6
    assert np.std(rich) < np.std(plain) / 3


def test_conjugate_gradients_agree_with_the_direct_solution():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((200, 80)), rng.standard_normal(200)
    assert np.allclose(
        quadratic._conjugate_gradients(a, b), np.linalg.lstsq(a, b, rcond=None)[0], atol=1e-5
    )


def test_the_box_allows_the_best_point_of_the_model_inside():
    """min (x - (2, 1))' H (x - (2, 1)) with x_0 <= 1: compared with the exact solution."""
    space = make_space(
        np.ones(2), np.ones(2), np.zeros(2), np.full(2, -np.inf), np.array([1.0, np.inf])
    )
    normal = Normal(np.zeros(2), 2 * np.eye(2))
    normal.settle(space.c)
    hessian = np.array([[2.0, 1.0], [1.0, 3.0]])
    curvature, turn = np.linalg.eigh(2 * hessian)  # in whitened units
    u = turn.T @ normal.whiten(np.array([2.0, 1.0]))
    inside = normal.mean + normal.unwhiten(turn @ box.nearest(space, normal, turn, u, curvature))
    assert np.allclose(inside, [1.0, 1 + 1 / 3])


def test_the_archive_keeps_the_newest():
    archive = Archive(2, 300)
    for k in range(100):
        archive.add(np.full((10, 2), k), np.full(10, k))
    x, f = archive.newest(200)
    assert f.shape == (200,)
    assert f[-1] == 99
    assert np.array_equal(x[:, 0], f)
    assert archive.total == 1000
    assert archive.f.size < 1000
    again = from_record(Archive, to_record(archive))
    assert np.array_equal(again.newest(50)[1], archive.newest(50)[1])


@pytest.mark.parametrize("shape", ["side", "hole"])
def test_failures_that_have_a_place_count_as_the_worst_kept(shape):
    rng = np.random.default_rng(0)
    for dim in (1, 3, 8):
        x = rng.standard_normal((300, dim))
        bad = x[:, 0] > 0.5 if shape == "side" else np.sum(x**2, axis=1) < 0.7 * dim
        archive = Archive(dim, 300)
        archive.add(x, np.where(bad, np.nan, x[:, 0]))
        assert archive.walled
        _, f = archive.newest(300)
        assert np.array_equal(f, np.where(bad, x[~bad, 0].max(), x[:, 0]))


def test_failures_that_happen_anywhere_are_left_out():
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(200):
        x = rng.standard_normal((200, 3))
        bad = rng.random(200) < 0.2
        archive = Archive(3, 300)
        archive.add(x, np.where(bad, np.nan, x[:, 0]))
        wrong += archive.walled
        if not archive.walled:
            assert np.array_equal(archive.newest(50)[0], x[~bad][-50:])
    assert wrong < 20  # two tests of about one in forty each


def test_an_archive_of_failures_has_no_rows():
    archive = Archive(2, 300)
    archive.add(np.ones((20, 2)), np.full(20, np.nan))
    assert archive.newest(10)[1].size == 0
    assert archive.best() is None
    archive.add(
        np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [9.0, 9.0]]), np.array([1.0, 1.0, 1.0, 2.0])
    )
    x, value = archive.best()  # of the three best the one in their midst
    assert value == 1.0
    np.testing.assert_array_equal(x, [1.0, 0.0])


def test_restarts_double_their_populations_in_bounded_memory():
    space, rng = make_space(np.ones(3), np.ones(3), **NO_BOX), np.random.default_rng(0)
    plan, large = restarts.Plan(1000), []
    for _ in range(12):
        run = restarts.challenge(plan, space, np.zeros(3), 0.0, rng)
        large.append(run.popsize)
        assert run.archive.capacity <= 2 * restarts.LARGEST
    assert large == [3300, 6600, 13_200, *[restarts.LARGEST] * 9]
    assert restarts.challenge(restarts.Plan(30_000), space, np.zeros(3), 0.0, rng).popsize == 99_000
