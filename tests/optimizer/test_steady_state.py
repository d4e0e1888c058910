"""Without generations: nobody waits for the slowest, nothing is lost, and a resumed run is the run
that was interrupted.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import phenes
from phenes.store import Store
from phenes.store.export import generations

X0 = np.full(3, 1.5)


def sphere(x):
    return float(np.sum(x**2))


def solve(f, **options):
    return phenes.minimize(f, X0, 0.5, 0.1, seed=3, asynchronous=True, **options)


def test_it_converges():
    with ThreadPoolExecutor(4) as threads:
        result = solve(sphere, budget=2000, workers=threads)
    assert result.nfev <= 2000
    assert np.linalg.norm(result.x) < 0.05
    assert result.fun == pytest.approx(0.03, abs=0.01)


def test_a_slow_evaluation_holds_nobody_back():
    done, release, calls = [], threading.Event(), []

    def f(x):
        calls.append(1)
        if len(calls) == 1:
            release.wait(60)
        return sphere(x)

    def callback(result):
        done.append(result.nit)
        if len(done) == 5:
            release.set()

    with ThreadPoolExecutor(2) as threads:
        result = solve(f, budget=100, workers=threads, callback=callback)
    assert result.nfev == 100
    assert len(done) >= 5, "five updates were made while the first evaluation was still under way"


def test_a_resumed_run_is_the_same_run(tmp_path):
    """Here, one after the other, the order is fixed and so is the run."""
    calls = []

    def f(x):
        calls.append(1)
        return sphere(x)

    def enough(result):
        return len(calls) > 70

    straight = solve(sphere, budget=200)
    first = solve(f, budget=200, checkpoint=tmp_path / "run.db", callback=enough)
    assert first.nfev < 200
    result = solve(f, budget=200, checkpoint=tmp_path / "run.db")
    np.testing.assert_array_equal(result.x, straight.x)
    assert len(calls) == 200, "nothing is evaluated twice"


def test_a_run_that_failed_in_the_middle_of_a_part_goes_on(tmp_path):
    calls = []

    def f(x):
        calls.append(1)
        if len(calls) == 66:
            raise KeyboardInterrupt
        return sphere(x)

    with pytest.raises(KeyboardInterrupt):
        solve(f, budget=200, checkpoint=tmp_path / "run.db")
    result = solve(f, budget=200, checkpoint=tmp_path / "run.db")
    np.testing.assert_array_equal(result.x, solve(sphere, budget=200).x)
    assert len(calls) == 201


def test_with_workers_the_record_has_each_evaluation_once_and_tells_the_same_story(tmp_path):
    with ThreadPoolExecutor(3) as threads:
        result = solve(sphere, budget=150, workers=threads, checkpoint=tmp_path / "run.db")
    with Store(tmp_path / "run.db", create=False) as store:
        run = store.last("minimize")
        index = np.concatenate([part["index"] for _, part in generations(run)])
        assert all(key == "now" or key.isdigit() for key in run)
    assert sorted(index) == list(range(150))

    def never(x):
        raise AssertionError("all of it is on file")

    again = solve(never, budget=150, checkpoint=tmp_path / "run.db", resume="anyway")
    np.testing.assert_array_equal(again.x, result.x)


def test_experiments_that_were_under_way_are_not_made_again(tmp_path):
    """A program that dies with an experiment in hand: the next one takes it for failed."""
    made = []

    def lab(theta):
        made.append(tuple(theta))
        if len(made) == 31:
            raise KeyboardInterrupt  # stands for the end of the program
        return theta, sphere(theta)

    for asynchronous in (False, True):
        made.clear()
        options = {
            "seed": 3,
            "budget": 90,
            "realises": True,
            "max_attempts": 1,
            "asynchronous": asynchronous,
        }
        path = tmp_path / f"{asynchronous}.db"
        with pytest.raises(KeyboardInterrupt):
            phenes.minimize(lab, X0, 0.5, checkpoint=path, **options)
        result = phenes.minimize(lab, X0, 0.5, checkpoint=path, **options)
        assert (result.nfev, result.failed) == (90, 1)
        assert len(made) == 90
        # the one in hand; x0 and the answer are evaluated more than once, on purpose
        assert made.count(made[30]) == 1
        assert len(made) - len(set(made)) <= 4
        assert "the process that waited" in result.errors[0]


def test_misuse():
    with pytest.raises(ValueError, match="asynchronous and vectorized exclude each other"):
        solve(sphere, vectorized=True)
