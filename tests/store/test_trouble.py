"""Full disks, read-only folders, foreign and malicious files, two writers: one sentence each, and
nothing destroyed.
"""

import contextlib
import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import phenes
from phenes.store import Store
from phenes.store.lock import held

pytestmark = pytest.mark.machine


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
    phenes.minimize(lambda x: float(np.sum(x**2)), np.full(3, 1.5), 0.5, 0.1, budget=2000, seed=4, checkpoint=sys.argv[1])
except ValueError as error:
    print(error)
"""


def python(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_full_disk_and_then_room_again(tmp_path):
    path = tmp_path / "run.db"
    done = python(FILLED, path, 150_000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path} cannot be written: ")
    assert "intact" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    with Store(path, create=False) as store:
        kept = [key for key in store.last("minimize") if key.isdigit()]
    assert len(kept) > 3
    calls = []
    options = {"budget": 2000, "seed": 4}
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
    phenes.minimize(lambda x: float(np.sum(x**2)), np.full(3, 1.5), 0.5, 0.1, budget=200, seed=4, checkpoint=sys.argv[1])
except ValueError as error:
    print(error)
"""


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


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def forge(path, payload):
    with Store(path) as store:
        run = store.begin("minimize", {})
        run.add("00000000", {"f": np.zeros(1)}, 0.0)
        store.database.commit(("UPDATE parts SET payload = ?", (payload,)))
        return run.about.id


def test_a_malicious_file_runs_nothing(tmp_path):
    proof = tmp_path / "proof"
    array = np.empty(1, object)
    array[0] = Malicious(proof)
    archive, single = io.BytesIO(), io.BytesIO()
    np.savez(archive, f=array, allow_pickle=True)
    np.save(single, array, allow_pickle=True)
    for k, payload in enumerate(
        [archive.getvalue(), single.getvalue(), pickle.dumps(Malicious(proof))]
    ):
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


def test_settings_that_are_no_settings(tmp_path):
    path = tmp_path / "runs.db"
    with Store(path) as store:
        store.begin("toy", {})
        store.database.commit(("UPDATE runs SET settings = 'import os'", ()))
        with pytest.raises(ValueError, match="settings of a run are not JSON"):
            store.runs()


def test_several_parts_at_once_or_none(tmp_path):
    with Store(tmp_path / "runs.db") as store:
        run = store.begin("toy", {})
        run.write({"a": {"f": np.zeros(2)}, "b": {"f": np.ones(2)}}, 0.0)
        run.write({"c": {"f": np.ones(1)}}, 0.0, drop=["a", "b"])
        assert list(run) == ["c"]
        with pytest.raises(ValueError, match="objects in f"):
            run.write({"d": {"f": np.ones(1)}, "e": {"f": np.array([print])}}, 0.0, drop=["c"])
        assert list(run) == ["c"]
