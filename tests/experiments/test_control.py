"""The reproduction of the experiments with networks: from settings to a report, and verdicts that go both ways."""

import json
import math

import numpy as np
import pytest

from phenes import workers
from phenes.experiments import cartpole, control, pendulum, report, swimmer
from phenes.experiments.control import claims, results
from phenes.experiments.control.settings import METHODS
from phenes.rl import rollouts
from phenes.store import Store

TINY = cartpole.Settings(methods=("ES-paper", "PAES-paper", "default"), seeds=2, generations=5, ours=5)


def here(compute, tasks, n):
    """In this process, in single precision and back."""
    import jax

    for task in tasks:
        try:
            with jax.numpy_dtype_promotion("standard"):  # inside optax.adam a count meets a rate
                done = workers.Done(task, compute(task), None, 1.0)
        finally:
            jax.config.update("jax_enable_x64", True)
        yield done


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    out = tmp_path_factory.mktemp("cartpole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "each", here)
        return cartpole.run(TINY, out)


def test_every_run_is_in_the_store_and_the_report(tiny):
    with Store(tiny, create=False) as store:
        loaded, summary = results.load(store), cartpole.summary(store)
    assert {name: len(runs) for name, runs in loaded.runs.items()} == dict.fromkeys(TINY.methods, 2)
    assert all(one.population.shape == (5,) for runs in loaded.runs.values() for one in runs)
    assert len(json.dumps(summary, allow_nan=False)) < 20_000
    text = (tiny.parent / "report.md").read_text()
    for name in ("cartpole-learning.png", "cartpole-signal.png"):
        assert f"({name})" in text
        assert (tiny.parent / name).exists()


def made(first, value, length=10, popsize=20):
    """Runs with these first generations at the target."""
    y = np.linspace(0, 1, length)
    rows = zip(first, value, strict=True)
    return [results.One(y, np.arange(1, length + 1), y, y, y, popsize, v, f) for f, v in rows]


def judged(**runs):
    settings = cartpole.Settings(seeds=3, generations=100, ours=100)
    there = {name.replace("_", "-"): made(*numbers) for name, numbers in runs.items()}
    return {claim.claim: claim for claim in claims.claims(results.Results(settings, "0", "done", there, []))}


def test_verdicts():
    never = [math.inf] * 3
    (faster,) = judged(ES_paper=([90, 95, 92], [1, 2, 3]), PAES_paper=([10, 12, 11], [1, 2, 3])).values()
    assert faster.verdict == report.HOLDS
    (faster,) = judged(ES_paper=(never, [1, 1.1, 1.2]), PAES_paper=(never, [5, 5.1, 5.2])).values()
    assert faster.verdict == report.PARTLY
    (faster,) = judged(ES_paper=([10, 11, 12], [1, 2, 3]), PAES_paper=(never, [1, 2, 3])).values()
    assert faster.verdict == report.FAILS
    ours, beside = judged(ES=(never, [1, 2, 3]), default=([10, 12, math.inf], [1, 2, 3])).values()
    assert (ours.verdict, beside.verdict) == (report.PARTLY, report.HOLDS)


def test_settings():
    assert swimmer.Settings().environment == "Swimmer-v5"
    assert pendulum.Settings.quick().by_mean_policy
    assert control.Settings.from_stored(json.loads(json.dumps(vars(TINY)))).parts == TINY.parts
    spaces = rollouts.spaces("CartPole-v1")
    assert METHODS["ES"].build(spaces).mirrored
    assert METHODS["genotype"].build(spaces).popsize == METHODS["default"].build(spaces).popsize
    with pytest.raises(ValueError, match="methods must be of"):
        cartpole.Settings(methods=("CMA",))
    with pytest.raises(ValueError, match="not those of this version"):
        control.Settings.from_stored({"a": 1})
