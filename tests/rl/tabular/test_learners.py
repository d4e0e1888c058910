"""Learning itself: the default on all environments, the other moves, and what is left behind."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from phenes_lab.bench import steps

import phenes
from phenes import estimators
from phenes.rl import tabular
from phenes.rl.tabular import command, moves, picture, show
from phenes.rl.tabular.evaluate import values_of
from phenes.rl.tabular.training import Trained, environment_of, train
from phenes.search import Dirichlet
from tests.laws.statistics import often, once
from tests.optimised import measured
from tests.rl.tabular import mdp


def learn(table, learner, seeds, generations):
    """Exact values of the greedy policy, [seeds, generations]."""
    # not the seeds with which the default was chosen
    keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(2026), i))(jnp.arange(seeds))
    report = lambda state, batch: tabular.best_action(learner.policy(state.q))  # noqa: E731

    def one(key):
        return phenes.run(
            key, learner.problem, learner.strategy, learner.start(key), generations, report=report
        )[1][1]

    policies = np.asarray(often(jax.vmap(one))(keys))
    return values_of(table, policies.reshape(-1, table.states), table.limit).reshape(
        seeds, generations
    )


def test_default_learns_frozen_lake_with_every_seed_and_keeps_it():
    """0.7 in at most 50 generations by the median, 10 of 10 seeds, and never again below it in the
    second half of 500.
    """
    table = tabular.load("FrozenLake-v1").table
    values = learn(table, tabular.default(table), 10, 500)
    first = 1 + np.argmax(values >= 0.7, axis=1)
    assert np.all(values.max(axis=1) >= 0.7)
    assert np.median(first) <= 50
    assert values[:, 250:].min() >= 0.7


@pytest.fixture(scope="module")
def trained():
    """On ice that is not slippery; one chunk length, so one compilation."""
    calls = []
    result = train(
        "FrozenLake-v1",
        generations=50,
        seed=1,
        options={"is_slippery": False},
        progress=lambda *now: calls.append(now),
    )
    assert calls == [(0, 50), (25, 50), (50, 50)]
    return result


def test_training_leaves_curve_policy_map_and_picture(trained, tmp_path):
    assert trained.score.greedy == 1.0
    assert (trained.curve.shape, trained.population.shape) == ((50,), (50,))
    assert trained.curve[-1] == trained.score.greedy
    assert trained.episodes == 5000
    environment = environment_of(trained)
    text = show.arrows(environment, np.argmax(trained.probabilities, axis=1))
    assert [len(line) for line in text.splitlines()] == [7] * 4
    assert walk(text) == "G"
    assert "worth 1 within 100 steps" in show.summary(trained)
    assert json.loads(json.dumps(show.as_json(trained, environment)))["greedy"] == 1.0
    assert picture.save(trained, environment, tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    again = Trained.load(trained.save(tmp_path / "policy.phenes"))
    assert again.score == trained.score
    assert [again.predict(s) for s in range(16)] == [trained.predict(s) for s in range(16)]


def test_chunks_are_one_run(trained):
    """The same as the library's loop in one piece, from the same seed."""
    table = tabular.load("FrozenLake-v1", is_slippery=False).table
    learner = tabular.default(table)
    run = once(
        lambda key: (
            phenes.run(key, learner.problem, learner.strategy, learner.start(key), 50)[0].q.mean
        )
    )
    np.testing.assert_allclose(trained.probabilities, run(jax.random.key(1)), atol=1e-9)


def test_command(tmp_path):
    text, result = command.run(
        "FrozenLake-v1",
        tmp_path,
        ['desc=["SF","FG"]'],
        lambda done, total: None,
        generations=10,
        popsize=20,
    )
    assert text.splitlines()[1].endswith("G")
    assert Path(result["picture"]).exists()
    assert Trained.load(result["file"]).options == {"desc": ["SF", "FG"]}
    assert json.loads(json.dumps(result, allow_nan=False))["generations"] == 10


def walk(text):
    """Follow the arrows of a map without slipping."""
    rows = [line.split() for line in text.splitlines()]
    i = j = 0
    for _ in range(20):
        sign = rows[i][j]
        if sign in "GH":
            return sign
        i, j = i + {"↑": -1, "↓": 1}.get(sign, 0), j + {"←": -1, "→": 1}.get(sign, 0)
    return "lost"


def test_taxi_and_cliff_walking_learn_with_the_same_default():
    """Not to the end, for the time it takes: the whole length is measured by hand (see the report
    of the experiment).
    """
    taxi = train("Taxi-v4", generations=75)
    assert taxi.score.start < -700
    assert taxi.score.greedy > -200
    cliff = train("CliffWalkingSlippery-v1", generations=75)
    assert (cliff.score.limit, cliff.score.own) == (480, False)
    assert cliff.score.start < -4000
    assert cliff.score.greedy > -150


class TestMoves:
    def step(self, move, updates):
        q = Dirichlet(jnp.asarray([[0.5, 1.5], [1.0, 1.0]]))
        return move.move(q, phenes.search.gaussian.replace(q, log_alpha=jnp.asarray(updates)))

    def test_concentration_is_kept_and_no_action_dies(self):
        q, held = self.step(moves.kept(2.0, 1.0, 0.05), [[0.1, -0.1], [9.0, -9.0]])
        np.testing.assert_allclose(q.alpha.sum(axis=1), 2.0)
        ratio = float(q.alpha[0, 0] / q.alpha[0, 1])
        assert ratio == pytest.approx(np.exp(0.2) / 3)
        assert int(held) == 2
        for _ in range(20):
            q, _ = moves.kept(2.0, 1.0, 0.05).move(
                q, phenes.search.gaussian.replace(q, log_alpha=jnp.asarray([[9.0, -9.0]] * 2))
            )
        assert float(q.mean.min()) == pytest.approx(0.05 / 1.05, rel=0.05)

    def test_rate_counts_in_units_of_one_plus_total(self):
        assert moves.kept(4.0, 1.2).rate == pytest.approx(6.0)

    def test_sgd_on_alpha_has_a_floor(self):
        q, held = self.step(moves.on_alpha(0.1, 1e-2), [[-0.6, 0.2], [0.1, 0.0]])
        np.testing.assert_allclose(q.alpha, [[0.01, 1.7], [1.1, 1.0]])
        assert int(held) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda t: tabular.dirichlet(t, 20, 1.0, moves.free(1.0)),
        lambda t: tabular.dirichlet(
            t, 20, 1.0, moves.kept(1.0, 1.0), estimators.genotype, drawn=True
        ),
        lambda t: tabular.gaussian(t, 20, 0.3, 0.1, policy=tabular.greedy, mirrored=True),
        lambda t: tabular.gaussian(t, 20, 0.3, 0.1, estimators.information_mix(order=1)),
    ],
    ids=["S free", "genotype", "ES", "mix"],
)
def test_every_learner_climbs_on_the_small_problem(make):
    """From any start the exact value of the mean policy ends above that of the uniform one."""
    learner = make(mdp.TABLE)
    values = learn(mdp.TABLE, learner, 3, 150)
    assert values[:, -1].mean() > float(tabular.value(mdp.TABLE, np.full((3, 2), 0.5)))


def test_compiled_steps_are_many_times_as_fast_as_gymnasium():
    """In one run, the fastest of several of both. `phenes bench steps` shows over 50 on a calm
    machine; here others may be at work.
    """
    settings = steps.Settings(
        environments=("FrozenLake-v1",), popsizes=(1000,), loop=4000, repeats=5
    )
    code = "import json\nfrom phenes_lab.bench import steps\nfrom phenes_lab.bench.steps import Settings\n"
    data = measured(code + f"print(json.dumps(steps.as_json(steps.run({settings!r}))['rows']))")
    rows = [steps.Row(**row) for row in data]
    assert rows[0].ratio >= 15, rows
    assert steps.as_json(rows)["rows"][0]["environment"] == "FrozenLake-v1"
    assert steps.table(rows).row_count == 1


def test_options_of_the_environment():
    given = ["map_name=8x8", "is_slippery=false", 'desc=["SF","HG"]', "success_rate=0.5"]
    assert show.parse_options(given) == {
        "map_name": "8x8",
        "is_slippery": False,
        "desc": ["SF", "HG"],
        "success_rate": 0.5,
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
        show.parse_options(["slippery"])


def test_policies_without_a_map_are_listed():
    environment = tabular.Environment(mdp.TABLE, ("a", "b"), ())
    assert show.arrows(environment, np.array([0, 1, 1])) == "0:a  1:b  2:b"


def test_files_that_are_not_policies(tmp_path):
    (tmp_path / "text").write_text("nothing")
    np.savez(tmp_path / "other.npz", x=np.zeros(2))
    for name in ("text", "other.npz"):
        with pytest.raises(ValueError, match="is not a policy"):
            Trained.load(tmp_path / name)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="generations must be"):
        train("FrozenLake-v1", generations=0)
    with pytest.raises(ValueError, match="popsize must be"):
        train("FrozenLake-v1", popsize=1)


def test_gymnasium_is_imported_when_an_environment_is_made():
    code = (
        "import sys, phenes.rl.tabular; print('gymnasium' in sys.modules, 'matplotlib' in"
        " sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["False", "False"]
