"""The picture of a run: it shows what the run knows."""

import numpy as np
import pytest

import phenes
from phenes.plots import slices


@pytest.fixture
def drawn(monkeypatch):
    """What the last picture was made of."""
    seen = []
    figure = slices.figure
    monkeypatch.setattr(slices, "figure", lambda data: seen.append(data) or figure(data))
    return seen


def run(engine, rows=12, sign=1.0, **options):
    options = {"noise": 0.1, "budget": 40, "batch": 6, "maximize": sign < 0} | options
    opt = phenes.Optimizer(np.zeros(2), 0.5, bounds=(-2, 2), engine=engine, **options)
    rng = np.random.default_rng(0)
    while opt.nfev < rows:
        theta = opt.ask()
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        opt.tell(theta, sign * (3 + np.sum((x - 0.5) ** 2, axis=1)), realised=x)
    return opt


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_curves_are_e_f_through_the_answer(drawn, sign):
    """Of (x - 1/2)^2 + 3 that is known: E f = 3.02 + (theta - 1/2)^2, the other at its best."""
    opt = run("gp", 18, sign)
    theta = opt.ask()
    opt.plot()
    (data,) = drawn
    np.testing.assert_array_equal(data.pending, theta)
    np.testing.assert_array_equal(data.answer, opt.mean)
    for k in range(2):
        expected = 3.02 + (data.grid[k] - 0.5) ** 2 + (data.answer[1 - k] - 0.5) ** 2
        np.testing.assert_allclose(sign * data.mean[k], expected, atol=0.05)
    assert np.all(data.error >= 0)
    assert data.points.shape == (18, 2)
    assert sign * data.f.min() == pytest.approx(sign * opt.result.evaluations.f.min())
    assert np.all(data.grid.min(axis=1) >= -2)
    assert np.all(data.grid.max(axis=1) <= 2)


def test_the_evolution_strategy_says_that_it_has_no_model(drawn):
    opt = run("adaptive")
    out = opt.plot(names=["heat, °C", "dose, g"], value="yield, %")
    (data,) = drawn
    assert np.all(np.isnan(data.mean))
    assert "The evolution strategy has no model" in data.note
    panels = out.subfigs[0].axes
    assert [ax.get_xlabel() for ax in panels] == ["heat, °C", "dose, g"]
    assert panels[0].get_ylabel() == "yield, %"


def test_before_the_first_values(drawn):
    opt = phenes.Optimizer(np.zeros(3), 0.5, 0.1, budget=30, engine="gp")
    opt.plot()
    opt.ask()
    opt.plot()
    assert "There is no model yet" in drawn[0].note
    assert np.all(np.ptp(drawn[0].grid, axis=1) >= 1)
    assert len(drawn[1].pending) == 4  # x0 and three of the design


def test_of_many_parameters_the_first_are_shown(drawn):
    opt = phenes.Optimizer(np.zeros(14), 0.5, 0.1)
    assert len([ax for ax in opt.plot().subfigs[0].axes if ax.get_visible()]) == 10
    assert "The first 10 of 14 parameters" in drawn[0].note


@pytest.mark.parametrize("names", ["ab", ["a"], ["a", 3], 7])
def test_names_are_as_many_words_as_parameters(names):
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1)
    with pytest.raises(ValueError, match="names must be 2 words to match x0, got"):
        opt.plot(names=names)


SPACE = phenes.Space(
    width=phenes.Real(50, 300, unit="mm", noise=4.0),
    turns=phenes.Integer(3, 12),
    alloy=phenes.Choice("A", "B", "C"),
    feed=phenes.Log(1e-3, 10.0),
)
OFFSET = {"A": 1.0, "B": 0.0, "C": 2.0}


def cost(width, turns, alloy, feed):
    return ((width - 120) / 40) ** 2 + ((turns - 6) / 3) ** 2 + OFFSET[alloy] + np.log(feed) ** 2


@pytest.mark.few
def test_a_choice_is_one_panel_with_its_options(drawn):
    """Each option had an axis from 0 to 1, along which others were chosen as well."""
    opt = phenes.Optimizer(space=SPACE, budget=60, seed=0)
    rng = np.random.default_rng(0)
    while opt.nfev < 44:
        theta = opt.ask()
        told = [{**point, "width": point["width"] + 4 * rng.normal()} for point in theta]
        opt.tell(theta, [cost(**point) for point in told], realised=told)
    out = opt.plot()
    (data,) = drawn
    assert data.names == ("width, mm", "turns", "alloy", "feed")
    assert data.options == {2: ("A", "B", "C")}
    assert data.whole == {1}
    assert data.logarithmic == {3}
    options, whole = (data.grid[k][np.isfinite(data.grid[k])] for k in (2, 1))
    np.testing.assert_array_equal(options, [0, 1, 2])
    assert np.all(whole == np.rint(whole))
    assert whole[0] == 3
    assert whole[-1] == 12
    least = data.mean[2, int(data.answer[2])] - OFFSET["ABC"[int(data.answer[2])]]
    np.testing.assert_allclose(data.mean[2, :3] - least, [*OFFSET.values()], atol=0.1)
    assert set(data.points[:, 2]) <= {0.0, 1.0, 2.0}
    panels = [ax for ax in out.subfigs[0].axes if ax.get_visible()]
    assert [text.get_text() for text in panels[2].get_xticklabels()] == ["A", "B", "C"]


def test_names_in_a_space_are_as_many_as_parameters(drawn):
    opt = phenes.Optimizer(space=SPACE, budget=60)
    opt.plot(names=["w", "t", "a", "f"])
    assert drawn[0].names == ("w", "t", "a", "f")
    with pytest.raises(ValueError, match="names must be 4 words"):
        opt.plot(names=["a"])


def test_of_many_whole_numbers_some_are_shown(drawn):
    space = phenes.Space(n=phenes.Integer(0, 5000), x=phenes.Real(0, 1))
    phenes.Optimizer(space=space, budget=60).plot()
    grid = drawn[0].grid[0][np.isfinite(drawn[0].grid[0])]
    assert 20 < grid.size <= 101
    assert np.all(grid == np.rint(grid))


def test_looking_changes_nothing():
    opt, other = run("gp"), run("gp")
    opt.plot()
    np.testing.assert_array_equal(opt.ask(), other.ask())
