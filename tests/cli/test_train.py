"""`phenes train`: files, text and JSON; the same rule and the same arguments as in Python."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import phenes
from phenes.cli import policies
from phenes.plots import film
from phenes.rl import tabular
from phenes.store import Store
from tests.cli.calling import call
from tests.rl.rollouts import worlds  # noqa: F401
from tests.rl.tabular import mdp
from tests.rl.training.small import as_optax_needs_it, same, table  # noqa: F401

NETWORK = ("CartPole-v1", "--popsize", 6, "--hidden", 8, "--option", "max_episode_steps=40")
LAKE = ("FrozenLake-v1", "--generations", 10, "--popsize", 20, "--option", 'desc=["SF","FG"]')


def trained(capsys, *arguments):
    """Exit code, what it says to machines, and its complaints."""
    code, out, err = call(capsys, "train", *arguments, "--json")
    return code, json.loads(out.strip().splitlines()[-1]) if out.strip() else {}, err


def test_a_network_leaves_files_and_goes_on(capsys, tmp_path):
    """In two legs the same as in one; with a preset, so that nothing dear is compiled."""
    run = (*NETWORK, "--preset", "paper-es", "--seed", 3)
    gif = tmp_path / "film.gif"
    code, first, _ = trained(
        capsys, *run, "--generations", 5, "--out", tmp_path / "a", "--render", gif
    )
    assert (code, first["kind"], first["generations"], first["episodes"]) == (0, "network", 5, 30)
    assert Path(first["picture"]).read_bytes()[:4] == b"\x89PNG"
    assert Path(first["film"]).read_bytes()[:6] == b"GIF89a"
    code, rest, _ = trained(capsys, *run, "--generations", 10, "--out", tmp_path / "a", "--resume")
    assert (code, rest["generations"]) == (0, 10)
    code, whole, _ = trained(capsys, *run, "--generations", 10, "--out", tmp_path / "b")
    one, two = (phenes.rl.load(result["file"]) for result in (whole, rest))
    same(one, two)
    assert one.about["settings"]["estimator"] == "Genotype()"
    with Store(tmp_path / "a" / "runs.db") as store:
        assert [run.experiment for run in store.runs()] == ["train CartPole-v1"]
    code, _, err = trained(capsys, *run[:-1], 4, "--out", tmp_path / "a", "--resume")
    assert code
    assert "seed was 3 and is now 4" in err


def test_json_has_no_nan(capsys, tmp_path):
    """Of an environment that pays NaN: values that are not numbers are null."""

    def refused(text):
        raise AssertionError(f"{text} is no JSON")

    arguments = ("tests/Echo-v0", "--option", "broken=true", "--hidden", 4, "--popsize", 4)
    with pytest.warns(UserWarning, match="nothing was learnt"):
        code, out, _ = call(
            capsys, "train", *arguments, "--generations", 1, "--out", tmp_path, "--json"
        )
    lines = out.strip().splitlines()
    said = json.loads(lines[-1], parse_constant=refused)
    assert (code, said["value"], said["failed"]) == (0, None, 4)
    assert "returns nothing finite on 100 fresh episodes" in " ".join(lines)


def test_a_table_leaves_files_and_arrows(capsys, tmp_path):
    code, out, _ = call(capsys, "train", *LAKE, "--out", tmp_path, "--seed", 2)
    assert code == 0
    assert out.splitlines()[1].endswith("G")
    assert "The greedy policy is worth" in out
    saved = phenes.rl.load(tmp_path / "FrozenLake-v1.phenes")
    assert saved.options == {"desc": ["SF", "FG"]}
    assert (tmp_path / "FrozenLake-v1.png").read_bytes()[:4] == b"\x89PNG"
    same(saved, table(seed=2))


def test_settings_of_both_kinds_do_not_turn_a_table_into_a_network(capsys, tmp_path):
    """--target, --resume and --render did: Python and the command line decide by one rule."""
    given = ("--target", 0.1, "--resume", "--render", tmp_path / "f.gif", "--out", tmp_path)
    code, result, _ = trained(capsys, *LAKE, *given)
    assert (code, result["kind"], result["target"]) == (0, "table", 0.1)
    assert result["solved"] == (result["value"] >= 0.1)
    assert json.loads(json.dumps(result, allow_nan=False))["policy"] is not None
    assert Path(result["film"]).read_bytes()[:6] == b"GIF89a"
    code, again, _ = trained(capsys, *LAKE, "--workers", 2, "--target", 0.1, "--out", tmp_path)
    assert (code, again["value"]) == (0, result["value"])


def test_event_files_for_tensor_board(capsys, tmp_path, monkeypatch):
    """Read by TensorBoard itself; without the package, one sentence before anything is played."""
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = tmp_path / "board"
    code, result, _ = trained(capsys, *LAKE, "--tensorboard", board, "--out", tmp_path)
    assert code == 0
    events = reading.EventAccumulator(str(board))
    events.Reload()
    last = events.Scalars("return/mean policy")[-1]
    assert (last.step, last.value) == (10, pytest.approx(result["value"], rel=1e-6))
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    code, _, err = trained(capsys, *LAKE, "--tensorboard", board, "--out", tmp_path / "other")
    assert code == 2
    assert "phenes[tensorboard]" in err
    assert not (tmp_path / "other" / "runs.db").exists()


def test_ctrl_c_says_how_to_go_on(capsys, tmp_path, monkeypatch):
    from phenes.rl import training

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "train", interrupted)
    code, _, err = call(capsys, "train", *LAKE, "--out", tmp_path)
    assert code == 130
    expected = shlex.join(["phenes", "train", *map(str, LAKE), "--out", str(tmp_path), "--resume"])
    last = err.splitlines()[-1]
    assert (
        last == f"phenes: stopped; what was done is in {tmp_path}/runs.db; go on with: {expected}"
    )


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


def test_arrows_lead_to_the_goal():
    lake = table(seed=1, generations=50, popsize=100, options={"is_slippery": False})
    environment = tabular.load(lake.name, **lake.options)
    text = policies.arrows(environment, np.argmax(lake.probabilities, axis=1))
    assert [len(line) for line in text.splitlines()] == [7] * 4
    assert walk(text) == "G"
    assert "worth 1 within 100 steps" in policies.table_summary(lake)


def test_policies_without_a_map_are_listed():
    environment = tabular.Environment(mdp.TABLE, ("a", "b"), ())
    assert policies.arrows(environment, np.array([0, 1, 1])) == "0:a  1:b  2:b"


def test_options_of_the_environment():
    given = ["map_name=8x8", "is_slippery=false", 'desc=["SF","HG"]', "success_rate=0.5"]
    assert policies.parse_options(given) == {
        "map_name": "8x8",
        "is_slippery": False,
        "desc": ["SF", "HG"],
        "success_rate": 0.5,
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
        policies.parse_options(["slippery"])


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="MP4 needs ffmpeg")
def test_mp4(tmp_path):
    pictures = [np.full((31, 40, 3), shade, np.uint8) for shade in (0, 100, 200)]
    assert film.save(pictures, 10.0, tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_mp4_without_ffmpeg_is_refused_before_learning(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    given = ("--render", tmp_path / "film.mp4", "--out", tmp_path)
    code, _, err = trained(capsys, "CartPole-v1", *given)
    assert code
    assert "needs the program ffmpeg" in err
    assert not list(tmp_path.glob("*.phenes"))
    code, _, err = trained(capsys, *NETWORK, "--render", tmp_path / "film.avi", "--out", tmp_path)
    assert code
    assert ".gif or .mp4" in err
