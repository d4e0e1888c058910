"""The picture of a model: what is in it, and that all of it can be read."""

import io
import itertools

import numpy as np
import pytest

from phenes.plots.slices import Slices, figure, grids


def data(d=3, n=20, **changes):
    rng = np.random.default_rng(0)
    points = rng.uniform(-2, 2, (n, d))
    answer = np.full(d, 0.5)
    grid = grids(points, np.full(d, -2.0), np.full(d, 2.0), np.ones(d))
    mean = (grid - 0.5) ** 2
    made = Slices(
        "a headline",
        "",
        tuple(f"parameter {k}, mm" for k in range(d)),
        "strength, MPa",
        grid,
        mean,
        0.1 + 0 * mean,
        points,
        np.sum((points - 0.5) ** 2, axis=1),
        rng.uniform(-2, 2, (4, d)),
        answer,
        0.0,
        0.1,
        np.full(d, 0.1),
    )
    return made._replace(**changes)


def panels(out):
    return [ax for ax in out.subfigs[0].axes if ax.get_visible()]


def texts(out):
    legend = out.subfigs[0].legends[0]
    return [each.get_text() for each in legend.get_texts()]


def test_everything_is_in_the_legend_once():
    said = texts(figure(data(f=np.where(np.arange(20) == 3, np.nan, 1.0))))
    assert len(said) == len(set(said)) == 6
    assert {"under way, 4", "no value", "two standard errors"} < set(said)
    without = texts(figure(data(pending=np.empty((0, 3)), mean=np.full((3, 101), np.nan))))
    assert len(without) == 2


@pytest.mark.parametrize("d", [1, 3, 7, 10])
def test_nothing_overlaps_or_leaves_the_picture(d):
    out = figure(data(d))
    assert len(panels(out)) == d
    out.savefig(io.BytesIO(), dpi=50)
    room = out.bbox
    legend = out.subfigs[0].legends[0].get_window_extent()
    title = out._suptitle.get_window_extent()
    boxes = [ax.get_tightbbox() for ax in panels(out)]
    for box in (legend, title, *boxes):
        assert room.x0 - 1 <= box.x0
        assert box.x1 <= room.x1 + 1
        assert room.y0 - 1 <= box.y0
        assert box.y1 <= room.y1 + 1
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in [*boxes[:k], legend, title])


def test_the_scale_is_that_of_the_curves():
    far = data(f=np.where(np.arange(20) < 15, 1.0, 1e6))
    ax = panels(figure(far))[0]
    assert ax.get_ylim()[1] < 100
    assert figure(far).subfigs[0]._suptitle.get_text() == (
        "5 of 20 evaluations have values beyond these."
    )


def test_a_model_that_knows_nothing_does_not_squeeze_the_values():
    wild = data(mean=np.linspace(-1e6, 1e6, 303).reshape(3, 101))
    assert np.ptp(panels(figure(wild))[0].get_ylim()) < 1000


def test_nothing_known_has_no_scale():
    nothing = data(
        n=1, f=np.array([np.nan]), fun=np.nan, fun_se=np.inf, mean=np.full((3, 101), np.nan)
    )
    assert list(panels(figure(nothing))[0].get_yticks()) == []


def test_equal_values_and_a_point_range():
    flat = data(f=np.ones(20), mean=np.ones((3, 101)), error=np.zeros((3, 101)), fun=1.0)
    figure(flat).savefig(io.BytesIO(), dpi=20)
    grid = grids(np.ones((1, 2)), np.full(2, -np.inf), np.full(2, np.inf), np.array([1.0, 2.0]))
    assert np.ptp(grid, axis=1) == pytest.approx([2.24, 4.48])


def test_what_is_near_the_line_is_darker():
    points = np.array([[0.0, 0.5], [0.0, 2.0]])
    ax = panels(figure(data(2, 20)._replace(points=points, f=np.ones(2))))[0]
    near, far = ax.collections[0].get_facecolors()[:, 3]
    assert near > far > 0


def test_large_numbers_along_a_parameter_do_not_run_into_each_other():
    made = data(2)
    grid = np.linspace([1e5, 1e5], [5e5, 5e5], made.grid.shape[1], axis=1)
    out = figure(made._replace(grid=grid, points=1e5 * (made.points + 3), answer=np.full(2, 3e5)))
    out.savefig(io.BytesIO(), dpi=80)
    for ax in panels(out):
        boxes = [each.get_window_extent() for each in ax.get_xticklabels() if each.get_text()]
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_a_logarithm_is_drawn_as_the_value_that_it_is_of():
    made = data(logarithmic=frozenset({1}))
    plain, turned = panels(figure(made))[:2]
    assert (plain.get_xscale(), turned.get_xscale()) == ("linear", "log")
    np.testing.assert_allclose(turned.get_xlim(), np.exp(made.grid[1, [0, -1]]))
    curve = next(line for line in turned.lines if len(line.get_xdata()) == 101)
    assert curve.get_xdata()[np.argmin(curve.get_ydata())] == pytest.approx(np.exp(0.5), rel=0.05)


def test_a_long_headline_is_not_cut_off():
    out = figure(data(headline="evaluations: 40 of 80, 3 without a value, " * 3))
    out.savefig(io.BytesIO(), dpi=50)
    assert out._suptitle.get_window_extent().x1 <= out.bbox.x1


def discrete():
    """A real number, whole numbers from 1 to 4, and one of three options."""
    made = data(3)
    grid = np.full(made.grid.shape, np.nan)
    grid[0] = made.grid[0]
    grid[1, :4], grid[2, :3] = np.arange(1, 5), np.arange(3)
    points = made.points.copy()
    points[:, 1], points[:, 2] = np.arange(20) % 4 + 1, np.arange(20) % 3
    return made._replace(
        grid=grid,
        mean=grid - 1,
        error=0.1 + 0 * grid,
        points=points,
        pending=points[:4],
        answer=np.array([0.5, 2.0, 1.0]),
        noise=np.array([0.1, 0.0, 0.0]),
        whole=frozenset({1}),
        options={2: ("steel", "brass", "an alloy with a very long name")},
    )


def test_whole_numbers_and_options_have_values_and_no_curve():
    out = figure(discrete())
    out.savefig(io.BytesIO(), dpi=60)
    real, whole, option = panels(out)
    curve = [line for line in real.lines if len(line.get_xdata()) == 101]
    assert curve
    for ax, expected in ((whole, [1, 2, 3, 4]), (option, [0, 1, 2])):
        assert not [line for line in ax.lines if line.get_linestyle() == "-" and _long(line)]
        (marks,) = [line for line in ax.lines if line.get_marker() == "D"]
        at = np.asarray(marks.get_xdata())
        np.testing.assert_array_equal(at[np.isfinite(at)], expected)
    assert [each.get_text() for each in option.get_xticklabels()] == [
        "steel",
        "brass",
        "an alloy with a…",
    ]
    assert option.get_xlim() == (-0.5, 2.5)
    assert whole.get_xlim() == (0.5, 4.5)
    assert all(float(t).is_integer() for t in whole.get_xticks() if 0.5 < t < 4.5)


def _long(line):
    return len(line.get_xdata()) > 2


def test_the_legend_of_whole_numbers_and_options_is_not_cut_off():
    out = figure(discrete())
    out.savefig(io.BytesIO(), dpi=60)
    assert "E f at each value, two standard errors" in texts(out)
    for legend in out.subfigs[0].legends:
        assert legend.get_window_extent().x1 <= out.bbox.x1
        for each in legend.get_texts():
            assert each.get_window_extent().x1 <= out.bbox.x1 + 1


def test_another_option_is_as_far_as_the_ends_of_a_range():
    """Their numbers are no distances: the first is as far from the last as from the second."""
    made = discrete()
    points = np.tile(made.answer, (3, 1))
    points[:, 2] = [0, 1, 2]
    answer = np.array([0.5, 2.0, 0.0])
    ax = panels(figure(made._replace(points=points, f=np.ones(3), answer=answer)))[0]
    same, second, third = ax.collections[0].get_facecolors()[:, 3]
    assert same > second == third
