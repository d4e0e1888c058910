"""The BBOB functions against their definition, the official implementation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phenes.problems import bbob

FUNCTIONS = range(1, 25)
INSTANCES = range(1, 6)
IN_FULL = pytest.mark.tier("lab")
# the values of all are compared; the rest is asked of one of each kind, and of all in `make lab`
KINDS = (1, 4, 7, 15, 21, 24)
SOME = [pytest.param(n, marks=() if n in KINDS else IN_FULL) for n in FUNCTIONS]


@jax.jit
def evaluate(problem, points):
    """Values [n] of points [n, d]; compiles once per function and dimension."""
    return jax.vmap(problem)(points)


@jax.jit
def value(problem, point):
    """f(point), of one point: a program for each function, not one for each operation in it."""
    return problem(point)


def sample_points(problem, rng, count=15):
    """Points [3 count, d] in the box, close to the optimum and from a box of twice the size."""
    shape = (count, problem.dim)
    radius = 10.0 ** rng.uniform(-3, -1, (count, 1))
    near = problem.x_opt + radius * rng.standard_normal(shape)
    return np.concatenate([rng.uniform(-5, 5, shape), near, rng.uniform(-10, 10, shape)])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dims", [(3, 20), pytest.param((2, 5, 10, 40), marks=IN_FULL)], ids=str)
def test_values_equal_those_of_cocoex(function, dims):
    cocoex = pytest.importorskip("cocoex")
    suite = cocoex.Suite("bbob", "instances: 1-5", f"function_indices: {function}")
    for dim in dims:
        for instance in INSTANCES:
            problem = bbob(function, dim, instance)
            official = suite.get_problem_by_function_dimension_instance(function, dim, instance)
            points = sample_points(problem, np.random.default_rng([function, dim, instance]))
            values = np.asarray(evaluate(problem, points))
            expected = np.array([official(point) for point in points])
            # Relative to the difference to the optimum, down to the rounding of the official sums.
            tolerance = 1e-9 * (expected - problem.f_opt) + 1e-12 * max(1, abs(problem.f_opt))
            np.testing.assert_array_less(np.abs(values - expected), tolerance)


@pytest.mark.parametrize("function", SOME)
def test_values_equal_those_of_cocoex_at_late_instances(function):
    cocoex = pytest.importorskip("cocoex")
    suite = cocoex.Suite(
        "bbob", "instances: 101-110", f"function_indices: {function} dimensions: 5"
    )
    problem = bbob(function, 5, 110)
    official = suite.get_problem_by_function_dimension_instance(function, 5, 110)
    points = sample_points(problem, np.random.default_rng(function))
    expected = np.array([official(point) for point in points])
    np.testing.assert_allclose(evaluate(problem, points), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", SOME)
@pytest.mark.parametrize(
    "dim", [7, pytest.param(65, marks=IN_FULL)]
)  # neither is part of the official suite
def test_optimum_has_the_optimal_value(function, dim):
    for instance in (1, 2, 1000):
        problem = bbob(function, dim, instance)
        points = sample_points(problem, np.random.default_rng(0))
        values = evaluate(problem, np.concatenate([problem.x_opt[None], points]))
        np.testing.assert_allclose(values[0], problem.f_opt, rtol=1e-14, atol=1e-14)
        assert np.all(values[1:] > problem.f_opt - 1e-12)
        assert np.all(np.abs(problem.x_opt) <= 5)


@pytest.mark.parametrize("function", SOME)
def test_vmap_equals_loop(function):
    problem = bbob(function, 6, 3)
    points = np.random.default_rng(1).uniform(-6, 6, (5, 6))
    np.testing.assert_allclose(
        evaluate(problem, points), [value(problem, point) for point in points], rtol=1e-11
    )


@pytest.mark.parametrize("function", SOME)
def test_instances_share_one_compilation(function):
    traces = []

    @jax.jit
    def traced(problem, point):
        traces.append(problem.name)
        return problem(point)

    values = [traced(bbob(function, 4, instance), jnp.ones(4)) for instance in (1, 2, 3)]
    assert len(traces) == 1
    assert len(set(map(float, values))) == 3


@pytest.mark.parametrize("function", SOME)
def test_value_follows_the_dtype_of_the_point(function):
    problem = bbob(function, 70, 2)  # high enough for the dimension-dependent factors to matter
    point = np.random.default_rng(2).uniform(-5, 5, 70).astype(np.float32)
    single, double = value(problem, point), value(problem, point.astype(np.float64))
    assert single.dtype == jnp.float32
    assert double.dtype == jnp.float64
    np.testing.assert_allclose(single, double, rtol=1e-3)
    np.testing.assert_allclose(
        value(problem, jnp.asarray(problem.x_opt, dtype=jnp.float32)), problem.f_opt, rtol=1e-6
    )


def test_integer_points_become_floats():
    assert bbob(1, 3)([0, 1, 2]) == bbob(1, 3)(np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("function", SOME)
def test_nan_coordinate_gives_nan(function):
    assert jnp.isnan(value(bbob(function, 3), np.array([1.0, np.nan, 2.0])))


def test_problem_describes_itself():
    problem = bbob(1, 3, 2)
    assert (problem.name, problem.dim, problem.bounds) == ("f1 sphere", 3, (-5.0, 5.0))
    assert problem.x_opt.shape == (3,)
    assert isinstance(problem.f_opt, float)
    assert len({bbob(function, 2).name for function in FUNCTIONS}) == 24


def test_twin_functions_share_their_offset_and_others_do_not():
    assert bbob(3, 2).f_opt == bbob(4, 2).f_opt
    assert bbob(17, 2).f_opt == bbob(18, 2).f_opt
    assert len({bbob(function, 2).f_opt for function in FUNCTIONS}) == 22


def test_same_arguments_give_the_same_immutable_object():
    problem = bbob(21, 4, 2)
    assert problem is bbob(np.int64(21), 4, instance=2)
    assert problem != bbob(21, 4, 3)
    with pytest.raises(ValueError, match="read-only"):
        problem.x_opt[0] = 0
    with pytest.raises(AttributeError):
        problem.dim = 5


def test_problem_can_be_jitted_itself():
    problem = bbob(15, 3)
    point = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(jax.jit(problem)(point), problem(point), rtol=1e-12)


@pytest.mark.parametrize("function", [0, 25, -1, 1.5, True, "1", None])
def test_wrong_function_is_refused(function):
    with pytest.raises(ValueError, match="function must be a whole number from 1 to 24, got "):
        bbob(function, 2)


@pytest.mark.parametrize("dim", [1, 0, -3, 2.5, True, "2", None])
def test_wrong_dim_is_refused(dim):
    with pytest.raises(ValueError, match="dim must be a whole number of at least 2, got "):
        bbob(1, dim)


@pytest.mark.parametrize("instance", [0, -1, 1.5, True, "1", None])
def test_wrong_instance_is_refused(instance):
    with pytest.raises(ValueError, match="instance must be a whole number of at least 1, got "):
        bbob(1, 2, instance)


@pytest.mark.parametrize("shape", [(), (2,), (4, 3)])
def test_wrong_shape_of_point_is_refused(shape):
    with pytest.raises(ValueError, match=r"x must have shape \(3,\) .*, got "):
        bbob(1, 3)(np.zeros(shape))
