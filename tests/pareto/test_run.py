"""phenes.front: fronts that are known in closed form, claims, failures, and what is refused."""

import numpy as np
import pytest

import phenes
from phenes import risk

NOISE = 0.3
BOX = [(-1, 2.5), (-0.5, 0.5)]
A, B = np.full(2, 1.0), np.full(2, -1.0)


def saddle(x):
    """(c - 1)² + 2 c z with c exact and z noisy: E f and std f are at odds; see `exact`."""
    return (x[0] - 1) ** 2 + 2 * x[0] * x[1]


def truth(theta):
    """Mean and standard deviation of `saddle`, rows (k, 2)."""
    c, z = theta.T
    return np.stack([(c - 1) ** 2 + 2 * c * z, 2 * np.abs(c) * NOISE], axis=1)


def exact(spread):
    """The least mean at a standard deviation: z = -0.5, c = spread / 2 s, from 0 to 1.5."""
    c = spread / (2 * NOISE)
    return (c - 1) ** 2 - c


@pytest.fixture(scope="module")
def found():
    return phenes.front(saddle, [0.5, 0.0], [0.8, 0.2], [0.0, NOISE], bounds=BOX, budget=80, seed=0)


def twins(x):
    return np.sum((x - A) ** 2), np.sum((x - B) ** 2)


@pytest.fixture(scope="module")
def pair():
    return phenes.front(twins, [0.0, 0.0], 0.5, 0.2, budget=60, seed=0)


@pytest.mark.tier("runs")
def test_the_front_of_mean_and_spread_is_the_exact_one(found):
    """The designs lie on the curve of the closed form, from one end of it to the other."""
    mean, spread = truth(found.vectors).T
    assert mean == pytest.approx(exact(spread), abs=0.01)  # 0.5 % of its range
    assert mean.min() < -1.24
    assert spread.min() < 0.01
    assert len(found) >= 6
    assert np.all(np.diff(found.values[:, 0]) > 0)
    assert np.diff(np.sort(spread)).max() < 0.35 * 0.9  # no gap of a third of the front


@pytest.mark.tier("runs")
def test_the_claims_are_covered(found):
    low, high = np.moveaxis(found.intervals, 2, 0)
    true = truth(found.vectors)
    assert np.all((low - 1e-9 <= true) & (true <= high + 1e-9))
    assert found.success
    assert found.verified.all()
    assert found.draws.sum() <= 32
    assert found.nfev == 80 == len(found.evaluations.f)
    assert (found.evaluations.phase == "verify").sum() == 32


def test_two_values_have_the_front_of_their_means(pair):
    """sqrt(E f1 - d s²) + sqrt(E f2 - d s²) = |a - b| on the segment between both minima."""
    assert [axis.label for axis in pair.axes] == ["E f1", "E f2"]
    away = np.linalg.norm(pair.vectors - A, axis=1) + np.linalg.norm(pair.vectors - B, axis=1)
    assert away == pytest.approx(np.sqrt(8), abs=1e-3)
    true = np.stack([np.sum((pair.vectors - c) ** 2, axis=1) + 0.08 for c in (A, B)], axis=1)
    assert np.all(np.abs(pair.values - true) <= 2 * pair.errors + 1e-6)
    assert set(pair.evaluations.columns()) >= {"f", "f1", "f2", "theta_0", "x_1"}


@pytest.mark.tier("runs")
def test_the_same_seed_gives_the_same_front_on_any_number_of_workers(pair):
    again = phenes.front(twins, [0.0, 0.0], 0.5, 0.2, budget=60, seed=0, workers=2)
    assert np.array_equal(again.vectors, pair.vectors)
    assert np.array_equal(again.values, pair.values)
    other = phenes.front(twins, [0.0, 0.0], 0.5, 0.2, budget=20, seed=1)
    assert not np.array_equal(other.vectors[0], pair.vectors[0])


@pytest.mark.tier("runs")
def test_one_value_is_maximised_and_one_minimised():
    def by_name(width, turns):
        return {"cost": (width - 1) ** 2 + turns, "gain": -((width + 1) ** 2) + 0.1 * turns}

    space = phenes.Space(width=phenes.Real(-2, 2, unit="mm", noise=0.1), turns=phenes.Integer(1, 4))
    got = phenes.front(by_name, space, maximize=(False, True), budget=60, seed=0)
    assert [axis.label for axis in got.axes] == ["E cost", "E gain"]
    assert got.axes[1].maximised
    assert not got.axes[0].maximised
    order = np.argsort(got.values[:, 0])
    assert np.all(np.diff(got.values[order, 1]) > 0)  # what costs more gains more
    assert got.thetas[0]["width"] == pytest.approx(1.0, abs=0.1)
    assert "width" in str(got)
    assert " mm" in str(got)
    assert "E gain" in str(got)
    frame = got.evaluations.columns()
    assert frame["cost"] == pytest.approx(
        (frame["x_width"] - 1) ** 2 + frame["theta_turns"], nan_ok=True
    )


@pytest.mark.tier("runs")
def test_a_maximised_value_has_its_spread_made_small():
    got = phenes.front(
        lambda x: -saddle(x),
        [0.5, 0.0],
        [0.8, 0.2],
        [0.0, NOISE],
        maximize=True,
        bounds=BOX,
        budget=60,
        seed=0,
    )
    mean, spread = truth(got.vectors).T
    assert mean == pytest.approx(exact(spread), abs=0.05)
    low, high = np.moveaxis(got.intervals, 2, 0)
    assert np.all((low[:, 0] <= -mean + 1e-6) & (-mean - 1e-6 <= high[:, 0]))
    assert np.all(got.values[:, 1] >= 0)


def valley(x):
    return np.exp(0.8 * x[..., 0]) * (1 + x[..., 1] ** 2) - x[..., 0]


@pytest.mark.tier("runs")
@pytest.mark.parametrize(("share", "seed"), [(0.03, 0), (0.03, 1), (0.1, 0), (0.1, 2)])
def test_failures_at_random_say_nothing_of_a_design(share, seed):
    """Intervals jumped between neighbours: one of the four draws there had failed."""
    rng = np.random.default_rng([300, seed])

    def fails(x):
        return np.nan if rng.random() < share else float(valley(x))

    got = phenes.front(fails, [0.0, 0.0], 0.5, NOISE, bounds=(-2, 2), budget=80, seed=seed)
    assert got.failed
    assert "values are of x that have one" in got.message
    widths = np.diff(got.intervals, axis=2)[:, :, 0]
    assert np.all(np.maximum(widths[1:], widths[:-1]) < 4 * np.minimum(widths[1:], widths[:-1]))
    assert widths[:, 0].max() < 0.3  # up to 18 with what a failure might cost
    z = NOISE * np.random.default_rng(5).standard_normal((40_000, 2))
    truth = np.array([[v.mean(), v.std()] for v in (valley(at + z) for at in got.vectors)])
    low, high = np.moveaxis(got.intervals, 2, 0)
    assert np.all((low - 0.003 <= truth) & (truth <= high + 0.003))
    worse = np.all(truth[:, None] > truth + 2e-3, axis=2)
    assert not worse.any()


@pytest.mark.tier("runs")
def test_a_border_beside_designs_is_allowed_for():
    def fails(x):
        return np.nan if x[0] > 0.6 else float(np.exp(-x[0]) * (1 + x[1] ** 2) + 0.2 * x[1])

    got = phenes.front(fails, [-0.5, -0.5], 0.5, 0.2, bounds=(-2, 2), budget=80, seed=5)
    z = 0.2 * np.random.default_rng(5).standard_normal((40_000, 2))
    held = []
    for at, intervals in zip(got.vectors, got.intervals, strict=True):
        x = at + z
        f = np.array(np.exp(-x[:, 0]) * (1 + x[:, 1] ** 2) + 0.2 * x[:, 1])[x[:, 0] <= 0.6]
        held += [
            low - 0.003 <= true <= high + 0.003
            for true, (low, high) in zip((f.mean(), f.std()), intervals, strict=True)
        ]
    assert np.mean(held) >= 0.9
    widths = np.diff(got.intervals, axis=2)[:, :, 0]
    assert widths.max() < 1


@pytest.mark.tier("runs")
def test_failures_are_counted_and_survived():
    def fails(x):
        if x[0] > 1.2:
            raise RuntimeError("it broke")
        return np.nan if x[1] < -1.3 else twins(x)

    got = phenes.front(fails, [0.0, 0.0], 0.5, 0.2, budget=70, seed=2)
    columns = got.evaluations.columns()
    bad = np.isnan(columns["f"])
    assert 0 < bad.sum() == got.failed
    assert np.array_equal(bad, (columns["x_0"] > 1.2) | (columns["x_1"] < -1.3))
    assert "RuntimeError: it broke" in got.errors_of_f
    assert len(got) >= 3
    assert np.all(np.isfinite(got.values))


@pytest.mark.tier("runs")
def test_a_lab_realises_x_and_its_noise_is_learnt():
    rng = np.random.default_rng(5)

    def lab(theta):
        x = theta + 0.2 * rng.standard_normal(2)
        return x, twins(x)

    got = phenes.front(lab, [0.0, 0.0], 0.5, "learn", realises=True, budget=60, seed=0)
    away = np.linalg.norm(got.vectors - A, axis=1) + np.linalg.norm(got.vectors - B, axis=1)
    assert away == pytest.approx(np.sqrt(8), abs=0.05)


def test_without_noise_a_design_is_evaluated_once():
    got = phenes.front(twins, [0.0, 0.0], 0.5, budget=40, points=5, seed=0)
    assert got.draws.tolist() == [1] * len(got)
    assert not got.errors.any()
    assert got.values == pytest.approx(np.array([twins(row) for row in got.vectors]))


def test_a_constant_value_leaves_the_best_of_the_other():
    got = phenes.front(lambda x: (np.sum(x**2), 1.0), [1.0], 0.5, 0.1, budget=30, seed=0)
    assert len(got) == 1
    assert abs(got.vectors[0, 0]) < 0.05


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"objectives": [risk.mean()]}, "objectives must be two risks"),
        ({"objectives": risk.mean()}, "objectives must be two risks"),
        ({"objectives": [risk.mean(), "std"]}, "objective must be a risk"),
        ({"maximize": (True, False, True)}, "maximize must be True or False"),
        ({"maximize": "yes"}, "maximize"),
        ({"budget": 5}, "budget must be at least"),
        ({"budget": 40, "verify": 39}, "verify must leave"),
        ({"points": 0}, "points"),
        ({"seed": -1}, "seed"),
        ({"workers": phenes.Workers(2, asynchronous=True)}, "asynchronous"),
        ({"noise": "learn"}, "noise='learn' needs"),
        ({"noise": None, "objectives": [risk.mean(), risk.std()]}, "noise must be given"),
        ({"space": np.zeros(11), "sigma0": 1.0}, "at most 10 parameters"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_evaluated(arguments, words):
    def never(x):
        raise AssertionError("evaluated")

    given = {"space": [0.0, 0.0], "sigma0": 0.5, "noise": 0.1} | arguments
    with pytest.raises(ValueError, match=words) as raised:
        phenes.front(never, **given)
    assert "\n" not in str(raised.value)


def test_what_f_returns_is_refused_in_one_sentence():
    plain = {"space": [0.0, 0.0], "sigma0": 0.5, "noise": 0.1, "budget": 30}
    with pytest.raises(RuntimeError, match="a front takes no constraints"):
        phenes.front(lambda x: (x[0], {"stress": x[1]}), **plain)
    with pytest.raises(RuntimeError, match="two of them"):
        phenes.front(lambda x: (1.0, 2.0, 3.0), **plain)
    with pytest.raises(ValueError, match="objectives must differ"):
        phenes.front(saddle, objectives=[risk.std(), risk.std()], **plain)
    with pytest.raises(ValueError, match="maximize must be True or False where f returns one"):
        phenes.front(saddle, maximize=(True, False), **plain)


@pytest.mark.tier("runs")
def test_a_second_value_that_is_sometimes_missing_is_a_failure():
    def sometimes(x):
        return twins(x) if x[0] < 0.8 else twins(x)[0]

    got = phenes.front(sometimes, [0.0, 0.0], 0.4, 0.1, budget=40, seed=0)
    assert got.failed
    assert any("and before 2 number(s)" in each for each in got.errors_of_f)


@pytest.mark.tier("runs")
def test_designs_that_nobody_could_tell_apart_are_one():
    """All but one end of this front is one place: draws are better spent on fewer designs."""

    def f(x):
        return (x[0] - 2) ** 2 + 0.5 * x[1] ** 2 * np.cos(x[0]) + np.sin(3 * x[1])

    box = [(0, 5), (-2, 2)]
    result = phenes.front(f, [2.5, 0.0], [1.2, 1.0], [0.2, 0.1], bounds=box, budget=60, seed=0)
    assert len(result) <= 4
    assert min(result.draws) >= 6
