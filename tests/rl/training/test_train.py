"""`train`: what it learns, and that every argument is honoured or refused."""

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import phenes
from phenes.rl import rollouts, tabular, training
from phenes.rl.trajectories import Genotype
from tests.rl.rollouts import worlds
from tests.rl.training.small import SHORT, as_optax_needs_it, same, short, table  # noqa: F401


@pytest.mark.tier("rl")
def test_cart_pole_is_learnt():
    """The default: a population mean of 475 within 600 episodes (ten seeds: see the report of the
    experiment).
    """
    out = training.train("CartPole-v1", seed=0, generations=30, target=None)
    assert out.curve.first(475) * 20 <= 600


@pytest.mark.tier("rl")
def test_the_same_seed_is_the_same_network_and_another_is_another():
    one = short(seed=3)
    same(one, short(seed=3))
    assert np.any(short(seed=4).theta != one.theta)


def test_the_same_seed_is_the_same_table_and_another_is_another():
    one = table(seed=3)
    same(one, table(seed=3))
    assert np.any(table(seed=4).probabilities != one.probabilities)


@pytest.mark.tier("rl")
def test_progress_counts_generations():
    calls = []
    count = lambda done, total, curve: calls.append((done, total, curve.generations))  # noqa: E731
    short(progress=count)
    assert calls == [(0, 10, 0), (5, 10, 5), (10, 10, 10)]
    calls.clear()
    table(progress=count, generations=30)
    assert calls == [(0, 30, 0), (25, 30, 25), (30, 30, 30)]


def test_one_rule_decides_between_table_and_network():
    assert training.learns_table("FrozenLake-v1")
    assert training.learns_table("FrozenLake-v1", None, target=0.7, workers=None, popsize=4)
    assert not training.learns_table("CartPole-v1")
    for given in ({"hidden": (4,)}, {"preset": "paper"}, {"rate": 0.1}, {"estimator": Genotype()}):
        assert not training.learns_table("FrozenLake-v1", **given)
    with pytest.raises(ValueError, match="cannot be made by gymnasium"):
        training.learns_table("NoSuchEnvironment-v0")
    assert table(generations=1).kind == "table"


@pytest.mark.tier("rl")
def test_an_argument_of_networks_makes_one_of_a_table():
    network = table(
        generations=1,
        popsize=4,
        hidden=(4,),
        estimator=Genotype(),
        options={"max_episode_steps": 8},
    )
    assert network.kind == "network"


class TestTables:
    """What `train` did not do before for environments with a table: it dropped these arguments."""

    def test_a_target_ends_the_run_once_the_exact_value_is_there(self):
        out = table(target=0.5, generations=200, popsize=100, options={"is_slippery": False})
        assert out.about["solved"]
        assert out.about["target"] == 0.5
        assert out.about["value"] == out.score.greedy >= 0.5
        assert out.curve.generations % 25 == 0
        assert out.curve.generations < 200

    def test_a_target_out_of_reach_is_said_to_be(self):
        out = table(target=2.0)
        assert not out.about["solved"]
        assert out.curve.generations == 10

    def test_the_threshold_of_the_environment_is_no_target_of_a_table(self):
        assert table().about["target"] is None

    def test_workers_change_nothing_and_what_is_none_is_refused(self):
        """As for networks whose environment is compiled."""
        same(table(), table(workers=4))
        for train in (table, short):
            for workers in (0, "many", -1.5):
                with pytest.raises(ValueError, match="workers must be None, a number of processes"):
                    train(workers=workers)

    def test_checkpoint_and_resume(self, tmp_path):
        begun = []
        for resume, generations in ((True, 25), (True, 50), (False, 25)):
            table(
                checkpoint=tmp_path / "c",
                resume=resume,
                generations=generations,
                progress=lambda done, *_: begun.append(done),
            )
        assert begun == [0, 25, 25, 50, 0, 25]

    def test_tabular_train_is_the_same(self):
        same(
            table(),
            tabular.train(
                "FrozenLake-v1", generations=10, popsize=20, options={"desc": ["SF", "FG"]}
            ),
        )
        with pytest.raises(ValueError, match="CartPole-v1 has no transition table"):
            tabular.train("CartPole-v1")


def test_a_target_of_a_network_ends_the_run():
    out = short(target=9.0, generations=20)
    assert out.about["solved"]
    assert out.about["value"] >= 9
    assert out.curve.generations == 5


def test_the_target_of_a_network_is_the_threshold_of_the_environment():
    own = training.train(
        "CartPole-v1", generations=5, popsize=6, hidden=(8,), options=SHORT, estimator=Genotype()
    )
    assert own.about["target"] == rollouts.spaces("CartPole-v1").threshold == 475


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"preset must be None, 'network', .*'ars-v1', got 'best'"):
        short(preset="best")
    with pytest.raises(ValueError, match="popsize must be even"):
        short(preset="paper-es", popsize=7)
    with pytest.raises(ValueError, match="hidden must be"):
        short(hidden=(8, 0))
    with pytest.raises(ValueError, match="sigma must be"):
        short(sigma=-1)
    for make in (short, table):
        with pytest.raises(ValueError, match="checkpoint must be the path"):
            make(checkpoint=5)
        with pytest.raises(ValueError, match="resume must be True or False"):
            make(resume="no")
        with pytest.raises(ValueError, match="target must be"):
            make(target=float("nan"))
        with pytest.raises(ValueError, match="target must be"):
            make(target="high")
        with pytest.raises(ValueError, match="seed must be"):
            make(seed=-1)
        with pytest.raises(ValueError, match="generations must be"):
            make(generations=0)
        with pytest.raises(ValueError, match="popsize must be"):
            make(popsize=1)


def test_numbers_of_any_kind_are_taken():
    whole, real = np.int64(5), np.float32(0.5)
    out = table(generations=whole, popsize=np.int32(20), seed=np.uint8(0), target=real)
    assert (out.curve.generations, out.about["target"]) == (5, 0.5)
    assert table(generations=5.0).curve.generations == 5


def test_gymnasium_and_matplotlib_are_not_imported_with_the_room():
    code = (
        "import sys, phenes.rl.training, phenes.rl.tabular;"
        " print('gymnasium' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["False", "False"]


def test_the_function_is_found_whatever_was_imported_first():
    """`phenes.rl.training.train` is the function, although a module has the same name."""
    import phenes.rl.training.train

    assert callable(phenes.rl.train)
    assert callable(training.train)
    assert phenes.rl.train is training.train


@pytest.mark.tier("rl")
def test_max_steps_is_the_limit_of_an_episode():
    trained = short(options=None, max_steps=7, generations=5)
    assert trained.options == {"max_episode_steps": 7}
    assert trained.spaces.limit == 7
    assert trained.evaluate(3).returns.max() <= 7
    with pytest.raises(ValueError, match="max_steps must be a whole number of at least 1, got 0"):
        short(max_steps=0)


def walk(**options):
    return worlds.Walk(**options)


@pytest.mark.tier("rl")
@pytest.mark.parametrize("given", ["instance", "function", "wrapped"])
def test_an_environment_of_your_own(given, tmp_path):
    """As it is, wrapped, or by a function: as its id does."""
    limited = lambda **options: gymnasium.wrappers.TimeLimit(walk(**options), 20)  # noqa: E731
    env = {
        "instance": limited(observation="tuple"),
        "function": lambda: limited(observation="tuple"),
        "wrapped": gymnasium.wrappers.TransformReward(
            gymnasium.make("tests/Walk-v0", observation="tuple"), lambda reward: 2 * reward
        ),
    }[given]
    settings = {"generations": 5, "popsize": 4, "hidden": (), "target": None}
    trained = phenes.rl.train(env, **settings)
    options = {"observation": "tuple"}
    by_id = phenes.rl.train("tests/Walk-v0", options=options, **settings)
    np.testing.assert_array_equal(trained.theta, by_id.theta)
    factor = 2 if given == "wrapped" else 1
    expected = by_id.evaluate(5).returns
    np.testing.assert_array_equal(trained.evaluate(5).returns, factor * expected)
    path = trained.save(tmp_path / "own")
    np.testing.assert_array_equal(
        phenes.rl.load(path, env=env).evaluate(5).returns, factor * expected
    )
    with pytest.raises(ValueError, match="workers must be None for "):
        trained.evaluate(5, workers=2)


@pytest.mark.parametrize(
    ("env", "options", "said"),
    [
        (7, {}, "a gymnasium.Env or a function that makes one, got 7"),
        (lambda: 3, {}, "the environment must be a gymnasium.Env, got 3"),
        (lambda: 1 / 0, {}, "the environment cannot be made by .*division by zero"),
        (worlds.Walk(), {"caught": 3}, "options are for an id or a function.*got caught"),
    ],
)
def test_what_is_no_environment(env, options, said):
    with pytest.raises(ValueError, match=said):
        phenes.rl.train(env, options=options)


@pytest.mark.tier("rl")
def test_a_table_of_your_own():
    env = gymnasium.make("FrozenLake-v1", desc=["SF", "FG"], is_slippery=False)
    trained = phenes.rl.train(env, generations=10, popsize=20)
    assert trained.kind == "table"
    assert trained.evaluate(3).mean == trained.score.greedy
    watched = gymnasium.wrappers.RecordEpisodeStatistics(env)
    assert training.learns_table(watched)
    same(trained, phenes.rl.train(watched, generations=10, popsize=20))


@pytest.mark.tier("rl")
def test_a_table_in_a_wrapper_is_not_what_its_table_says():
    """It was learnt without the wrapper: here every reward is the opposite."""
    lake = gymnasium.make("FrozenLake-v1", desc=["SF", "FG"], is_slippery=False)
    env = gymnasium.wrappers.TransformReward(lake, lambda reward: -reward)
    assert not training.learns_table(env)
    trained = phenes.rl.train(env, generations=2, popsize=4, hidden=(), target=None)
    assert trained.kind == "network"
    assert trained.curve.mean.max() <= 0
    with pytest.raises(ValueError, match="FrozenLake-v1 is in a wrapper of which its transition"):
        tabular.train(env)
