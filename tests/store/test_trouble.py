"""Full disks, read-only folders, foreign and malicious files, two writers: one sentence each, and
nothing destroyed.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import phenes
from phenes.store import Store
from phenes.store.lock import held
from tests.store.test_payload import payloads


def sphere(x):
    return float(np.sum(x**2))


def solve(path, **options):
    return phenes.minimize(
        sphere, np.full(3, 1.5), 0.5, 0.1, budget=200, seed=4, checkpoint=path, **options
    )


FILLED = """
import resource, sys, numpy as np, phenes
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    phenes.minimize(lambda x: float(np.sum(x**2)), np.full(3, 1.5), 0.5, 0.1,
                    budget=600, seed=4, engine="adaptive", checkpoint=sys.argv[1])
except ValueError as error:
    print(error)
"""


def python(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.machine
def test_a_full_disk_and_then_room_again(tmp_path):
    path = tmp_path / "run.db"
    done = python(FILLED, path, 100_000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path} cannot be written: ")
    assert "intact" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    with Store(path, create=False) as store:
        kept = [key for key in store.last("minimize") if key.isdigit()]
    assert len(kept) > 3
    calls = []
    options = {"budget": 600, "seed": 4, "engine": "adaptive"}
    result = phenes.minimize(
        lambda x: calls.append(1) or sphere(x),
        np.full(3, 1.5),
        0.5,
        0.1,
        checkpoint=path,
        resume="anyway",
        **options,
    )
    straight = phenes.minimize(sphere, np.full(3, 1.5), 0.5, 0.1, **options)
    np.testing.assert_array_equal(result.x, straight.x)
    assert len(calls) < straight.nfev


READ_ONLY = """
import os, sys
from phenes.store import Store
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    Store(sys.argv[1])
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only root can become somebody who may not write",
)
def test_a_folder_that_cannot_be_written_even_if_we_are_root(tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o755)
    with passable(tmp_path):
        done = python(READ_ONLY, folder / "runs.db")
        assert (
            done.stdout
            == f"{folder}/runs.db cannot be opened as a record of phenes runs: unable to open"
            " database file\n"
        ), done.stderr
        assert list(folder.iterdir()) == []
        folder.chmod(0o777)
        assert python(READ_ONLY, folder / "runs.db").stdout == "", (
            "it was the folder that could not be written"
        )


READER = """
import contextlib, io, os, sys
from phenes import cli

def say(command, *more):
    with contextlib.suppress(SystemExit):
        cli.main([command, sys.argv[1], "--json", *more])

with contextlib.redirect_stdout(io.StringIO()):  # whoever comes later cannot import
    for command in sys.argv[3:]:
        say(command, *(["--out", sys.argv[1] + ".first.png"] * (command == "show")))
os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.chdir(sys.argv[2])
for command in sys.argv[3:]:
    say(command)
"""

KILLED = """
import os, sys
import numpy as np
from phenes.store import Store
run = Store(sys.argv[1]).begin("toy", {})
run.add("a", {"f": np.ones(2)}, 0.0)
os.kill(os.getpid(), 9)
"""


@pytest.mark.machine
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0,
    reason="only root can become somebody who may not write",
)
@pytest.mark.tier("runs")
@pytest.mark.parametrize("mode", [0o755, 0o777], ids=["folder not writable", "file not writable"])
def test_whoever_may_only_read_sees_the_runs(tmp_path, mode):
    """A live run is live for him too, and he leaves nothing behind that would be in its way."""
    folder, desk, seen = tmp_path / "runs", tmp_path / "desk", []
    path = folder / "runs.db"
    folder.mkdir()
    desk.mkdir()
    desk.chmod(0o777)

    def look(*commands):
        before = {file.name for file in folder.iterdir()}
        with passable(tmp_path):
            done = python(READER, path, desk, *commands)
        new = {file.name for file in folder.iterdir()} - before
        assert new <= {"runs-1.png", "runs.db.first.png"}, "pictures, if the folder is open to all"
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def callback(result):
        if not seen:
            folder.chmod(mode)
            seen.append(look("runs"))

    solve(path, callback=callback)
    assert [run["status"] for said in seen[0] for run in said["runs"]] == ["running"]
    runs, watched, shown = look("runs", "watch", "show")
    assert runs["runs"][0]["status"] == watched["status"] == shown["status"] == "done"
    assert shown["done"] == 200
    assert (desk / "runs-1.png").exists() == (mode == 0o755)
    python(KILLED, path)
    (killed,) = look("runs")
    assert [run["status"] for run in killed["runs"]] == ["done", "interrupted"]
    assert solve(path).nfev == 200, "nothing is in the way of its owner"


@contextlib.contextmanager
def passable(folder):
    """Whoever is not root gets as far as this folder: those of pytest are closed to others."""
    closed = [
        (each, each.stat().st_mode)
        for each in (folder, *folder.parents)
        if not each.stat().st_mode & 0o001
    ]
    for each, mode in closed:
        each.chmod(mode | 0o001)
    try:
        yield
    finally:
        for each, mode in closed:
            each.chmod(mode)


@pytest.mark.machine
def test_two_processes_on_one_run(tmp_path):
    path = tmp_path / "run.db"
    seen = []

    def callback(result):
        if not seen:
            seen.append(python(TRY, path).stdout)
            assert held(path, 1)

    solve(path, callback=callback)
    assert seen == [
        f"run 1 of {path} is being written by process {os.getpid()}: wait for it, or end it first\n"
    ]
    assert not held(path, 1)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.db"]


TRY = """
import sys, numpy as np, phenes
try:
    phenes.minimize(lambda x: float(np.sum(x**2)), np.full(3, 1.5), 0.5, 0.1,
                    budget=200, seed=4, checkpoint=sys.argv[1], resume="anyway")
except ValueError as error:
    print(error)
"""


@pytest.mark.machine
@pytest.mark.parametrize("max_attempts", [3, 1])
def test_of_programs_that_start_on_a_new_file_at_once_one_runs(tmp_path, max_attempts):
    """Nothing is evaluated twice, and the others say why they do not run."""

    def program(path):
        calls = []

        def f(x):
            calls.append(1)
            time.sleep(0.006)  # the run is under way when the others come
            return sphere(x)

        start.wait()
        try:
            given = {"budget": 100, "popsize": 100, "checkpoint": path}
            phenes.minimize(f, np.full(3, 1.5), 0.5, max_attempts=max_attempts, **given)
        except ValueError as error:
            return len(calls), str(error)
        return len(calls), "ran"

    for k in range(3):
        start = threading.Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            said = sorted(pool.map(program, [tmp_path / f"{k}.db"] * 4))
        assert said[-1] == (100, "ran")
        assert [calls for calls, _ in said[:3]] == [0, 0, 0]
        assert all(error.startswith("run 1 of") for _, error in said[:3])
        assert all("is being written by process" in error for _, error in said[:3])


NO_ROOM = """
import os, resource, sys
from pathlib import Path
from phenes.store.lock import Lock
path, endless = Path(sys.argv[1]), resource.RLIM_INFINITY
resource.setrlimit(resource.RLIMIT_FSIZE, (0, endless))
try:
    Lock(path, 1)
except ValueError as error:
    print(error)
print(os.listdir(path.parent))
resource.setrlimit(resource.RLIMIT_FSIZE, (endless, endless))
lock = Lock(path, 1)
print(os.listdir(path.parent))
"""


@pytest.mark.machine
def test_no_room_for_the_lock_leaves_none_behind(tmp_path):
    path = tmp_path / "runs.db"
    refused, before, after = python(NO_ROOM, path).stdout.splitlines()
    assert refused == f"run 1 of {path} cannot be locked: File too large ({path}-lock1)"
    assert before == "[]"
    assert after == "['runs.db-lock1']", "there is room again"


@pytest.mark.machine
def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "runs.db"
    code = (
        "import os, sys; from phenes.store import Store; Store(sys.argv[1]).begin('toy', {});"
        " os.kill(os.getpid(), 9)"
    )
    python(code, path)
    with Store(path) as store:
        assert store.last("toy").status == "interrupted"
        run = store.begin("toy", {}, resume=True)
        assert run.about.id == 1
        assert run.status == "running"
        run.finish()
        assert run.status == "done"


def forge(path, payload):
    with Store(path) as store:
        run = store.begin("minimize", {})
        run.add("00000000", {"f": np.zeros(1)}, 0.0)
        store.database.commit(("UPDATE parts SET payload = ?", (payload,)))
        return run.about.id


def test_a_malicious_file_runs_nothing(tmp_path):
    proof = tmp_path / "proof"
    for k, payload in enumerate(payloads(proof)):
        path = tmp_path / f"{k}.db"
        forge(path, payload)
        with (
            Store(path) as store,
            pytest.raises(ValueError, match=r"part '00000000' of .* is damaged"),
        ):
            store.last("minimize")["00000000"]
        with pytest.raises(ValueError, match=r"damaged|other settings"):
            solve(path)
    assert not proof.exists()


SETTINGS = {"seeds": 2, "functions": (1, 2)}

WRITER = """
import sys, time
import numpy as np
from phenes.store import Store
with Store(sys.argv[1]) as store:
    run = store.begin("toy", {"seeds": 2, "functions": (1, 2)})
    for k in range(1000):
        run.add(str(k), {"gap": np.full(1000, float(k))}, 0.0)
        print(k, flush=True)
        time.sleep(0.01)
"""


@pytest.mark.machine
def test_a_killed_writer_loses_no_finished_part(tmp_path):
    path = tmp_path / "runs.db"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(5)]
        os.kill(writer.pid, signal.SIGKILL)
        said += writer.stdout.readlines()
    done = [line.strip() for line in said if line.endswith("\n")]
    assert writer.returncode == -signal.SIGKILL
    with Store(path) as store:
        run = store.begin("toy", SETTINGS, resume=True)
        assert run.keys() >= set(done)
        assert len(run.keys()) <= len(done) + 1
        for key in run:
            np.testing.assert_array_equal(run[key]["gap"], float(key))
        run.add("after", {"gap": np.zeros(1)}, 0.0)


def test_a_damaged_part(tmp_path):
    with Store(tmp_path / "runs.db") as store:
        run = store.begin("toy", {})
        run.add("a", {"gap": np.ones(1)}, 0.0)
        store.database.commit(("UPDATE parts SET payload = ?", (b"PK",)))
        with pytest.raises(ValueError, match=r"part 'a' of .* is damaged"):
            run["a"]
