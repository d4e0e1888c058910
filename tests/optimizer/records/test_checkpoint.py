"""The checkpoint by itself: parts, what was sent, and which settings must be the same."""

import json

import jax
import numpy as np
import pytest
from scipy.optimize import Bounds

import phenes
from phenes import inputs, store
from phenes.optimizer.records.checkpoint import Checkpoint, Part, settings
from phenes.optimizer.records.evaluations import Row


def rows(*numbers):
    return [Row(k, np.zeros(2), np.ones(2), float(k)) for k in numbers]


def opened(path, **options):
    given = {"x0": [0.0, 0.0], "noise": "0.1"}
    return Checkpoint(path, given, 100, **options)


@pytest.fixture
def opt():
    opt = phenes.Optimizer(np.zeros(2), 1.0, 0.1, budget=100)
    theta = opt.ask()
    opt.tell(theta, np.sum(theta**2, axis=1), realised=theta)
    return opt


def test_complete_parts_come_back_with_their_budget_and_the_rest_as_it_came(tmp_path, opt):
    path = tmp_path / "run.db"
    with opened(path) as kept:
        kept.arrived(rows(0, 1), 1)
        kept.arrived(rows(2), 0)
        kept.complete(opt)
        kept.arrived(rows(0), 3)
    with opened(path) as kept:
        ((first, budget),) = kept.replay()
        assert [row.index for row in first] == [0, 1, 2]
        assert budget == 100
        assert [row.index for row in kept.part.rows] == [0]
        assert (kept.part.number, kept.part.budget, kept.done) == (1, 100, 4)
        kept.arrived(rows(1), 0)
        kept.complete(opt)
    with opened(path) as kept:
        assert [[row.index for row in part] for part, _ in kept.replay()] == [[0, 1, 2], [0, 1]]
        assert kept.part == Part(2)
    with store.Store(path) as record:
        assert list(record.last("minimize")) == ["00000000", "00000001", "now"]


def test_what_must_not_be_made_twice_is_noted_before_it_goes(tmp_path):
    path = tmp_path / "run.db"
    with opened(path, once=True) as kept:
        kept.sending(0)
        kept.sending(1)
        kept.arrived(rows(0), 1)
    with opened(path, once=True) as kept:
        assert list(kept.replay()) == []
        assert kept.part.sent == [0, 1]
        assert [row.index for row in kept.part.rows] == [0]


def test_what_is_still_under_way_is_kept_for_the_next_part(tmp_path, opt):
    path = tmp_path / "run.db"
    with opened(path, once=True) as kept:
        for number in range(3):
            kept.sending(number)
        kept.arrived(rows(0, 2), 1)
        kept.complete(opt, 1)
        assert kept.part.sent == [1]
    with opened(path, once=True) as kept:
        assert len(list(kept.replay())) == 1
        assert kept.part.sent == [1]


def test_cheap_evaluations_are_not_written_one_by_one(tmp_path):
    with opened(tmp_path / "run.db", prompt=False) as kept:
        kept.written = np.inf
        kept.arrived(rows(0), 0)
        assert kept.part.stored == 0
        kept.written = -np.inf
        kept.arrived(rows(1), 0)
        assert kept.part.stored == 2


def test_a_run_that_raises_keeps_its_rows_and_has_failed(tmp_path):
    path = tmp_path / "run.db"

    def breaks():
        with opened(path, prompt=False) as kept:
            kept.written = np.inf
            kept.arrived(rows(0), 0)
            raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        breaks()
    with store.Store(path) as record:
        assert record.last("minimize").status == "failed"
        assert "00000000/000000" in record.last("minimize")


def test_no_path_keeps_nothing(opt):
    with opened(None, once=True) as kept:
        kept.sending(0)
        kept.arrived(rows(0), 0)
        kept.complete(opt)
        kept.finish()
        assert list(kept.replay()) == []
        assert kept.part.number == 1


def of(noise=0.1, f=np.sum, x0=(0, 0), sigma0=1.0, bounds=None, popsize=None, seed=0):
    named = {"popsize": popsize, "verify": None, "seed": seed, "maximize": False}
    flags = {"realises": False, "vectorized": False}
    found = settings(f, x0, sigma0, noise, bounds, **named, **flags)
    assert json.loads(json.dumps(found, allow_nan=False)) == found, "as JSON returns them"
    return found


class OwnLaw:
    """A user's law, printed by its address in memory."""

    def __init__(self, scale):
        self.scale = scale

    def sample(self, key, theta):
        return theta + self.scale * jax.random.normal(key, theta.shape)


SAME = {
    "number": (0.1, np.float64(0.1)),
    "number and vector": (0.1, [0.1, np.float64(0.1)]),
    "none and zero": (None, 0),
    "none and zeros": (None, np.zeros(2)),
    "matrix": ([[1, 0], [0, 1]], np.eye(2)),
    "long": (np.eye(20), np.eye(20).copy()),
    "law": (inputs.GaussianNoise(0.1), inputs.GaussianNoise(np.float64(0.1))),
    "own law": (OwnLaw(0.1), OwnLaw(np.float64(0.1))),
    "law of functions": tuple(
        inputs.HeteroscedasticNoise(lambda theta: 0.1 + theta**2) for _ in range(2)
    ),
}


@pytest.mark.parametrize(("a", "b"), SAME.values(), ids=SAME)
def test_equal_noises_are_the_same_run(a, b):
    assert of(a, x0=np.zeros(20 if np.size(a) == 400 else 2)) == of(
        b, x0=np.zeros(20 if np.size(a) == 400 else 2)
    )


OTHER = {
    "number": (0.1, 0.1 + 1e-9),
    "vector": ([0.1, 0.2], [0.2, 0.1]),
    "standard deviations and covariance": (0.1, 0.01 * np.eye(2)),
    "long": (np.eye(20), np.eye(20) + 1e-9 * np.eye(20)),
    "law": (inputs.GaussianNoise(0.1), inputs.GaussianNoise(0.2)),
    "kind of law": (inputs.LaplaceNoise(0.1), inputs.UniformNoise(0.1)),
    "own law": (OwnLaw(0.1), OwnLaw(0.2)),
    "law of functions": (
        inputs.HeteroscedasticNoise(lambda theta: 0.1 + theta**2),
        inputs.HeteroscedasticNoise(lambda theta: 0.2 + theta**2),
    ),
}


@pytest.mark.parametrize(("a", "b"), OTHER.values(), ids=OTHER)
def test_other_noises_are_told_apart(a, b):
    x0 = np.zeros(20 if np.size(a) == 400 else 2)
    assert of(a, x0=x0) != of(b, x0=x0)
    assert len(json.dumps(of(b, x0=x0)["noise"])) < 100


def test_other_arguments_are_compared_by_meaning_too():
    assert of(popsize=np.int64(5), seed=np.int64(3)) == of(popsize=5, seed=3)
    assert of(sigma0=1) == of(sigma0=np.ones(2)) != of(sigma0=[1, 2])
    assert of(x0=(0, 0)) == of(x0=np.zeros(2))
    same = [
        (-5, 5),
        (-5.0, 5.0),
        (np.full(2, -5), np.full(2, 5)),
        [(-5, 5)] * 2,
        Bounds([-5, -5], [5, 5]),
    ]
    assert all(of(bounds=bounds) == of(bounds=same[0]) for bounds in same)
    assert of(bounds=(-5, 4)) != of(bounds=same[0]) != of(bounds=[(-5, None)] * 2)
    assert of(bounds=None) == of(bounds=(-np.inf, np.inf))


def solve(f, path, **changes):
    given = {"x0": np.full(2, 1.5), "sigma0": 0.5, "noise": 0.1, "budget": 30, "seed": 4}
    return phenes.minimize(f, checkpoint=path, **(given | changes))


def bowl(x):
    return float(np.sum(x**2))


def far_bowl(x):
    return float(np.sum((x - 3) ** 2))


def test_another_f_is_refused_and_the_sentence_says_how_to_go_on(tmp_path):
    path = tmp_path / "run.db"
    first = solve(bowl, path)
    with pytest.raises(ValueError, match=r"f was .*\.bowl .* and is now .*\.far_bowl") as caught:
        solve(far_bowl, path, budget=60)
    assert str(caught.value).endswith(
        "; resume='anyway' goes on with it all the same, resume=False begins a new run"
    )
    assert solve(bowl, path).fun == first.fun, "the refusal has changed nothing"
    mixed = solve(far_bowl, path, budget=60, resume="anyway")
    assert (mixed.nfev, mixed.best.fun <= first.best.fun) == (60, True)
    assert solve(far_bowl, path, budget=60).fun == mixed.fun, "it is the run of far_bowl now"
    anew = solve(bowl, path, resume=False)
    assert anew.fun == first.fun
    with store.Store(path) as record:
        assert [about.id for about in record.runs()] == [1, 2]


def test_what_f_takes_and_returns_is_part_of_it(tmp_path):
    path = tmp_path / "run.db"

    def lab(x):
        return x, bowl(x)

    solve(lab, path, realises=True)
    with pytest.raises(ValueError, match="realises was True and is now False; resume='anyway'"):
        solve(lab, path)
    with pytest.raises(ValueError, match="vectorized was False and is now True"):
        solve(lab, path, realises=True, vectorized=True)


def test_anyway_is_for_another_f_alone(tmp_path):
    path = tmp_path / "run.db"
    solve(bowl, path)
    with pytest.raises(ValueError, match=r"noise was 0\.1 and is now 0\.2; resume=False begins"):
        solve(far_bowl, path, noise=0.2, resume="anyway")


@pytest.mark.parametrize("verify", [0, None])
def test_a_budget_that_is_used_is_said_to_be_used(tmp_path, verify):
    path = tmp_path / "run.db"
    options = {"verify": verify, "popsize": 4}
    stopped = solve(bowl, path, budget=60, callback=lambda r: r.nfev >= 44, **options)
    assert stopped.nfev == 44
    assert "budget" not in stopped.message
    short = solve(far_bowl, path, budget=38, resume="anyway", **options)
    assert (short.nfev, short.x.tolist()) == (44, stopped.x.tolist())
    assert short.message.startswith("the budget is used, 44 evaluations")
