"""What the picture of a design is made of, and that nothing is evaluated for it."""

import io
from dataclasses import replace

import numpy as np
import pytest

import phenes
from phenes.evidence import Evaluations
from phenes.optimizer import Result
from phenes.optimizer.answer.named_result import name_result
from phenes.optimizer.pictures import design
from phenes.space import Choice, Integer, Log, Real, Space

WEIGHTS = np.array([5.0, 3.0, 1.0])


@pytest.fixture(scope="module")
def run():
    calls = []

    def f(x):
        calls.append(x)
        return float(WEIGHTS @ x**2)

    found = phenes.minimize(f, np.ones(3), 0.5, noise=[0.2, 0.1, 0.2], budget=40, seed=0)
    return found, calls


def made(rng, n, d, *, cov, x=None, f=None, **given):
    """A finished run with n evaluations at the answer, zero, and n around it."""
    theta = np.concatenate([np.zeros((n, d)), 0.3 * rng.standard_normal((n, d))])
    drawn = theta + np.sqrt(cov) * rng.standard_normal(theta.shape)
    values = np.sum(drawn**2, axis=1) + drawn[:, 0] if f is None else f
    evaluations = Evaluations(theta, drawn if x is None else x, values, np.full(2 * n, "verify"))
    history = {"nfev": np.array([2 * n])}
    return Result(
        **{
            "x": np.zeros(d),
            "fun": d * 0.04,
            "fun_se": 0.01,
            "nfev": 2 * n,
            "nit": 1,
            "success": True,
            "message": "done",
            "verified": n,
            "evaluations": evaluations,
            "history": history,
            "noise_cov": np.asarray(cov, float) * np.ones(d),
            **given,
        }
    )


def words(figure):
    figure.savefig(io.BytesIO(), dpi=30)
    return " ".join(
        text.get_text()
        for sub in figure.subfigs
        for text in sub.findobj(lambda artist: hasattr(artist, "get_text"))
    )


def shown(figure):
    return [ax for ax in figure.subfigs[1].axes if ax.get_visible()]


def test_a_quadratic_is_drawn_as_it_is(run):
    """Of w x^2 under noise of variance v the cost is w v and the variance 2 (w v)^2."""
    result, calls = run
    before = len(calls)
    figure = result.plot("design")
    assert len(calls) == before == 40
    _, share, cost = figure.subfigs[0].axes
    expected = WEIGHTS * np.array([0.04, 0.01, 0.04])
    order = np.argsort(-expected)
    named = [label.get_text() for label in share.get_yticklabels()]
    assert named == [f"coordinate {k}" for k in order]
    assert [bar.get_width() for bar in cost.patches] == pytest.approx(expected[order], rel=0.02)
    # off the optimum there is a slope as well: what it adds is known from x
    variance = 2 * expected**2 + (2 * WEIGHTS * result.x) ** 2 * [0.04, 0.01, 0.04]
    assert [bar.get_width() for bar in share.patches] == pytest.approx(
        100 * (variance / variance.sum())[order], rel=0.02
    )
    assert f"f in {result.verified} evaluations" in words(figure)


def test_curves_are_e_f_with_the_tolerance_around_the_answer(run):
    result, _ = run
    panels = shown(result.plot("design"))
    assert sorted(ax.get_xlabel() for ax in panels) == [f"coordinate {k}" for k in range(3)]
    for ax in panels:
        k = int(ax.get_xlabel().split()[1])
        grid, mean = ax.lines[0].get_data()
        others = np.delete(WEIGHTS * result.x**2, k).sum()
        expected = WEIGHTS[k] * grid**2 + others + WEIGHTS @ [0.04, 0.01, 0.04]
        assert mean == pytest.approx(expected, abs=0.05)
        band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
        std = [0.2, 0.1, 0.2][k]
        assert [band.x0, band.x1] == pytest.approx([result.x[k] - std, result.x[k] + std])


def test_names_and_units_of_a_space():
    space = Space(
        width=Real(-2, 2, unit="mm", noise=0.2),
        feed=Log(0.1, 10, unit="g/s", noise=0.1),
        turns=Integer(1, 9),
        alloy=Choice("A", "B"),
    )
    rng = np.random.default_rng(0)
    std, answer = np.array([0.2, 0.1, 0, 0, 0]), np.array([0.0, 0, 5, 1, 0])
    plain = made(rng, 40, 5, cov=std**2)
    theta = plain.evaluations.theta * (std > 0) + answer
    x = theta + std * rng.standard_normal(theta.shape)
    evaluations = plain.evaluations._replace(theta=theta, x=x, f=x[:, 0] ** 2 + x[:, 1])
    named = name_result(replace(plain, x=answer, evaluations=evaluations), space)
    figure = named.plot("design")
    assert {ax.get_xlabel() for ax in shown(figure)} == {"width, mm", "feed, g/s"}
    feed = next(ax for ax in shown(figure) if ax.get_xlabel() == "feed, g/s")
    band = feed.patches[0].get_extents().transformed(feed.transData.inverted())
    assert [band.x0, band.x1] == pytest.approx(np.exp([-0.1, 0.1]))
    assert "only one value of: turns" in words(figure)


def test_many_parameters_are_told_by_weights():
    """The six that matter most, from the rows around, with the error that they have."""
    rng = np.random.default_rng(1)
    result = made(rng, 150, 12, cov=0.04)
    panels = shown(result.plot("design"))
    assert len(panels) == design.SLICES
    ax = panels[0]
    assert ax.get_xlabel() == "coordinate 0"  # has a slope
    grid, mean = ax.lines[0].get_data()
    assert np.ptp(grid) == pytest.approx(2 * design.REACH_OF_WEIGHTS * 0.2)
    low, high = _band(ax, grid)
    truth = grid + grid**2 + 12 * 0.04
    assert np.all((low < truth) & (truth < high))
    assert np.corrcoef(mean, truth)[0, 1] > 0.9


def _band(ax, grid):
    edge = ax.collections[0].get_paths()[0].vertices
    at = [edge[np.isclose(edge[:, 0], x)][:, 1] for x in grid]
    return np.array([each.min() for each in at]), np.array([each.max() for each in at])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": np.full((60, 2), np.nan)}, "x was not measured"),
        ({"cov": 0.0}, "There is no noise"),
        ({"f": np.ones(60)}, "All have the value 1."),
        ({"f": np.full(60, np.nan)}, "No evaluation there has a value"),
        ({"f": 1e200 * np.linspace(-1, 1, 60)}, "All have the value"),
        ({"f": 1e119 * np.linspace(-1, 1, 60)}, "f in 30 evaluations"),
        ({"fun": np.nan, "fun_se": np.inf}, "f in 30 evaluations"),
    ],
)
def test_what_is_missing_is_said_in_words(given, said):
    result = made(np.random.default_rng(2), 30, 2, **{"cov": 0.04, **given})
    assert said in words(result.plot("design"))


def test_the_first_of_many_are_called_so():
    result = made(np.random.default_rng(4), 10, 12, cov=0.04)
    assert "The first 6 of 12" in words(result.plot("design"))


def test_few_rows_are_too_few():
    result = made(np.random.default_rng(3), 2, 3, cov=0.04)
    assert "are too few" in words(result.plot("design"))


def test_other_kinds_are_named(run):
    with pytest.raises(
        ValueError, match="kind must be one of 'convergence', 'design', 'pairs', got 'x'"
    ):
        run[0].plot("x")
