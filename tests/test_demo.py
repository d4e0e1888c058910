"""The demonstration: a problem whose optimum is known, a fair race, and a table and a picture that
come from the numbers.
"""

import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console

from phenes import demo, plots
from phenes.demo import picture, product
from phenes.demo import race as running

TINY = demo.DemoSettings(seeds=6, generations=12, product_seeds=1)


@pytest.fixture(scope="module")
def progress():
    return []


@pytest.fixture(scope="module")
def tiny(progress):
    return demo.run(TINY, lambda done, total: progress.append((done, total)))


def smoothed_by_quadrature(x, noise):
    """E f without the closed form: 40 x 40 Gauss-Hermite nodes of the error."""
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    errors = noise * np.stack(np.meshgrid(node, node), axis=-1)
    weights = np.outer(weight, weight) / (2 * np.pi)
    return np.sum(weights * demo.landscape(x[..., None, None, :] + errors, 0.0), axis=(-2, -1))


def test_closed_form_of_the_average_is_the_integral():
    x = np.random.default_rng(0).uniform(size=(50, 2))
    np.testing.assert_allclose(demo.landscape(x, 0.1), smoothed_by_quadrature(x, 0.1), rtol=1e-10)


def test_robust_optimum_is_the_published_one_and_that_of_a_grid():
    where, best = demo.optimum(0.1)
    np.testing.assert_allclose(where, (0.2003, 0.2002), atol=5e-5)
    assert best == pytest.approx(0.400115, abs=5e-7)
    centre = np.array((0.5, 0.5))
    # the best of a grid of the unit square, then of finer ones around it
    for half in (0.5, 0.05, 0.005, 0.0005):
        side = np.linspace(-half, half, 21)
        grid = centre + np.stack(np.meshgrid(side, side), axis=-1)
        values = smoothed_by_quadrature(grid, 0.1)
        centre = grid[np.unravel_index(np.argmax(values), values.shape)]
    np.testing.assert_allclose(where, centre, atol=1e-4)
    assert best == pytest.approx(values.max(), abs=1e-8)


def test_nominal_optimum_is_ruined_by_the_error():
    where, best = demo.optimum(0.0)
    assert best > demo.landscape(demo.optimum(0.1)[0], 0.0) + 0.2
    assert demo.landscape(where, 0.1) == pytest.approx(0.3636, abs=5e-5)


def test_predicted_gain_is_what_samples_show():
    d, n, s, c = np.size(TINY.starts), 200_000, TINY.spread**2, TINY.noise**2
    random = np.random.default_rng(1)
    theta = random.normal(scale=TINY.spread, size=(n, d))
    x = theta + random.normal(scale=TINY.noise, size=(n, d))
    f = -np.sum(x**2, axis=1)
    w = (f - f.mean()) / f.std()
    es, paes = (
        np.sum((w[:, None] * theta / s) ** 2, axis=1),
        np.sum((w[:, None] * x / (s + c)) ** 2, axis=1),
    )
    ratio = es.mean() / paes.mean()
    se = np.std(es - ratio * paes) / np.sqrt(n) / paes.mean()
    assert abs(ratio - TINY.predicted_gain) < 4 * se
    assert se < 0.05


@pytest.mark.tier("pages")
def test_results_are_those_of_the_seed(tiny):
    """A run depends neither on how many seeds there are nor on which ran beside it."""
    again = demo.run_method(dataclasses.replace(TINY, seeds=3), "ES")
    np.testing.assert_array_equal(again, tiny.means["ES"][:3])
    other = demo.run_method(dataclasses.replace(TINY, seeds=3, seed=1), "ES")
    assert not np.isclose(other, again).any()


def test_both_start_from_the_same_place_with_the_same_population(tiny):
    first = {method: demo.regret(tiny, method)[:, 0] for method in ("ES", "PAES")}
    start = demo.optimum(0.1)[1] - demo.assembly(np.ravel(TINY.starts), 0.1)
    assert all(np.all(np.abs(r - start) < 0.05) for r in first.values())
    assert not np.allclose(first["ES"], first["PAES"])


def test_progress_counts_the_seeds_of_both_methods(tiny, progress):
    assert progress == [(0, 13), (5, 13), (6, 13), (6, 13), (11, 13), (12, 13), (13, 13)]


# the claim of the picture: a race of full length takes ten seconds
IN_FULL = pytest.mark.tier("pages")


def test_a_short_race_is_led_by_paes(tiny):
    """Where the races of full length begin: from the same place, with the lower regret."""
    last = {method: np.median(demo.regret(tiny, method)[:, -1]) for method in ("ES", "PAES")}
    assert last["PAES"] < last["ES"]
    assert last["ES"] < np.median(demo.regret(tiny, "ES")[:, 0])


@pytest.fixture(scope="module")
def race():
    return demo.run(demo.DemoSettings(seeds=10, seed=7, product_seeds=3))


@IN_FULL
def test_race_of_full_length_is_won_by_about_the_predicted_gain(race):
    """The claim of the picture, on other seeds."""
    result = demo.summary(race)
    assert result.ratio is not None
    assert result.ratio > 1.5
    # a regret is a sum over 10 coordinates: its log has a standard deviation of sqrt(2/10), and the
    # median of 10 seeds 1.25/sqrt(10) of it
    se = np.sqrt(2) * 1.25 * np.sqrt(2 / 10) / np.sqrt(10)
    assert abs(np.log(result.regret_ratio / result.predicted_gain)) < 4 * se


@IN_FULL
def test_maximize_needs_a_tenth_of_the_evaluations_for_the_regret_of_es(race):
    """In the median of three runs; the first of them ends at another peak, and knows its worth."""
    result = demo.summary(race)
    assert 10 * result.product.budget == result.budget
    assert result.product.regret[1] < result.scores["ES"].regret[2]
    assert result.product.covered == 3


def answered(x, fun, fun_se):
    x = np.array(x)
    return demo.Answer(np.array([10, 30]), np.stack([x, 2 * x]), x, fun, fun_se, 40)


def test_claims_are_compared_with_the_truth():
    true = float(demo.landscape(np.array([0.3, 0.3]), 0.1))
    claims = ((true, 1e-6), (true + 0.0199, 0.01), (true - 0.0201, 0.01))
    answers = tuple(answered([0.3, 0.3], fun, se) for fun, se in claims)
    assert [product.covered(each, 0.1) for each in answers] == [True, True, False]
    settings = dataclasses.replace(TINY, seeds=1, generations=2, starts=((0.3, 0.3),))
    means = {method: np.full((1, 2, 2), 0.2) for method in ("ES", "PAES")}
    summary = demo.summary(demo.Results(settings, means, answers))
    assert summary.product.covered == 2
    assert summary.product.regret == pytest.approx([demo.optimum(0.1)[1] - true] * 3)
    assert "2 of 3 claims" in demo.table(summary).caption


def test_curve_of_maximize_stands_until_the_next_update():
    near = answered([0.2, 0.2], 0.4, 0.01)
    late = near._replace(evaluations=np.array([20, 25]))
    evaluations, runs = product.curves((near, late), 0.1)
    np.testing.assert_array_equal(evaluations, [20, 25, 30])
    np.testing.assert_allclose(runs[0], [runs[0, 0], runs[0, 0], runs[1, 1]])
    np.testing.assert_allclose(runs[1, 1], runs[1, 2])
    assert runs[0, 0] < runs[0, 2]


def last_regret_of_es(race, **changes):
    settings = dataclasses.replace(race.settings, **changes)
    return np.median(
        demo.regret(demo.Results(settings, {"ES": demo.run_method(settings, "ES")}), "ES")[:, -1]
    )


@IN_FULL
@pytest.mark.parametrize("rate", [1.6, 10.0])
def test_learning_rate_suits_es(race, rate):
    """ES would not be served better by another one: the comparison is on its terms."""
    assert np.median(demo.regret(race, "ES")[:, -1]) < last_regret_of_es(race, learning_rate=rate)


@IN_FULL
def test_wider_search_does_not_make_up_for_what_es_throws_away(race):
    """At the spread and the rates that are best for ES alone, PAES at the spread and the rates of
    the race is still ahead.
    """
    assert last_regret_of_es(race, spread=0.075, learning_rate=3.6, decay=3.0) > 1.5 * np.median(
        demo.regret(race, "PAES")[:, -1]
    )


def made_up(es, paes):
    """One seed and one part, this far from the optimum by generation."""
    where, _ = demo.optimum(0.1)
    settings = demo.DemoSettings(seeds=1, generations=len(es), starts=((0.3, 0.3),))
    means = {
        method: where + np.outer(distances, (1, 0))[None]
        for method, distances in (("ES", es), ("PAES", paes))
    }
    return demo.Results(settings, means)


FAR, NEAR = 0.1, 1e-4


@pytest.mark.parametrize(
    ("es", "paes", "text", "ratio"),
    [
        (
            [FAR, FAR, FAR, NEAR],
            [FAR, NEAR, NEAR, NEAR],
            "with 2.0 times fewer evaluations than ES",
            2.0,
        ),
        ([NEAR, NEAR], [FAR, NEAR], "with 2.0 times more evaluations than ES", 0.5),
        (
            [FAR, FAR],
            [FAR, NEAR],
            "PAES gets within 0.05 % of the robust optimum in 80 evaluations, ES not in 80",
            None,
        ),
        (
            [FAR, NEAR],
            [FAR, FAR],
            "ES gets within 0.05 % of the robust optimum in 80 evaluations, PAES not in 80",
            None,
        ),
        (
            [FAR, FAR],
            [FAR, FAR],
            (
                "Neither gets within 0.05 % of the robust optimum in 80 evaluations; the regret of"
                " ES is 1.0 times"
            ),
            None,
        ),
        (
            [FAR, NEAR, FAR, NEAR],
            [NEAR, FAR, NEAR, NEAR],
            "with 1.5 times fewer evaluations than ES",
            1.5,
        ),
    ],
)
def test_finding_says_what_the_numbers_say(es, paes, text, ratio):
    result = demo.summary(made_up(es, paes))
    assert text in demo.finding(result)
    assert result.ratio == (None if ratio is None else pytest.approx(ratio))


def test_table_holds_median_and_quartiles(tiny):
    result = demo.summary(tiny)
    console = Console(width=120, file=io.StringIO())
    console.print(demo.table(result))
    text = console.file.getvalue()
    for method in ("ES", "PAES"):
        low, middle, high = np.quantile(demo.regret(tiny, method)[:, -1], [0.25, 0.5, 0.75])
        assert f"{1e4 * middle:.2f} ({1e4 * low:.2f} to {1e4 * high:.2f})" in text
    assert "never (never to never)" in text


def test_picture_is_drawn_from_stored_results(tiny, tmp_path, monkeypatch):
    path = demo.save(tiny, tmp_path / "demo.npz")
    monkeypatch.setattr(running.loop, "run", None)  # would fail if anything ran again
    loaded = demo.load(path)
    assert loaded.settings == tiny.settings
    result = demo.summary(loaded)
    assert result == demo.summary(tiny)
    files = [
        plots.save(picture.figure(results, result), tmp_path / name)
        for name, results in (("a.png", loaded), ("b.png", tiny))
    ]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes()[:4] == b"\x89PNG"
    assert files[0].stat().st_size > 10_000


def test_figure_has_the_finding_as_title_and_one_colour_for_each_method(tiny):
    result = demo.summary(tiny)
    figure = picture.figure(tiny, result)
    assert figure.texts[0].get_text() == demo.finding(result)
    _, average, curves = figure.axes
    for method in ("ES", "PAES"):
        colour = plots.COLOURS[method]
        assert sum(line.get_color() == colour for line in average.lines) == len(TINY.starts)
        (line,) = [line for line in curves.lines if line.get_color() == colour]
        np.testing.assert_allclose(line.get_ydata(), np.median(demo.regret(tiny, method), axis=0))
    curve, answer = [line for line in curves.lines if line.get_color() == plots.COLOURS["product"]]
    evaluations, runs = product.curves(tiny.answers, TINY.noise)
    np.testing.assert_array_equal(curve.get_xdata(), evaluations)
    np.testing.assert_allclose(curve.get_ydata(), runs[0])
    assert answer.get_ydata()[0] == product.answer_regret(tiny.answers[0], TINY.noise)


@pytest.mark.parametrize(
    "name",
    [
        *("seeds", "generations", "popsize", "noise", "spread", "learning_rate", "decay", "within"),
        "product_seeds",
    ],
)
def test_settings_out_of_range_are_refused(name):
    with pytest.raises(ValueError, match=name):
        demo.DemoSettings(**{name: 0})
