"""Full disks, read-only folders, foreign and malicious files, two writers: one sentence each, and
nothing destroyed.
"""

import contextlib
import os
import signal
import subprocess
import sys

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
                    budget=600, seed=4, checkpoint=sys.argv[1])
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
    options = {"budget": 600, "seed": 4}
    result = phenes.minimize(
        lambda x: calls.append(1) or sphere(x),
        np.full(3, 1.5),
        0.5,
        0.1,
        checkpoint=path,
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
                    budget=200, seed=4, checkpoint=sys.argv[1])
except ValueError as error:
    print(error)
"""


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
