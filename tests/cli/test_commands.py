"""The contract of the command line: a last line of JSON, exit codes, one line for what went wrong,
and no waiting for `--help`.
"""

import dataclasses
import json
import resource
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import phenes
from phenes import cli, demo
from phenes.demo import race
from phenes.store import Store
from tests.cli.calling import PHENES, call, one_line, python


def test_demo_ends_with_json_and_leaves_table_picture_and_numbers(tmp_path, capsys):
    place = tmp_path / "new" / "out"
    code, out, err = call(
        capsys, "demo", "--seeds", 3, "--generations", 8, "--out", place, "--json"
    )
    assert code == 0, err
    result = json.loads(out.splitlines()[-1])
    assert (result["seeds"], result["budget"]) == (3, 8 * result["settings"]["popsize"])
    assert Path(result["picture"]).read_bytes()[:4] == b"\x89PNG"
    stored = demo.summary(demo.load(result["data"]))
    assert result["scores"] == json.loads(json.dumps(dataclasses.asdict(stored)["scores"]))
    assert demo.finding(stored) in " ".join(out.split())
    assert (result["product"]["seeds"], result["product"]["budget"]) == (3, 40)
    assert "9/9" in err


def test_without_json_there_is_none(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        demo, "run", lambda settings, progress: demo.Results(settings, made_up(settings))
    )
    code, out, _ = call(capsys, "demo", "--seeds", 2, "--generations", 3, "--out", tmp_path)
    assert code == 0
    assert "{" not in out
    assert str(tmp_path / "demo.png") in out.replace("\n", "")


def made_up(settings):
    shape = settings.seeds, settings.generations, 2 * len(settings.starts)
    return {method: np.random.default_rng(0).uniform(size=shape) for method in race.ESTIMATORS}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "--seeds", "many"], "'--seeds'"),
        (["demo", "--seeds", "0"], "'--seeds'"),
        (["demo", "--generations", "-3"], "'--generations'"),
        (["demo", "--nonsense"], "--nonsense"),
        (["demo", "surplus"], "surplus"),
        (["nonsense"], "only demo, optimize, front, train, runs, show, watch, reproduce, bench"),
        (["bench", "nonsense"], "only estimators, generation, peers"),
        (["bench"], "see phenes bench --help"),
        ([], "see phenes --help"),
        (["runs", "nowhere.db"], "nowhere.db does not exist"),
        (["show", "nowhere.db"], "nowhere.db does not exist"),
        (["show", "nowhere.db:3"], "nowhere.db does not exist"),
        (["watch", "nowhere.db"], "nowhere.db does not exist"),
        (["watch", "nowhere.db", "--web"], "nowhere.db does not exist"),
        (["watch", "nowhere.db", "--every", "0"], "'--every'"),
        (["train", "NoSuch-v0"], "ENV_ID: NoSuch-v0 cannot be made by gymnasium"),
        (["train", "CartPole-v1", "--option", "x"], "--option: an option of the environment must"),
        (["train", "CartPole-v1", "--render", "film.avi"], "--render: a film must be"),
        (["train", "CartPole-v1", "--preset", "new"], "--preset must be"),
        (["train", "CartPole-v1", "--hidden", "wide"], "--hidden must be widths"),
        (["train", "CartPole-v1", "--hidden", "0"], "--hidden must be a whole number"),
        (["train", "CartPole-v1", "--sigma", "-1"], "--sigma must be"),
        (["train", "CartPole-v1", "--rate", "nan"], "--rate must be"),
        (["train", "CartPole-v1", "--target", "nan"], "--target must be"),
        (["train", "CartPole-v1", "--workers", "0"], "'--workers'"),
        (["bench", "estimators", "--samples", "-1"], "'--samples'"),
        (["bench", "estimators", "--set", "samples=none"], "samples must be"),
        (["reproduce", "bbob", "--set", "dim=-1"], "dim must be"),
    ],
)
def test_wrong_arguments_are_one_line(capsys, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert one_line(err)
    assert said in err


def test_a_run_that_is_not_there_or_cannot_be_exported_is_a_wrong_argument(capsys, tmp_path):
    with Store(tmp_path / "runs.db") as store:
        store.begin("sweep", {}).finish()
    for arguments in (
        ("show", tmp_path / "runs.db:7"),
        ("watch", tmp_path / "runs.db:7"),
        ("show", tmp_path / "runs.db", "--export", tmp_path / "rows.txt"),
        ("show", tmp_path / "runs.db", "--export", tmp_path / "nowhere" / "rows.csv"),
    ):
        code, _, err = call(capsys, *arguments)
        assert code == 2, err
        assert err.startswith("phenes: ")
        assert err.count("\n") == 1


@pytest.mark.parametrize("number", ["1e2", "100", "100.0", "+1e2"])
def test_whole_numbers_may_be_written_as_powers_of_ten(number, capsys, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(demo, "run", lambda settings, progress: seen.append(settings) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["demo", "--seeds", number, "--out", str(tmp_path)])
    assert seen[0].seeds == 100


def test_wrong_argument_is_one_line_for_the_shell_too():
    done = python(PHENES, "demo", "--seeds", "many")
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr)


def test_folder_that_cannot_be_written_is_found_out_first(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(demo, "run", None)  # nothing runs before that
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        code, out, err = call(capsys, "demo", "--out", folder)
        assert (code, out) == (1, "")
        assert one_line(err)
        assert str(folder) in err


def test_value_errors_of_the_library_are_one_line(capsys, monkeypatch, tmp_path):
    def refuse(settings, progress):
        raise ValueError("noise must be positive,\ngot -1")

    monkeypatch.setattr(demo, "run", refuse)
    code, _, err = call(capsys, "demo", "--out", tmp_path)
    assert code == 1
    assert err.endswith("phenes: noise must be positive, got -1\n")


def test_bugs_are_not_hidden(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "run", None)
    with pytest.raises(TypeError):
        cli.main(["demo", "--out", str(tmp_path)])


def test_interruption_has_its_exit_code_and_no_traceback(capsys, monkeypatch, tmp_path):
    def interrupted(settings, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    code, _, err = call(capsys, "demo", "--out", tmp_path)
    assert code == 130
    assert "Traceback" not in err


def test_version():
    done = CliRunner().invoke(cli.app, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"{phenes.__version__}\n")


COMMANDS = [
    [],
    ["demo"],
    ["optimize"],
    ["reproduce"],
    ["train"],
    ["bench"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help(capsys, command):
    code, out, _ = call(capsys, *command, "--help")
    assert code == 0
    assert " ".join(["Usage: phenes", *command]) in out
    # what does something, and is not a group of others, takes --json
    assert ("--json" in out) == (command not in ([], ["bench"]))


def test_command_line_loads_nothing_heavy_of_its_own():
    """What `import phenes` does not load already, `phenes --help` does not load either."""
    code = """
import sys, phenes
before = set(sys.modules)
from phenes.cli import main
try:
    main(["--help"])
except SystemExit:
    heavy = ("jax", "matplotlib", "scipy", "numpy", "phenes")
    new = set(sys.modules) - before
    print(*(m for m in new if m.split(".")[0] in heavy), file=sys.stderr)
"""
    assert all(name.startswith("phenes.cli") for name in python(code).stderr.split())


def test_help_does_not_wait_for_jax():
    watched = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        + PHENES
    )
    done = python(watched, "--help")
    assert done.returncode == 0
    assert not {"jax", "numpy", "matplotlib"} & set(done.stderr.split())
    times = []
    for _ in range(3):  # in processor time, the best of three: other work on the machine only adds
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        python(PHENES, "--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.5
