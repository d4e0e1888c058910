"""The picture of a run: the evidence is marked, nothing lies on top of anything else, and no result
is too odd to be drawn.
"""

import dataclasses
import itertools

import numpy as np
import pytest
from matplotlib.text import Annotation, Text

import phenes
from phenes.evidence.observations import Evaluations
from phenes.optimizer import Result
from phenes.optimizer.answer.result import Best, Candidate
from phenes.plots import convergence

IN_FULL = pytest.mark.tier("lab")


def sphere(x):
    return float(np.sum((x - 3.0) ** 2))


@pytest.fixture(scope="module")
def result():
    return phenes.minimize(sphere, x0=np.zeros(2), sigma0=0.5, noise=0.1, budget=200, seed=0)


def made(nfev, mean, fun, fun_se=0.1, f_median=None, spread=0.1, **given):
    """A result with this history, each argument an array or one number for all updates."""
    nfev, mean = np.asarray(nfev), np.asarray(mean, float)
    each = {"fun": fun, "fun_se": fun_se, "f_median": fun if f_median is None else f_median}
    history = {
        name: np.broadcast_to(np.asarray(value, float), nfev.shape) for name, value in each.items()
    }
    history |= {"nfev": nfev, "x": mean, "spread": np.broadcast_to(spread, mean.shape)}
    known = {
        "x": mean[-1],
        "fun": history["fun"][-1],
        "fun_se": history["fun_se"][-1],
        "nfev": int(nfev[-1]),
        "nit": len(nfev),
    }
    return Result(
        **known
        | {"success": True, "message": "done", "history": history, "spread": history["spread"][-1]}
        | given
    )


def labels(figure):
    return [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()]


def mark(figure, label):
    """The error bar of the left panel with this label: its point and the ends of its bar."""
    (found,) = [each for each in figure.axes[0].containers if each.get_label().startswith(label)]
    point, _, bars = found
    ends = bars[0].get_segments()[0][:, 1] if bars else None
    return point.get_xydata()[0], ends


def titles(figure):
    """What is written across the picture: the headline, and the doubt."""
    return [
        each._suptitle.get_text()
        for each in (figure, *figure.subfigs)
        if each._suptitle is not None
    ]


def drawn(figure):
    figure.canvas.draw()
    return figure


def overlapping(boxes):
    return [(a, b) for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]


def coordinate_labels(figure, panel):
    return [text for text in figure.axes[panel].texts if isinstance(text, Annotation)]


def boxes(texts):
    """Of the letters alone: an annotation's own box has its line in it."""
    return [Text.get_window_extent(text) for text in texts]


def test_the_claim_is_a_point_with_its_interval(result):
    result = dataclasses.replace(result, fun_se=0.2 * result.fun)
    figure = convergence.figure(result)
    point, ends = mark(figure, f"verified, {result.verified} evaluations at x")
    np.testing.assert_allclose(point, (result.nfev, result.fun))
    np.testing.assert_allclose(sorted(ends), result.interval)
    assert titles(figure) == [
        f"E f(x) = {result.fun:.6g} ± {result.fun_se:.2g}, {result.verified} evaluations at x; 200"
        " in all"
    ]


def test_the_legend_names_everything_and_is_not_cut_off(result):
    figure = drawn(convergence.figure(result))
    wanted = [
        "median of a generation",
        "two standard errors",
        "model's estimate of E f(x) at the mean",
        "start",
        "best single",
        "verified",
    ]
    assert [
        label[: len(start)] for label, start in zip(labels(figure), wanted, strict=True)
    ] == wanted
    box = figure.subfigs[0].legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


def test_the_start_and_the_best_sample_are_where_they_were_evaluated(result):
    figure = convergence.figure(result)
    start = next(each for each in result.candidates if each.role == "start")
    point, ends = mark(figure, "start")
    np.testing.assert_allclose(point, (0, start.fun))
    assert ends is not None
    point, ends = mark(figure, "best single evaluation (luck)")
    np.testing.assert_allclose(point, (1 + np.argmin(result.evaluations.f), result.best.fun))
    assert ends is None


def test_without_noise_nothing_is_luck():
    result = phenes.minimize(sphere, x0=np.zeros(2), sigma0=0.5, budget=100, seed=0)
    figure = drawn(convergence.figure(result))
    assert result.fun_se == 0
    assert not [label for label in labels(figure) if "luck" in label]
    assert result.verified >= 3  # the minimum of an exact model may have been met earlier
    assert mark(figure, f"verified, {result.verified} evaluations at x")[1] is None


def test_what_was_not_verified_is_not_called_so(result):
    figure = convergence.figure(dataclasses.replace(result, verified=0))
    assert "not verified" in titles(figure)[0]
    assert mark(figure, "the claim, not verified")
    assert not [label for label in labels(figure) if label.startswith("verified")]


def test_a_doubt_is_written_out_and_not_cut_off(result):
    message = (
        "the budget is used; "
        + "what is not trusted is said in a long sentence, and another one says what would help; "
        * 5
    )
    figure = drawn(convergence.figure(dataclasses.replace(result, success=False, message=message)))
    doubt = figure.subfigs[0]._suptitle
    assert " ".join(doubt.get_text().split()) == f"not a success: {message}".strip()
    box = doubt.get_window_extent()
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure._suptitle.get_window_extent().y0 + 1
    assert all(ax.title.get_window_extent().y1 <= box.y0 + 1 for ax in figure.axes)


@pytest.mark.parametrize(
    "spacing", [0.01, *(pytest.param(s, marks=IN_FULL) for s in (0.0, 1e-9, 0.3, 10.0))]
)
def test_labels_of_coordinates_do_not_overlap(spacing):
    x = np.linspace(5, spacing * np.arange(10), 20)
    figure = drawn(
        convergence.figure(
            made(10 * np.arange(1, 21), x, np.linspace(9, 1, 20), spread=np.abs(x) + 1e-6)
        )
    )
    for panel in (1, 2):
        texts = coordinate_labels(figure, panel)
        assert [text.get_text() for text in texts] == [str(k) for k in range(10)]
        letters = boxes(texts)
        assert not overlapping(letters)
        inside = figure.axes[panel].get_window_extent()
        assert all(inside.y0 - 10 < box.y0 and box.y1 < inside.y1 + 10 for box in letters)


def test_labels_that_are_apart_stay_where_they_belong():
    figure = drawn(convergence.figure(made([10, 20], [[0.0, 5.0], [0.0, 9.0]], [2.0, 1.0])))
    texts = coordinate_labels(figure, 1)
    at = figure.axes[1].transData.transform([(20, 0.0), (20, 9.0)])[:, 1]
    middles = [(box.y0 + box.y1) / 2 for box in boxes(texts)]
    np.testing.assert_allclose(middles, at, atol=3)


def test_x_is_marked_where_it_is_not_the_mean():
    result = made([10, 20], [[0.0, 5.0], [1.0, 9.0]], [2.0, 1.0], x=np.array([0.5, 4.5]))
    points = [
        line.get_xydata()[0]
        for line in convergence.figure(result).axes[1].lines
        if len(line.get_xdata()) == 1
    ]
    np.testing.assert_allclose(points, [(20, 0.5), (20, 4.5)])


def test_a_flat_function_is_drawn_with_what_to_do_about_it():
    result = phenes.maximize(
        lambda x: 0.0, x0=np.zeros(2), sigma0=0.5, noise=0.1, budget=60, seed=0
    )
    figure = drawn(convergence.figure(result))
    assert "all values were equal" in titles(figure)[1]
    assert not [label for label in labels(figure) if "luck" in label]


def test_failures_alone_are_drawn():
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1, budget=60, seed=0)
    while opt.nfev < 60:
        theta = opt.ask(6)
        opt.tell(theta, np.full(len(theta), np.nan), realised=theta)
    figure = drawn(convergence.figure(opt.result))
    assert titles(figure)[0] == "E f(x) is not known, not verified; 60 in all"
    assert not figure.axes[0].lines


def lucky(fun, f):
    rows = np.zeros((len(f), 1))
    return {
        "best": Best(rows[0], rows[0], fun),
        "evaluations": Evaluations(rows, rows, np.array(f)),
    }


STEPS = 10 * np.arange(1, 21)
ODD = {
    "infinite": made(STEPS, np.zeros((20, 2)), np.inf, np.inf),
    "partly NaN": made(
        STEPS,
        np.zeros((20, 2)),
        np.where(STEPS < 50, np.nan, 1.0),
        np.where(STEPS < 80, np.nan, 0.1),
    ),
    "theta NaN": made(
        STEPS, np.where(STEPS[:, None] < 50, np.nan, np.ones((20, 2))), 1.0, x=np.full(2, np.nan)
    ),
    "huge": made(STEPS, np.ones((20, 2)), 1e308 * np.linspace(1, 0.1, 20), 1e308),
    "huge to tiny": made(STEPS, np.ones((20, 2)), np.geomspace(1e250, 1e-250, 20), 1e10),
    "negative": made(STEPS, np.ones((20, 2)), -np.geomspace(1e6, 1e-6, 20), 1e10),
    "to zero": made(STEPS, np.ones((20, 2)), np.r_[np.geomspace(1e6, 1e-6, 19), 0.0], 0.0),
    "both signs": made(STEPS, np.ones((20, 2)), np.linspace(1e6, -1, 20), np.inf),
    "no spread": made(STEPS, np.ones((20, 2)), 1.0, spread=0.0),
    "one update": made([10], np.ones((1, 2)), 1.0),
    "one update, infinite": made([10], np.ones((1, 2)), 1.0, np.inf),
    "one coordinate": made(STEPS, np.ones((20, 1)), 1.0),
    "300 coordinates": made(STEPS, np.arange(6000.0).reshape(20, 300), 1.0),
    "300 coordinates, one update": made([10], np.ones((1, 300)), 1.0),
    "a start that nobody knows": made(
        STEPS,
        np.ones((20, 1)),
        1.0,
        candidates=(Candidate("start", np.zeros(1), np.nan, np.inf, 0, 0, 0),),
    ),
    "luck beyond": made(
        STEPS, np.ones((20, 1)), np.geomspace(99, 1, 20), **lucky(-1e9, [3.0, -1e9, 2.0])
    ),
    "luck dropped": made(STEPS, np.ones((20, 1)), 1.0, **lucky(0.5, [3.0, 2.0])),
}


SOME = ("partly NaN", "huge to tiny", "no spread", "one update, infinite", "luck beyond")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SOME else IN_FULL) for name in ODD]
)
def test_odd_results_are_drawn(name):
    drawn(convergence.figure(ODD[name]))


def test_maximised_runs_show_what_was_maximised():
    result = phenes.maximize(
        lambda x: -sphere(x), x0=np.zeros(2), sigma0=0.5, noise=0.1, budget=200, seed=0
    )
    figure = drawn(convergence.figure(result))
    best, (claim, _), (start, _) = (
        mark(figure, "best single")[0],
        mark(figure, "verified"),
        mark(figure, "start"),
    )
    assert best[1] > claim[1] > start[1]
    low, high = figure.axes[0].get_ylim()
    assert low < start[1] < claim[1] < high


def test_outliers_do_not_squeeze_the_rest():
    fun = np.r_[1e6, -2e6, np.linspace(1, -1, 98)]
    figure = convergence.figure(made(np.arange(100) + 1, np.ones((100, 1)), fun))
    low, high = figure.axes[0].get_ylim()
    assert -5 < low < -1
    assert 1 < high < 5
