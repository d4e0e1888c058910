"""Learning itself: on compiled environments and on others, with files, kills, failures and wrong
arguments.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phenes
from phenes import cli
from phenes.rl import rollouts, tabular, training
from phenes.rl.policies import MLP
from phenes.rl.problems.network import Learner
from phenes.rl.training import render
from phenes.rl.training import train as door
from phenes.rl.trajectories import (
    Credited,
    CurvedMix,
    Linearised,
    Reparameterised,
    credited,
    guarded_mix,
    mix,
)


@pytest.fixture(scope="module", autouse=True)
def as_optax_needs_it():
    """Inside optax.adam a count meets a rate."""
    with jax.numpy_dtype_promotion("standard"):
        yield


SHORT = {"max_episode_steps": 40}  # episodes of CartPole


def short(**settings):
    return training.train(
        "CartPole-v1",
        **{
            "generations": 10,
            "popsize": 6,
            "hidden": (8,),
            "options": SHORT,
            "target": None,
            **settings,
        },
    )


@pytest.fixture(scope="module")
def trained():
    calls = []
    out = short(
        seed=3, progress=lambda done, total, curve: calls.append((done, total, curve.generations))
    )
    assert calls == [(0, 10, 0), (5, 10, 5), (10, 10, 10)]
    return out


def same(a, b):
    np.testing.assert_array_equal(a.theta, b.theta)
    for name in ("mean", "best", "steps", "size", "second", "at", "deterministic"):
        np.testing.assert_array_equal(getattr(a.curve, name), getattr(b.curve, name))


def test_cart_pole_is_learnt():
    """The default: a population mean of 475 within 600 episodes (ten seeds: see the report of the
    experiment).
    """
    out = training.train("CartPole-v1", seed=0, generations=30, target=None)
    assert out.curve.first(475) * 20 <= 600


def test_a_target_that_is_proved_ends_the_run():
    out = short(target=9.0, generations=20)
    assert out.about["solved"]
    assert out.about["value"] >= 9
    assert out.curve.generations == 5


def test_what_is_left_behind(trained, tmp_path):
    assert trained.episodes == 60
    assert trained.curve.mean.shape == trained.curve.signal().shape == (10,)
    np.testing.assert_array_equal(trained.curve.at, [5, 10])
    first = trained.curve.size[:4].sum() / trained.curve.second[:4].sum()
    assert trained.curve.signal(4)[3] == pytest.approx(first)
    found = trained.evaluate(20, seed=5)
    assert found.returns.shape == (20,)
    assert found.se > 0 or np.ptp(found.returns) == 0
    again = phenes.rl.load(trained.save(tmp_path / "cartpole.phenes"))
    same(trained, again)
    assert again.about == json.loads(json.dumps(dict(trained.about)))
    obs = [np.array([0.1, 0.2, -0.1, -0.3]), np.array([-0.1, 0.5, 0.1, 0.4])]
    assert [again.predict(o) for o in obs] == [trained.predict(o) for o in obs]
    np.testing.assert_array_equal(again.evaluate(20, seed=5).returns, found.returns)


def test_the_same_seed_is_the_same_run_and_another_is_another(trained):
    same(trained, short(seed=3))
    assert np.any(short(seed=4).theta != trained.theta)


def test_an_interrupted_run_goes_on_exactly(trained, tmp_path):
    class Stop(Exception):
        pass

    def stop(done, total, curve):
        if done == 5:
            raise Stop

    with pytest.raises(Stop):
        short(seed=3, checkpoint=tmp_path / "c", progress=stop)
    same(trained, short(seed=3, checkpoint=tmp_path / "c"))
    begun = []
    same(
        trained,
        short(seed=3, checkpoint=tmp_path / "c", progress=lambda done, *_: begun.append(done)),
    )
    assert begun == [10]
    with pytest.raises(
        ValueError, match="was written with other settings: seed was 3 there and is 4 now"
    ):
        short(seed=4, checkpoint=tmp_path / "c")


KILLED = """
import sys, time
import jax
jax.config.update("jax_enable_x64", True)
from phenes.rl import training
def wait(done, total, curve):
    if done == 5:
        print("ready", flush=True)
        time.sleep(60)
training.train("CartPole-v1", seed=3, generations=10, popsize=6, hidden=(8,), options={"max_episode_steps": 40}, target=None,
               checkpoint=sys.argv[1], progress=wait)
"""


@pytest.mark.machine
def test_a_killed_run_goes_on_exactly(trained, tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "c")], stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout.readline() == "ready\n"
        os.kill(child.pid, signal.SIGKILL)
    same(trained, short(seed=3, checkpoint=tmp_path / "c"))


def test_environments_that_are_not_compiled(monkeypatch):
    """The same numbers with the loop in Python, for an estimator that learns as well."""
    load, estimator = rollouts.load, credited(guarded_mix(8), 0.97)
    one = short(estimator=estimator, generations=6)
    monkeypatch.setattr(
        rollouts, "load", lambda env_id, **options: NotCompiled(load(env_id, **options))
    )
    other = short(estimator=estimator, generations=6)
    np.testing.assert_allclose(one.curve.mean, other.curve.mean, rtol=1e-6)
    np.testing.assert_allclose(one.theta, other.theta, atol=1e-6)


class NotCompiled:
    """Arrays of NumPy in single precision, and a reward that is NaN if asked for."""

    def __init__(self, env, broken=False):
        self.env, self.spaces, self.compiled, self.broken = env, env.spaces, False, broken

    def play(self, *args, **options):
        x = self.env.play(*args, **options)
        reward = np.array(x.reward)
        if self.broken:
            reward[0, 0] = np.nan
        return x._replace(reward=reward, obs=np.asarray(x.obs), mask=np.asarray(x.mask))

    def close(self):
        self.env.close()


def test_rewards_that_are_not_numbers_are_survived(monkeypatch):
    load = rollouts.load
    monkeypatch.setattr(
        rollouts,
        "load",
        lambda env_id, **options: NotCompiled(load(env_id, **options), broken=True),
    )
    out = short(estimator=credited(mix(8)), generations=5)
    assert np.all(out.curve.failed == 1)
    assert np.all(np.isfinite(out.theta))
    assert np.all(np.isfinite(out.curve.mean))
    assert not out.curve.skipped.any()


def test_presets_run_and_follow_the_paper():
    spaces = rollouts.spaces("Pendulum-v1")
    settings = training.paper(spaces)
    assert (settings.popsize, settings.rate, settings.hidden, settings.action_noise) == (
        100,
        1e-3,
        (64, 64),
        None,
    )
    assert float(settings.spread()(1500)) == pytest.approx(0.03)
    assert training.paper_es(spaces).deterministic
    assert training.paper_es(spaces).mirrored
    learner = Learner(settings, rollouts.load("Pendulum-v1"), jax.random.key(0))
    policy, theta = phenes.rl.policies.policy(jax.random.key(0), spaces, (8,), 0.05)
    carry = learner.begin(policy, theta)
    later = carry._replace(state=carry.state._replace(q=carry.state.q.with_std(0.02)))
    np.testing.assert_allclose(learner.law(later).policy.head.std, [0.02])


def test_a_preset_from_the_command_line(capsys, tmp_path):
    small = (
        "--generations",
        2,
        "--popsize",
        4,
        "--hidden",
        "8",
        "--option",
        "max_episode_steps=40",
        "--out",
        tmp_path,
    )
    code, result, _ = call(capsys, "CartPole-v1", "--preset", "paper-es", *small)
    assert (code, result["generations"], result["episodes"]) == (0, 2, 8)
    assert training.Trained.load(result["file"]).about["settings"]["estimator"] == "Genotype()"


def test_the_default_follows_from_actions_and_length():
    chosen = {
        name: training.default(rollouts.spaces(name))
        for name in ("CartPole-v1", "Pendulum-v1", "MountainCarContinuous-v0")
    }
    discrete, short, long = (settings.estimator for settings in chosen.values())
    assert isinstance(discrete, CurvedMix)
    assert isinstance(short, Credited)
    assert isinstance(short.estimator, Reparameterised)
    assert isinstance(long, Credited)
    assert isinstance(long.estimator, Linearised)


def test_mirrored_pairs_start_from_the_same_state():
    env = rollouts.load("CartPole-v1", **SHORT)
    policy, theta = phenes.rl.policies.policy(jax.random.key(0), env.spaces, (8,))
    x = phenes.rl.trajectories.Trajectories(policy, env, paired=True).sample_all(
        jax.random.key(1), jnp.stack([theta] * 6)
    )
    np.testing.assert_array_equal(x.obs[:3, 0], x.obs[3:, 0])
    assert len(np.unique(np.asarray(x.obs[:3, 0, 0]))) == 3


class Own(eqx.Module):
    """A user's network."""

    a: jax.Array

    def __call__(self, obs):
        return self.a @ jnp.concatenate([obs, jnp.abs(obs)])


def test_networks_of_the_users_own(tmp_path):
    out = short(network=Own(jnp.zeros((2, 8))), generations=5)
    assert out.theta.shape == (16,)
    path = out.save(tmp_path / "own")
    with pytest.raises(ValueError, match="network of your own"):
        phenes.rl.load(path)
    with pytest.raises(ValueError, match="must have the 16 parameters"):
        phenes.rl.load(path, MLP(jax.random.key(0), 4, 2, ()))
    np.testing.assert_array_equal(phenes.rl.load(path, Own(jnp.ones((2, 8)))).theta, out.theta)


def test_tables_go_through_the_same_door(tmp_path):
    calls = []
    out = phenes.rl.train(
        "FrozenLake-v1", generations=5, popsize=10, progress=lambda *now: calls.append(now)
    )
    assert isinstance(out, tabular.Trained)
    assert calls[-1] == (5, 5, None)
    assert isinstance(phenes.rl.load(out.save(tmp_path / "t")), tabular.Trained)


def call(capsys, *arguments) -> tuple[Any, dict, str]:
    """`phenes train ...`: its exit code, what it says to machines, and its complaints."""
    with pytest.raises(SystemExit) as end:
        cli.main(["train", *(str(a) for a in arguments), "--json"])
    out, err = capsys.readouterr()
    return end.value.code or 0, json.loads(out.strip().splitlines()[-1]) if out.strip() else {}, err


def test_the_command_leaves_files_and_goes_on(trained, capsys, tmp_path):
    small = (
        "CartPole-v1",
        "--popsize",
        6,
        "--hidden",
        "8",
        "--option",
        "max_episode_steps=40",
        "--out",
        tmp_path,
    )
    code, first, _ = call(
        capsys, *small, "--seed", 3, "--generations", 5, "--render", tmp_path / "film.gif"
    )
    assert (code, first["generations"], first["episodes"]) == (0, 5, 30)
    assert Path(first["picture"]).read_bytes()[:4] == b"\x89PNG"
    assert Path(first["film"]).read_bytes()[:6] == b"GIF89a"
    code, rest, _ = call(capsys, *small, "--seed", 3, "--generations", 10, "--resume")
    assert (code, rest["generations"]) == (0, 10)
    same(trained, training.Trained.load(rest["file"]))
    code, _, err = call(capsys, *small, "--seed", 4, "--generations", 10, "--resume")
    assert code
    assert "seed was 3 there and is 4 now" in err
    code, _, err = call(capsys, *small, "--render", tmp_path / "film.avi")
    assert code
    assert ".gif or .mp4" in err


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="MP4 needs ffmpeg")
def test_mp4(trained, tmp_path):
    assert render.render(trained, tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_mp4_without_ffmpeg_is_refused_before_learning(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = call(capsys, "CartPole-v1", "--render", tmp_path / "film.mp4", "--out", tmp_path)
    assert code
    assert "needs the program ffmpeg" in err
    assert not list(tmp_path.glob("*.phenes"))


def test_wrong_arguments(tmp_path):
    (tmp_path / "text").write_text("nothing")
    with pytest.raises(ValueError, match="not a policy"):
        phenes.rl.load(tmp_path / "text")
    with pytest.raises(ValueError, match="not a checkpoint"):
        short(checkpoint=tmp_path / "text")
    with pytest.raises(ValueError, match="preset must be None, 'paper', 'paper-es', got 'best'"):
        short(preset="best")
    with pytest.raises(ValueError, match="popsize must be even"):
        short(preset="paper-es", popsize=7)
    with pytest.raises(ValueError, match="hidden must be a whole number"):
        short(hidden=(8, 0))
    with pytest.raises(ValueError, match="sigma must be positive"):
        short(sigma=-1)
    with pytest.raises(ValueError, match="target must be"):
        short(target=float("nan"))
    with pytest.raises(ValueError, match=r"\.gif or \.mp4"):
        render.check(tmp_path / "film.avi")
    with pytest.raises(ValueError, match="cannot be made by gymnasium"):
        door.has_table("NoSuchEnvironment-v0")
