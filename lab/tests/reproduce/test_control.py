"""Policies in networks: settings, and verdicts that go both ways."""

import math

import numpy as np
import pytest
from phenes_lab import report
from phenes_lab.reproduce.control import claims, ppo, results
from phenes_lab.reproduce.control.report import report as report_of
from phenes_lab.reproduce.control.settings import (
    METHODS,
    CartpoleSettings,
    ControlSettings,
    PendulumSettings,
    SwimmerSettings,
)
from phenes_lab.reproduce.held_out_environments import TASKS, HeldOutSettings, steps_to, to_target

from phenes.rl import rollouts, training


def made(first, value, length=10, popsize=20):
    """Runs with these first generations at the target."""
    y = np.linspace(0, 1, length)
    rows = zip(first, value, strict=True)
    return [results.One(y, np.arange(1, length + 1), y, y, y, popsize, v, f) for f, v in rows]


BY_POPULATION = CartpoleSettings(seeds=3, generations=100, ours=100)


def judged(settings: ControlSettings = BY_POPULATION, **runs):
    there = {name.replace("_", "-"): made(*numbers) for name, numbers in runs.items()}
    return {
        claim.claim: claim
        for claim in claims.claims(
            results.ControlResults(settings, "0", "done", [], "cartpole", there)
        )
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


@pytest.mark.parametrize(
    ("there", "verdict"),
    [(9, report.HOLDS), (8, report.PARTLY), (5, report.PARTLY), (4, report.FAILS)],
)
def test_the_default_gets_there_with_nine_seeds_of_ten(there, verdict):
    first = [10] * there + [math.inf] * (10 - there)
    (ours,) = judged(default=(first, [1] * 10)).values()
    assert ours.verdict == verdict


def test_the_default_gets_there_within_the_episodes_that_are_asked():
    """20 in a generation, 400 in all, by the median."""
    for middle, verdict in ((20, report.HOLDS), (21, report.PARTLY)):
        (ours,) = judged(default=([1, middle, 99], [1, 2, 3])).values()
        assert ours.verdict == verdict


def test_where_runs_stop_at_the_target_it_must_be_proved():
    settings = PendulumSettings(seeds=3)
    for proved, verdict in ((3, report.HOLDS), (2, report.PARTLY), (1, report.FAILS)):
        runs = made([10, 12, 14], [1, 2, 3])
        runs = [one._replace(proved=k < proved) for k, one in enumerate(runs)]
        there = results.ControlResults(settings, "0", "done", [], "pendulum", {"default": runs})
        (ours,) = claims.claims(there)
        assert ours.verdict == verdict
        assert f"3 of 3 seeds in at most 400 generations, {proved} proved on" in ours.measured


def test_fewer_generations_must_be_clear():
    """Medians of 50 and 49: by Welch's test only where the spread is small."""
    es = [40, 50, 60]
    for paes, verdict in (
        ([39, 49, 59], report.PARTLY),
        ([10, 11, 12], report.HOLDS),
        ([41, 51, 61], report.FAILS),
    ):
        (faster,) = judged(ES_paper=(es, [1, 2, 3]), PAES_paper=(paes, [1, 2, 3])).values()
        assert faster.verdict == verdict


def test_a_higher_return_at_the_end_must_be_clear():
    never = [math.inf] * 3
    for ends, verdict in (([2, 3, 4], report.FAILS), ([8, 9, 10], report.PARTLY)):
        (faster,) = judged(ES_paper=(never, [1, 2, 3]), PAES_paper=(never, ends)).values()
        assert faster.verdict == verdict


def test_fewer_episodes_are_fewer():
    for other, verdict in ((13, report.HOLDS), (12, report.FAILS)):
        _, beside = judged(ES=([other] * 3, [1, 2, 3]), default=([12, 12, 12], [1, 2, 3])).values()
        assert beside.verdict == verdict


def test_two_seeds_test_nothing():
    pairs = {"ES_paper": ([90, 95], [1, 2]), "PAES_paper": ([10, 12], [1, 2])}
    found = judged(**pairs, ES=([90, 95], [1, 2]), default=([10, 12], [1, 2]))
    assert {claim.verdict for claim in found.values()} == {report.UNTESTED}


def test_the_best_setting_of_a_rival_counts():
    best, worst = "evosax-20-0.1-0.03", "evosax-20-0.3-0.03"
    there = {
        worst: made([40, 50, 60], [1, 2, 3]),
        best: made([5, 6, 7], [1, 2, 3]),
        "default": made([10, 12, 14], [1, 2, 3]),
    }
    found = results.ControlResults(CartpoleSettings(seeds=3), "0", "done", [], "cartpole", there)
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


def test_the_last_tenth_is_of_the_policy_then_and_not_of_the_one_that_is_kept():
    """Looks every 5 of 40 generations; those after 36 count, else the last."""
    at, looks = np.arange(5, 41, 5), np.array([1.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0])
    one = results.One(np.zeros(40), at, looks, looks, looks, 8, 9.0, math.inf)
    assert one.lately == 3.0
    assert one._replace(at=at - 4, population=np.zeros(100)).lately == 3.0
    often = one._replace(at=np.arange(33, 41))  # 37 to 40
    assert often.lately == pytest.approx(4.5)
    never = [math.inf] * 3
    (faster,) = judged(ES_paper=(never, [1, 2, 3]), PAES_paper=(never, [8, 9, 10])).values()
    assert "in the last tenth of the generations: 1" in faster.measured


def test_a_run_that_loses_what_it_had_is_seen():
    settings = SwimmerSettings(target=0.5, seeds=3)
    _, kept = judged(settings, default=([6, 6, 6], [1, 2, 3])).values()
    assert kept.verdict == report.HOLDS
    # looks of 4/9 are no collapse, those of 3/9 are; so with one seed of two, and of three
    for low, verdict in (
        ([5, 5, 5], report.FAILS),
        ([5, 6, 6], report.PARTLY),
        ([6, 5, 5], report.FAILS),
    ):
        _, kept = judged(settings, default=(low, [1, 2, 3])).values()
        assert kept.verdict == verdict
    _, kept = judged(SwimmerSettings(target=0.49, seeds=3), default=([5, 5, 5], [1, 2, 3])).values()
    assert kept.verdict == report.HOLDS
    # looks of 0.1 and 0.2 after the first at the target
    _, kept = judged(settings, default=([2, 3, 6], [1, 2, 3])).values()
    assert kept.verdict == report.FAILS


def test_a_report_says_how_much_of_the_paper_was_run(tmp_path):
    """A length that is not the paper's, and one that is; nothing where the paper has none."""
    for settings, words in (
        (SwimmerSettings(generations=15), "at most 15 of the 5000 generations of the paper"),
        (PendulumSettings(generations=3000), "at most all 3000 generations of the paper"),
        (CartpoleSettings(), None),
    ):
        there = {"ES-paper": made([math.inf] * 3, [1, 2, 3])}
        found = results.ControlResults(settings, "0", "done", [], "made-up", there)
        text = report_of(found, tmp_path)[0].read_text()
        assert "generations of the paper" not in text if words is None else words in text
        assert ("ES-paper with 3 seeds." in text) == (words is not None)


def test_settings():
    assert SwimmerSettings().environment == "Swimmer-v5"
    assert PendulumSettings.quick().by_mean_policy
    spaces = rollouts.spaces("CartPole-v1")
    es, genotype, default = (METHODS[name].build(spaces) for name in ("ES", "genotype", "default"))
    assert isinstance(es, training.Settings)
    assert es.mirrored
    assert genotype.popsize == default.popsize
    assert PendulumSettings(methods=("ES", "default"), seeds=3, few=1).parts == (
        "ES/0",
        "default/0",
        "default/1",
        "default/2",
    )
    with pytest.raises(ValueError, match="methods must be of"):
        CartpoleSettings(methods=("CMA",))
    with pytest.raises(ValueError, match="one number for each of 1 environments"):
        HeldOutSettings(environments=("CartPole-v1",), episodes=(1, 2))
    several = HeldOutSettings(environments=("A-v1", "B-v1"), episodes=(1, 2), seeds=2)
    assert several.parts == tuple(
        f"{env}-v1/{method}/{k}" for k in (0, 1) for env in "AB" for method in ("ARS", "default")
    )


def test_episodes_and_steps_until_a_return():
    """Looks after 2, 4 and 6 generations of 8 episodes, which take ever more steps."""
    at, seen, steps = np.array([2, 4, 6]), np.array([1.0, 5.0, 3.0]), np.arange(1, 7)
    one = results.One(np.zeros(6), at, seen, seen, seen, 8, 3.0, 4.0, steps=steps)
    assert (to_target(one, 5.0), steps_to(one, 5.0)) == (32, 1 + 2 + 3 + 4)
    assert (to_target(one, 9.0), steps_to(one, 9.0)) == (math.inf, math.inf)


def test_a_run_that_proved_its_target_between_looks_has_reached_it():
    at, seen, steps = np.array([2, 4]), np.array([1.0, 3.0]), np.arange(1, 5)
    one = results.One(np.zeros(4), at, seen, seen, seen, 8, 5.0, 4.0, steps=steps)
    assert math.isinf(to_target(one, 5.0))
    proved = one._replace(proved=True)
    assert (to_target(proved, 5.0), steps_to(proved, 5.0)) == (32, 1 + 2 + 3 + 4)
    assert to_target(proved, 1.0) == 16  # an earlier look is earlier


class Counted:
    """Four steps of a reward of 1, as an environment and as a learner that normalises nothing."""

    num_timesteps = 400

    def reset(self, seed=None):
        self.left = 4
        return np.zeros(1), {}

    def step(self, action):
        self.left -= 1
        return np.zeros(1), 1.0, self.left == 0, False, {}

    def predict(self, obs, deterministic):
        assert deterministic
        return 0, None

    def get_vec_normalize_env(self):
        return None


def test_ppo_is_asked_for_the_targets_of_the_other_contenders():
    expected = {"Pendulum-v1": (PendulumSettings().target,)}
    expected |= {name: task.targets for name, task in TASKS.items()}
    assert all(zoo.targets == expected[name] for name, zoo in ppo.ZOO.items())


def test_ppo_looks_every_so_often_until_the_last_target(monkeypatch):
    gymnasium = pytest.importorskip("gymnasium")
    monkeypatch.setattr(gymnasium, "make", lambda name: Counted())
    heard = []
    for target in (4.0, 5.0):
        looks = []
        told = ppo.looking("Counted", ppo.Zoo((1.0, target), {}), 0, 60.0, looks)
        now = {"self": Counted(), "dones": np.ones(50, bool)}
        heard.append([told(now, None) for _ in range(3)])
        assert (looks[0].episodes, looks[0].steps, looks[0].value) == (100, 400, 4.0)
        assert len(looks) == 1
    assert heard == [[True, False, True], [True, True, True]]
    now["dones"] = np.zeros(50, bool)
    assert ppo.looking("Counted", ppo.Zoo((1.0,), {}), 0, 60.0, [])(now, None)
    now["self"].num_timesteps = ppo.STEPS
    assert not ppo.looking("Counted", ppo.Zoo((1.0,), {}), 0, 60.0, [])(now, None)
    assert not ppo.looking("Counted", ppo.Zoo((1.0,), {}), 0, -1.0, [])(now, None)
