"""`phenes bench` and `phenes reproduce`: settings, what comes back, and what is said without the
laboratory.
"""

import dataclasses
import json
import sys
from types import SimpleNamespace

import pytest
from phenes_lab.bench import BENCHES
from phenes_lab.cli.settings import read_setting
from rich.table import Table

from tests.cli.calling import PHENES, call, one_line, python


@dataclasses.dataclass(frozen=True)
class FakeSettings:
    samples: int = 1
    seed: int = 0
    dims: tuple[int, ...] = (2,)
    popsize: int = 10
    repeats: int = 3

    @classmethod
    def quick(cls):
        return cls(samples=7)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["estimators"], FakeSettings()),
        (["estimators", "--samples", "5", "--seed", "3"], FakeSettings(samples=5, seed=3)),
        (["estimators", "--quick", "--seed", "3"], FakeSettings(samples=7, seed=3)),
        (
            ["estimators", "--set", "dims=1,4-6", "--set", "popsize=9"],
            FakeSettings(dims=(1, 4, 5, 6), popsize=9),
        ),
        (
            ["generation", "--dims", "4", "--dims", "8", "--popsize", "20", "--repeats", "2"],
            FakeSettings(dims=(4, 8), popsize=20, repeats=2),
        ),
    ],
)
def test_bench_passes_settings_on_and_prints_what_comes_back(
    capsys, monkeypatch, arguments, settings
):
    def run(given, progress):
        progress(2, 2)
        return [given]

    def table(rows):
        seen.extend(rows)
        return Table("column " + "x" * 90)

    seen, bench = [], BENCHES[arguments[0]]
    fake = SimpleNamespace(run=run, table=table, as_json=lambda rows: {"rows": len(rows)})
    setattr(fake, bench.settings, FakeSettings)
    monkeypatch.setitem(sys.modules, f"phenes_lab.bench.{bench.module}", fake)
    code, out, err = call(capsys, "bench", *arguments, "--json")
    assert code == 0
    assert seen == [settings]
    assert "column " + "x" * 90 in out
    assert json.loads(out.splitlines()[-1]) == {"rows": 1}
    assert "2/2" in err


def test_a_bench_without_words_for_machines_gives_its_rows(capsys, monkeypatch):
    fake = SimpleNamespace(run=lambda *given: [FakeSettings()], table=lambda rows: Table("x"))
    setattr(fake, BENCHES["steps"].settings, FakeSettings)
    monkeypatch.setitem(sys.modules, f"phenes_lab.bench.{BENCHES['steps'].module}", fake)
    code, out, _ = call(capsys, "bench", "steps", "--json")
    said = json.loads(out.splitlines()[-1])
    assert (code, said["benchmark"], len(said["rows"])) == (0, "steps", 1)


@pytest.mark.parametrize("name", BENCHES)
def test_every_bench_has_its_options(capsys, name):
    code, out, _ = call(capsys, "bench", name, "--help")
    assert code == 0
    bench = BENCHES[name]
    wanted = [*bench.options, *bench.more, "set", "quick", "json"]
    wanted += ["out", "resume"] if bench.folder else []
    assert all(f"--{option}" in out for option in wanted)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["reproduce", "cartpole", "--set", "nonsense=1"],
            "has no setting 'nonsense', only environ",
        ),
        (["reproduce", "cartpole", "--set", "ours"], "NAME=VALUE"),
        (["reproduce", "cartpole", "--set", "ours=-1"], "ours must be"),
        (["reproduce", "cartpole", "--set", "methods=ES,nobody"], "got nobody"),
        (["reproduce", "everything"], "there is no 'everything', only bbob, frozenlake"),
        (["bench", "peers", "--functions", "1,x"], "must be numbers such as 1,4-6, got 'x'"),
        (["bench", "peers", "--peers", "nobody"], "peers must be names among phenes"),
        (["bench", "robust", "--seeds", "0"], "'--seeds'"),
    ],
)
def test_wrong_settings_are_said(capsys, tmp_path, arguments, says):
    folder = [] if "robust" in arguments else ["--out", tmp_path]
    code, _, err = call(capsys, *arguments, *folder)
    assert code
    assert says in " ".join(err.split())


def test_settings_of_the_command_line():
    read = {
        text: read_setting(text, kind)
        for text, kind in (("40", int), ("1", tuple[int, ...]), ("ES, default", tuple[str, ...]))
    }
    assert read == {"40": 40, "1": [1], "ES, default": ["ES", "default"]}
    assert read_setting("0.1,2", tuple[float, ...]) == [0.1, 2]
    assert read_setting(".1", tuple[float, ...]) == [0.1]  # as the README has it
    assert read_setting(".01,.5", tuple[float, ...]) == [0.01, 0.5]
    assert read_setting(".5", float) == 0.5
    assert read_setting("1-3,8", tuple[int, ...]) == [1, 2, 3, 8]
    assert read_setting('["ES"]', tuple[str, ...]) == ["ES"]
    assert read_setting("CartPole-v1", str) == "CartPole-v1"


WITHOUT = """
import importlib.metadata
importlib.metadata.entry_points = lambda **which: ()
"""


@pytest.mark.parametrize("command", [["bench", "peers", "--quick"], ["reproduce", "bbob"]])
def test_without_the_laboratory_one_sentence_says_how_to_get_it(command):
    done = python(WITHOUT + PHENES, *command)
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr)
    assert f"phenes {command[0]} needs the laboratory: pip install -e ./lab" in done.stderr


def test_both_are_listed_with_and_without_the_laboratory_and_import_nothing_heavy():
    modules = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    for before in ("", WITHOUT):
        done = python(before + modules + PHENES, "--help")
        assert done.returncode == 0
        assert "reproduce" in done.stdout
        assert "bench" in done.stdout
        loaded = set(done.stderr.split())
        assert not {"jax", "numpy", "matplotlib", "scipy"} & loaded
        assert ("phenes_lab.cli.bench" in loaded) == (before == "")


def test_the_command_can_be_imported_first():
    done = python("import phenes_lab.cli.bench as bench; print(len(bench.app.registered_commands))")
    assert done.stdout.split() == [str(len(BENCHES))]
