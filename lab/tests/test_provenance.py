"""What a result was made with, and whether that is the code of today."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from phenes_lab import check, driver, provenance
from phenes_lab.reproduce import PACKAGES

from phenes.store import Store
from tests.cli.calling import call, one_line

ROOT = Path(__file__).parents[2]


def test_every_committed_result_has_its_code():
    committed = {path.parent.name for path in (ROOT / "results").glob("*/report.md")}
    assert committed <= set(provenance.CODE)
    assert set(PACKAGES) <= set(provenance.CODE)
    for name, paths in provenance.CODE.items():
        gone = [path for path, digest in provenance.digests(paths).items() if digest == "gone"]
        assert not gone, f"{name} depends on {gone}, which are not there"


def test_what_is_said_to_be_unused_is():
    """No code behind a result names the laws there, nor the input laws that have them."""
    laws = r"\b(Conjugate|NaturalFamily|Beta|Gamma|Bernoulli|Poisson|Exponential)\b"
    homes = {path for paths in provenance.CODE.values() for path in paths}
    for home in homes - {"phenes/search", "phenes/inputs"}:
        path = provenance.here(home)
        for module in [path] if path.is_file() else path.rglob("*.py"):
            found = re.search(laws, provenance.bare(module.read_text()))
            assert not found, f"{module} has {found}"


def test_a_digest_is_of_the_code_not_of_what_is_said_of_it(tmp_path):
    module = tmp_path / "room" / "a.py"
    module.parent.mkdir()

    def of(text):
        module.write_text(text)
        provenance.digest.cache_clear()
        return provenance.digest(module.parent)

    first = of('"""About."""\nx = 1  # why\n')
    assert of('"""More about."""\nx = 1\n') == first
    assert of("x = 2\n") != first
    assert provenance.digest(tmp_path / "nothing") == "gone"


def test_the_machine_has_no_names_of_people_or_hosts():
    said = provenance.machine()
    assert said["cores"] >= 1
    assert said["processor"]
    assert {"python", "numpy", "jax", "phenes"} <= set(said["versions"])
    import getpass
    import platform

    for word in (platform.node(), getpass.getuser(), str(Path.home())):
        assert word not in json.dumps(said)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["reproduce", "bbob", "--out", "/somewhere"], "phenes reproduce bbob"),
        (["reproduce", "bbob", "--resume", "--out=/a"], "phenes reproduce bbob"),
        (["bench", "peers", "--dims", "40", "--json"], "phenes bench peers --dims 40"),
    ],
)
def test_the_command_is_kept_without_where_files_go(monkeypatch, typed, said):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/phenes", *typed])
    assert provenance.command() == said
    monkeypatch.setattr(sys, "argv", ["/usr/bin/pytest", *typed])
    assert provenance.command() == ""


def signed(run, parts):
    """Parts of a session, and its signature."""
    signature = driver.Signature(run, "bbob")
    for k in range(parts):
        run.add(f"part/{k}", {"x": 0}, 0.0)
        signature.renew()


@pytest.fixture
def results(tmp_path):
    """A folder with one result, stored as `driver` stores it."""
    home = tmp_path / "results" / "bbob"
    home.mkdir(parents=True)
    (home / "report.md").write_text("# bbob\n")
    with Store(home / "bbob.db") as store:
        run = store.begin("bbob", {})
        signed(run, 3)
        run.finish()
    return home.parent


def test_a_result_of_this_code_is_up_to_date_and_of_another_is_not(results, monkeypatch):
    (row,) = check.check(results)
    assert (row.state, row.recorded, row.changed) == (check.NOW, True, ())
    assert row.arrays > 0
    assert row.commit == provenance.commit()
    other = provenance.digest
    room = provenance.here("phenes/search")
    monkeypatch.setattr(provenance, "digest", lambda path: "new" if path == room else other(path))
    (row,) = check.check(results)
    assert (row.state, row.changed) == (check.OLDER, ("phenes/search",))


def test_the_command_says_it_with_its_exit_code(results, capsys):
    code, out, _ = call(capsys, "reproduce", "--check", "--out", results, "--json")
    last = json.loads(out.splitlines()[-1])
    assert code == 0
    assert last["older"] == [] == last["without arrays"]
    (results / "bbob" / "bbob.db").unlink()
    code, out, _ = call(capsys, "reproduce", "--check", "--out", results, "--json")
    last = json.loads(out.splitlines()[-1])
    assert (code, last["older"], last["without arrays"]) == (1, ["bbob"], ["bbob"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reproduce", "swimmer", "--check"], "has no report of swimmer"),
        (["reproduce", "nothing", "--check"], "nothing is known of the code behind nothing"),
        (["reproduce", "--check", "--out", "nowhere"], "nowhere is no folder of results"),
        (["reproduce"], "say which experiment"),
    ],
)
def test_what_is_refused(results, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(results.parent)
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert said in err
    assert one_line(err)


def git(folder, *words):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_a_result_of_old_is_compared_by_the_commit_that_it_names(tmp_path):
    room, home = tmp_path / "phenes" / "search", tmp_path / "results" / "bbob"
    room.mkdir(parents=True)
    home.mkdir(parents=True)
    (home / "report.md").write_text("# bbob\n")
    (room / "a.py").write_text("x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "phenes", "results")
    git(tmp_path, "commit", "-qm", "first")
    (row,) = check.check(home.parent)
    assert row.state == check.UNKNOWN
    commit = provenance.git(tmp_path, "rev-parse", "--short", "HEAD")
    (home / "report.md").write_text(f"Made with commit {commit} or earlier.\n")
    (row,) = check.check(home.parent)
    assert (row.state, row.recorded, row.arrays) == (check.NOW, False, 0)
    (room / "a.py").write_text("x = 2\n")
    git(tmp_path, "commit", "-qam", "second")
    (row,) = check.check(home.parent)
    assert (row.state, row.changed) == (check.OLDER, ("phenes/search",))
    (home / "report.md").write_text(f"Made with commit {commit}. Words were changed since.\n")
    git(tmp_path, "commit", "-qam", "third")
    assert check.check(home.parent)[0].state == check.OLDER
    (home / "report.md").write_text("Made with commit 0123456789.\n")
    (row,) = check.check(home.parent)
    assert row.state == check.UNKNOWN


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_a_change_of_what_no_result_uses_makes_none_older(tmp_path, monkeypatch):
    room = tmp_path / "phenes" / "search"
    room.mkdir(parents=True)
    used, unused = room / "gaussian.py", room / "conjugate.py"
    assert f"phenes/search/{unused.name}" in provenance.UNUSED
    for module in (used, unused):
        module.write_text('"""About."""\nx = 1\n')
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "phenes")
    git(tmp_path, "commit", "-qm", "first")
    commit = provenance.git(tmp_path, "rev-parse", "HEAD")
    monkeypatch.setattr(provenance, "HOMES", {"phenes": tmp_path / "phenes"})
    unused.write_text("x = 2\n")
    used.write_text('"""More about."""\nx = 1\n')
    assert provenance.only_unused("phenes/search", commit)
    assert not provenance.only_unused("phenes/search", "0123456789")
    used.write_text("x = 2\n")
    assert not provenance.only_unused("phenes/search", commit)


def test_a_session_is_stored_with_what_it_was_made_with(results):
    with Store(results / "bbob" / "bbob.db", create=False) as store:
        (session,) = driver.all_sessions(store)
    assert session.parts == 3
    assert set(session.made) == set(provenance.FIELDS)
    assert re.fullmatch(r"([0-9a-f]{10}\+?)?", session.made["commit"])


def test_going_on_with_other_code_is_said(tmp_path, monkeypatch):
    with Store(tmp_path / "runs.db") as store:
        run = store.begin("bbob", {})
        signed(run, 1)
        assert driver.other_commits(run) == []
        monkeypatch.setattr(driver, "commit", lambda: "abcdef0123")
        with pytest.warns(UserWarning, match=r"parts of a, b were made .*; this is abcdef0123"):
            driver.say_other_commits({"a": run, "b": run})


def test_rows_on_file_are_signed_too(tmp_path, monkeypatch):
    home = tmp_path / "results" / "trust"
    home.mkdir(parents=True)
    (home / "report.md").write_text("# trust\n")
    file = driver.RowFile(home / "rows.jsonl", {"seed": 1}, "trust")
    file.read(resume=False)
    file.add({"x": 1})
    (row,) = check.check(home.parent)
    assert (row.state, row.recorded, row.arrays) == (check.NOW, True, 1)
    monkeypatch.setattr(driver, "commit", lambda: "abcdef0123")
    with pytest.warns(UserWarning, match=r"parts of trust were made .*; this is abcdef0123"):
        assert file.read(resume=True) == [{"x": 1}]
