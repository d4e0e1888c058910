"""Results in names and units; runs on a space as runs on vectors."""

import numpy as np
import pytest

import phenes
from phenes import Log, Real, Space, store
from phenes.watch.snapshot import Reader
from phenes.watch.terminal import one

SPACE = Space(
    width=Real(50, 300, unit="mm", noise=4.0), feed=Log(1e-3, 10, noise=0.05), angle=Real(0, 90)
)


def cost(width, feed, angle):
    return ((width - 210) / 50) ** 2 + (np.log(feed) + 1) ** 2 + ((angle - 30) / 30) ** 2


@pytest.fixture(scope="module")
def result():
    return phenes.minimize(cost, SPACE, budget=60)


def test_the_answer_is_by_name(result):
    assert result.x["width"] == pytest.approx(210, abs=2)
    assert result.x["feed"] == pytest.approx(np.exp(-1), rel=0.05)
    assert result.x["angle"] == pytest.approx(30, abs=1)
    # E f = (4 / 50)^2 + 0.05^2 at the optimum
    assert result.interval[0] < 0.0089 < result.interval[1]
    assert set(result.best.theta) == set(SPACE.names)
    assert result.candidates[0].theta["width"] == 175.0
    assert np.asarray(result.x).shape == (3,)


def test_it_prints_as_a_table_with_units(result):
    lines = [line.split() for line in str(result).splitlines()]
    assert lines[0] == ["x", "parameter", "intended", "realised", "range"]
    assert lines[1][0] == "width"
    assert lines[1][2:] == ["mm", "±", "4", "50", "to", "300"]
    assert lines[2][2:] == ["±", "5", "%", "0.001", "to", "10"]
    assert lines[3][2:] == ["exactly", "0", "to", "90"]
    page = result._repr_html_()
    assert "<td>± 5 %</td>" in page
    assert "mm</td>" in page


def test_a_parameter_at_the_end_of_its_range_is_named():
    result = phenes.minimize(lambda a, b: a - b, Space(a=Real(0, 1), b=Real(0, 1)), budget=40)
    assert "(at its low end)" in str(result)
    assert "(at its high end)" in str(result)


def test_status_says_why_the_run_ended(result):
    assert result.status == 1
    assert result["status"] == 1
    target = phenes.minimize(cost, SPACE, budget=400, target=1.0)
    assert target.status == 0
    assert "target" in target.message
    assert phenes.Optimizer(SPACE).result.status == -1


def test_the_picture_has_names_and_values(result):
    figure = result.plot()
    texts = [text.get_text() for sub in figure.subfigs for ax in sub.axes for text in ax.texts]
    assert f"width = {result.x['width']:.6g} mm" in texts
    assert {"feed", "angle"} <= set(texts)
    place = figure.subfigs[0].axes[1]
    assert all(np.all((line.get_ydata() >= 0) & (line.get_ydata() <= 1)) for line in place.lines)


def test_a_space_in_vectors_is_the_same_run(result):
    """Names are a map at the door: the search, the noise and the claim are those of vectors."""

    def of_vector(v):
        return cost(v[0], np.exp(v[1]), v[2])

    plain = phenes.minimize(
        of_vector,
        SPACE.start(),
        SPACE.sigma0,
        SPACE.noise,
        bounds=(SPACE.lower, SPACE.upper),
        budget=60,
    )
    assert np.allclose(np.asarray(result.x), plain.x, rtol=1e-6)
    assert result.fun == pytest.approx(plain.fun, rel=1e-6)


def test_a_checkpoint_is_resumed_and_watched_by_name(tmp_path):
    whole = phenes.minimize(cost, SPACE, budget=40, seed=5)
    calls = []

    def counted(width, feed, angle):
        calls.append(1)
        return cost(width, feed, angle)

    file = tmp_path / "run.db"
    phenes.minimize(
        counted, SPACE, budget=40, seed=5, checkpoint=file, callback=lambda r: r.nfev > 20
    )
    half = len(calls)
    again = phenes.minimize(counted, SPACE, budget=40, seed=5, checkpoint=file)
    assert 20 < half < 40
    assert len(calls) == 40
    assert again.x == whole.x
    assert again.fun == whole.fun
    with store.Store(file) as kept:
        snapshot = Reader(kept[kept.runs()[-1].id]).snapshot()
    assert snapshot["theta"]["width"] == again.x.with_unit("width")
    assert max(snapshot["curve"]["step"]) < 1  # shares of the ranges
    assert "width" in str(one(snapshot).columns[1]._cells)
    wider = Space(width=Real(50, 400, noise=4.0), feed=Log(1, 10), angle=Real(0, 90))
    with pytest.raises(ValueError, match="settings"):
        phenes.minimize(counted, wider, budget=40, seed=5, checkpoint=file)


def test_ask_and_tell_by_name():
    rng = np.random.default_rng(0)
    opt = phenes.Optimizer(SPACE, budget=60, seed=1, x0={"width": 100})
    while not opt.stop():
        theta = opt.ask()
        x = [
            each
            | {
                "width": each["width"] + 4 * rng.standard_normal(),
                "feed": each["feed"] * np.exp(0.05 * rng.standard_normal()),
            }
            for each in theta
        ]
        opt.tell(theta, [cost(**each) for each in x], realised=x)
    assert opt.result.x["width"] == pytest.approx(210, abs=3)
    assert opt.mean == opt.result.x
    assert opt.verify(2) == [dict(opt.result.x)] * 2
    assert opt.evaluations.theta["width"][0] == 100.0


def test_an_optimizer_shows_itself():
    opt = phenes.Optimizer(SPACE, budget=60)
    assert "width" in repr(opt)
    assert "0 of 60" in repr(opt)
    theta = opt.ask(4)
    opt.tell(theta, [cost(**each) for each in theta])
    assert "<td>width</td>" in opt._repr_html_()
    assert "d=2, engine='adaptive': 0 of 60" in repr(phenes.Optimizer([0.0, 0.0], 1.0, budget=60))
