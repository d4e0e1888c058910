"""The reproduction of the experiments with networks: from settings to a report, and verdicts that
go both ways.
"""

import json
import math

import numpy as np
import pytest
from phenes_lab import _pinned_pool, report
from phenes_lab.cli.reproduce import read_setting
from phenes_lab.reproduce import cartpole, control, pendulum, swimmer, untuned
from phenes_lab.reproduce.control import claims, results
from phenes_lab.reproduce.control.settings import METHODS

from phenes import cli
from phenes.rl import rollouts, training
from phenes.store import Store

RIVAL = "evosax-20-0.1-0.03"
TINY = cartpole.Settings(
    methods=("ES-paper", "PAES-paper", "default", RIVAL), seeds=2, generations=5, ours=5
)


def here(compute, tasks, n):
    """In this process, in single precision and back."""
    import jax

    for task in tasks:
        try:
            with jax.numpy_dtype_promotion("standard"):  # inside optax.adam a count meets a rate
                done = _pinned_pool.Done(task, compute(task), None, 1.0)
        finally:
            jax.config.update("jax_enable_x64", True)
        yield done


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    out = tmp_path_factory.mktemp("cartpole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pinned_pool, "each", here)
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


def test_defaults_beside_es_with_the_same_number_of_episodes(tmp_path, monkeypatch):
    monkeypatch.setattr(_pinned_pool, "each", here)
    settings = untuned.Settings(environments=("CartPole-v1",), episodes=(100,), seeds=1)
    path = untuned.run(settings, tmp_path)
    with Store(path, create=False) as store:
        summary = untuned.summary(store)
    numbers = summary["environments"]["CartPole-v1"]
    assert {name: n["generations"][0] * n["popsize"] for name, n in numbers.items()} == {
        "ES": 100,
        "default": 100,
    }
    (claim,) = summary["claims"]
    assert claim["verdict"] in (report.PARTLY, report.FAILS)  # one seed proves nothing
    assert "(untuned-learning.png)" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "untuned-learning.png").exists()
    with pytest.raises(ValueError, match="one number for each of 1 environments"):
        untuned.Settings(environments=("CartPole-v1",), episodes=(1, 2))
    assert untuned.Settings.from_stored(json.loads(json.dumps(vars(settings)))) == settings
    several = untuned.Settings(environments=("A-v1", "B-v1"), episodes=(1, 2), seeds=2)
    assert several.parts == tuple(
        f"{env}-v1/{method}/{k}" for k in (0, 1) for env in "AB" for method in ("ES", "default")
    )


def made(first, value, length=10, popsize=20):
    """Runs with these first generations at the target."""
    y = np.linspace(0, 1, length)
    rows = zip(first, value, strict=True)
    return [results.One(y, np.arange(1, length + 1), y, y, y, popsize, v, f) for f, v in rows]


BY_POPULATION = cartpole.Settings(seeds=3, generations=100, ours=100)


def judged(settings: control.Settings = BY_POPULATION, **runs):
    there = {name.replace("_", "-"): made(*numbers) for name, numbers in runs.items()}
    return {
        claim.claim: claim
        for claim in claims.claims(results.Results(settings, "0", "done", there, []))
    }


def test_verdicts():
    never = [math.inf] * 3
    (faster,) = judged(
        ES_paper=([90, 95, 92], [1, 2, 3]), PAES_paper=([10, 12, 11], [1, 2, 3])
    ).values()
    assert faster.verdict == report.HOLDS
    (faster,) = judged(ES_paper=(never, [1, 1.1, 1.2]), PAES_paper=(never, [5, 5.1, 5.2])).values()
    assert faster.verdict == report.PARTLY
    (faster,) = judged(ES_paper=([10, 11, 12], [1, 2, 3]), PAES_paper=(never, [1, 2, 3])).values()
    assert faster.verdict == report.FAILS
    ours, beside = judged(ES=(never, [1, 2, 3]), default=([10, 12, math.inf], [1, 2, 3])).values()
    assert (ours.verdict, beside.verdict) == (report.PARTLY, report.HOLDS)
    ours, _ = judged(ES=(never, [1, 2, 3]), default=([10, 12, 14], [1, 2, 3])).values()
    assert ours.verdict == report.HOLDS
    # 640 episodes, and 400 are asked
    ours, _ = judged(ES=(never, [1, 2, 3]), default=([30, 32, 34], [1, 2, 3])).values()
    assert ours.verdict == report.PARTLY


def test_the_best_setting_of_a_rival_counts():
    best, worst = "evosax-20-0.1-0.03", "evosax-20-0.3-0.03"
    there = {
        worst: made([40, 50, 60], [1, 2, 3]),
        best: made([5, 6, 7], [1, 2, 3]),
        "default": made([10, 12, 14], [1, 2, 3]),
    }
    found = results.Results(cartpole.Settings(seeds=3), "0", "done", there, [])
    assert found.best_rival() == best
    assert list(found.shown()) == [best, "default"]
    _, beside = claims.claims(found)
    assert beside.verdict == report.FAILS


def test_time_is_counted_without_compilation():
    seconds = np.concatenate(
        [9 + 0.1 * np.arange(1, 6), 12 + 0.1 * np.arange(1, 6), 12.5 + 0.2 * np.arange(1, 11)]
    )
    clean = results.without_compilation(seconds, np.array([5, 10, 15, 20]))
    np.testing.assert_allclose(clean, 0.2 * np.arange(1, 21))


def test_a_run_that_loses_what_it_had_is_seen():
    settings = swimmer.Settings(target=0.5, seeds=3)
    _, kept = judged(settings, default=([6, 6, 6], [1, 2, 3])).values()
    assert kept.verdict == report.HOLDS
    # looks of 0.1 and 0.2 after the first at the target
    _, kept = judged(settings, default=([2, 3, 6], [1, 2, 3])).values()
    assert kept.verdict == report.FAILS


def test_settings():
    assert swimmer.Settings().environment == "Swimmer-v5"
    assert pendulum.Settings.quick().by_mean_policy
    assert control.Settings.from_stored(json.loads(json.dumps(vars(TINY)))).parts == TINY.parts
    spaces = rollouts.spaces("CartPole-v1")
    es, genotype, default = (METHODS[name].build(spaces) for name in ("ES", "genotype", "default"))
    assert isinstance(es, training.Settings)
    assert es.mirrored
    assert genotype.popsize == default.popsize
    assert pendulum.Settings(methods=("ES", "default"), seeds=3, few=1).parts == (
        "ES/0",
        "default/0",
        "default/1",
        "default/2",
    )
    with pytest.raises(ValueError, match="methods must be of"):
        cartpole.Settings(methods=("CMA",))
    with pytest.raises(ValueError, match="not those of this version"):
        control.Settings.from_stored({"a": 1})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("nonsense=1", "has no setting 'nonsense', only environment"),
        ("ours", "NAME=VALUE"),
        ("ours=-1", "ours must be"),
        ("methods=ES,nobody", "got ES, nobody"),
    ],
)
def test_settings_from_the_command_line_that_are_wrong(capsys, tmp_path, change, says):
    with pytest.raises(SystemExit) as end:
        cli.main(["reproduce", "cartpole", "--set", change, "--out", str(tmp_path)])
    assert end.value.code
    assert says in " ".join(capsys.readouterr().err.split())


def test_settings_of_the_command_line():
    read = {
        text: read_setting(text, kind)
        for text, kind in (("40", int), ("1", tuple[int, ...]), ("ES, default", tuple[str, ...]))
    }
    assert read == {"40": 40, "1": [1], "ES, default": ["ES", "default"]}
    assert read_setting("0.1,2", tuple[float, ...]) == [0.1, 2]
    assert read_setting('["ES"]', tuple[str, ...]) == ["ES"]
    assert read_setting("CartPole-v1", str) == "CartPole-v1"
