"""`phenes train` with networks, from arguments to files: the paper's settings, going on, a film, and what is refused."""

import json
import shutil
from typing import Any

import jax
import pytest

from phenes import cli
from phenes.rl.training import Trained

SMALL = ("--popsize", "4", "--hidden", "4", "--option", "max_episode_steps=20", "--json")


@pytest.fixture(scope="module", autouse=True)
def as_optax_needs_it():
    """Inside optax.adam a count meets a rate."""
    with jax.numpy_dtype_promotion("standard"):
        yield


def train(capsys, *arguments) -> tuple[Any, dict, str]:
    with pytest.raises(SystemExit) as end:
        cli.main(["train", *(str(a) for a in arguments)])
    out, err = capsys.readouterr()
    last = out.strip().splitlines()[-1] if out.strip() else "{}"
    return end.value.code or 0, json.loads(last) if last.startswith("{") else {}, err


def test_the_papers_settings_a_film_and_going_on(capsys, tmp_path):
    paper = ("CartPole-v1", "--preset", "paper", *SMALL, "--seed", "3")
    film = tmp_path / "film.gif"
    code, whole, _ = train(capsys, *paper, "--generations", "10", "--out", tmp_path / "whole", "--render", film)
    assert (code, whole["generations"], whole["episodes"]) == (0, 10, 40)
    assert film.read_bytes()[:6] == b"GIF89a"
    loaded = Trained.load(whole["file"])
    assert loaded.about["settings"]["estimator"] == "ScoreAtMean()"
    code, half, _ = train(capsys, *paper, "--generations", "5", "--out", tmp_path / "parts")
    assert (code, half["generations"]) == (0, 5)
    code, rest, _ = train(capsys, *paper, "--generations", "10", "--out", tmp_path / "parts", "--resume")
    assert (code, rest["generations"], rest["value"]) == (0, 10, whole["value"])
    assert (Trained.load(rest["file"]).theta == loaded.theta).all()
    code, _, err = train(capsys, *paper, "--seed", "4", "--out", tmp_path / "parts", "--resume")
    assert code
    assert "seed was 3 there and is 4 now" in err


def test_a_film_that_cannot_be_made_is_refused_before_learning(capsys, tmp_path):
    code, _, err = train(capsys, "CartPole-v1", "--render", tmp_path / "film.avi", *SMALL)
    assert code
    assert ".gif or .mp4" in err


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="MP4 needs ffmpeg")
def test_mp4(capsys, tmp_path):
    film = tmp_path / "film.mp4"
    train(capsys, "CartPole-v1", "--generations", "1", *SMALL, "--out", tmp_path, "--render", film)
    assert film.read_bytes()[4:8] == b"ftyp"
