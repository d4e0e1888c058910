"""Files of runs: to the last bit, whole or not at all, and whatever else is in them is refused."""

import errno
import json
import os
import resource
import sqlite3
import zipfile

import numpy as np
import pytest

import phenes
from phenes.optimizer.records import saved
from phenes.optimizer.records.journal import ASK, BUDGET, TELL, VERIFY, Call

LOAD = phenes.Optimizer.load


def run(calls=2, **options):
    options = {"noise": 0.1, "batch": 3, "budget": 30, "engine": "adaptive"} | options
    opt = phenes.Optimizer(np.zeros(2), 0.5, **options)
    for _ in range(calls):
        theta = opt.ask()
        opt.tell(theta[1:], theta[1:].sum(axis=1), realised=theta[1:])
    return opt


@pytest.fixture
def path(tmp_path):
    run().save(tmp_path / "lab.phenes")
    return tmp_path / "lab.phenes"


def test_calls_come_back_to_the_last_bit():
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((3, 2)) * 10.0 ** rng.integers(-300, 300, (3, 2))
    x, f = theta.copy(), np.array([1e-320, -0.0, np.nan])
    x[0, 1] = np.nan
    none, empty = np.empty(0), np.empty((0, 2))
    calls = [
        Call(ASK, theta, empty, none, 7),
        Call(TELL, theta, x, f),
        Call(VERIFY, theta[:1], empty, none),
        Call(BUDGET, empty, empty, none, 12),
    ]
    content, _ = saved.lines(map(saved.encode, calls))
    for line, call in zip(content.splitlines(), calls, strict=True):
        back = saved.decode(json.loads(line), 2)
        assert (back.kind, back.number) == (call.kind, call.number)
        for a, b in zip(back[1:4], call[1:4], strict=True):
            assert a.tobytes() == b.tobytes()


def test_an_infinite_value_is_kept_as_none():
    call = Call(TELL, np.zeros((2, 1)), np.zeros((2, 1)), np.array([np.inf, -np.inf]))
    assert saved.encode(call)["f"] == [None, None]


def test_a_file_is_text_that_others_read(path):
    first, *calls = [json.loads(line) for line in path.read_text().splitlines()]
    assert first["phenes"] == "optimizer"
    assert first["settings"]["x0"] == [0, 0]
    assert [each["call"] for each in calls] == ["ask", "tell", "ask", "tell"]
    assert len(calls[1]["f"]) == 2


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(path, monkeypatch, call, code):
    before = path.read_bytes()

    def fails(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, call, fails)
    with pytest.raises(ValueError, match=r"cannot be written: .*; what it held before is intact"):
        run(5).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.fixture
def full(path):
    """The system refuses files longer than this one, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
    yield path
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_system_that_writes_no_more_leaves_the_old_file(full):
    opt, before = run(5), full.read_bytes()
    with pytest.raises(ValueError, match="cannot be written: File too large; what it held"):
        opt.save(full)
    assert full.read_bytes() == before
    assert list(full.parent.iterdir()) == [full]
    assert LOAD(full).nfev == 4


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ValueError, match="cannot be written: No such file or directory"):
        run().save(tmp_path / "nowhere" / "lab.phenes")


def test_a_link_stays_a_link(path):
    link = path.with_name("link.phenes")
    link.symlink_to(path)
    opt = run(3)
    opt.save(link)
    assert link.is_symlink()
    assert LOAD(path).nfev == opt.nfev


def refused(path):
    with pytest.raises(ValueError, match=r"\S") as error:
        LOAD(path)
    text = str(error.value)
    assert path.name in text
    assert "\n" not in text
    assert text.isprintable()
    assert len(text) < 600
    return text


def test_every_truncation_is_noticed(path):
    whole = path.read_bytes()
    for end in [*range(0, len(whole), 41), len(whole) - 1]:
        path.write_bytes(whole[:end])
        refused(path)


def test_every_flipped_bit_is_noticed(path):
    whole = path.read_bytes()
    for place in range(0, len(whole), 29):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        refused(path)


def test_lines_that_are_missing_or_moved_are_noticed(path):
    first, *calls = path.read_bytes().splitlines(keepends=True)
    for order in ([0, 1, 3, 2], [0, 1, 2], [1, 2, 3], [0, 1, 2, 3, 3]):
        path.write_bytes(first + b"".join(calls[k] for k in order))
        refused(path)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("theta,f\n1,2\n")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    with zipfile.ZipFile(tmp_path / "zip", "w") as file:
        file.writestr("a", "b")
    sqlite3.connect(tmp_path / "sqlite").execute("CREATE TABLE a (b)").connection.close()
    for name in ("empty", "text", "binary", "zip", "sqlite"):
        assert "is not a saved Optimizer" in refused(tmp_path / name)
    (tmp_path / "folder").mkdir()
    assert "is not a file" in refused(tmp_path / "folder")
    assert "does not exist" in refused(tmp_path / "nothing")


def forged(path, change):
    """The file with its records changed, and checksums that fit."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        del record["sum"]
    change(records)
    path.write_bytes(saved.lines(records)[0])


def deep(depth):
    value = 1.0
    for _ in range(depth):
        value = [value]
    return value


SETTINGS = {
    "no x0": ("x0", ...),
    "x0 of words": ("x0", ["a", "b"]),
    "x0 of lists": ("x0", [[0.0], [0.0]]),
    "x0 infinite": ("x0", ["inf", 0.0]),
    "x0 deep": ("x0", deep(50)),
    "no coordinate": ("x0", []),
    "sigma0 negative": ("sigma0", [-1.0, 1.0]),
    "bounds the wrong way round": ("lower", [9.0, 9.0]),
    "bounds of words": ("upper", "import os"),
    "budget not whole": ("budget", 1.5),
    "budget absurd": ("budget", 10**400),
    "batch absurd": ("batch", 10**12),
    "popsize beside batch": ("popsize", 10**12),
    "seed a list": ("seed", [1]),
    "maximize a number": ("maximize", 3),
    "engine unknown": ("engine", "os.system"),
    "verify more than the budget": ("verify", 1000),
    "no noise": ("noise", ...),
    "noise of another kind": ("noise", {"kind": "pickle"}),
    "noise of another size": ("noise", {"kind": "gaussian", "cov": [1.0], "bias": [0.0, 0.0]}),
    "noise no covariance": (
        "noise",
        {"kind": "gaussian", "cov": [[1.0, 2.0], [2.0, 1.0]], "bias": [0.0, 0.0], "gain": None},
    ),
    "noise of a foreign class": (
        "noise",
        {"kind": "law", "law": {"of": "os.system", "fields": {}}, "cov": [1], "bias": [0]},
    ),
    "noise of other parts": (
        "noise",
        {"kind": "law", "law": {"of": "LaplaceNoise", "fields": {"sample": None}}},
    ),
    "noise that is a list": ("noise", [0.1]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_hostile_settings_are_refused(path, name):
    key, value = SETTINGS[name]

    def change(records):
        records[0]["settings"][key] = value
        if value is ...:
            del records[0]["settings"][key]

    forged(path, change)
    refused(path)


CALLS = {
    "unknown": {"call": "eval", "theta": [[0.0, 0.0]]},
    "none": {"theta": [[0.0, 0.0]]},
    "no theta": {"call": "ask", "pending": 0},
    "theta of three": {"call": "ask", "theta": [[0.0, 0.0, 0.0]], "pending": 0},
    "theta ragged": {"call": "ask", "theta": [[0.0, 0.0], [0.0]], "pending": 0},
    "theta not there": {"call": "ask", "theta": [[0.0, None]], "pending": 0},
    "theta infinite": {"call": "tell", "theta": [["inf", 0.0]], "x": [[0.0, 0.0]], "f": [0.0]},
    "theta deep": {"call": "ask", "theta": deep(60), "pending": 0},
    "theta empty": {"call": "verify", "theta": []},
    "pending negative": {"call": "ask", "theta": [[0.0, 0.0]], "pending": -1},
    "more f than theta": {
        "call": "tell",
        "theta": [[0.0, 0.0]],
        "x": [[0.0, 0.0]],
        "f": [0.0, 1.0],
    },
    "no x": {"call": "tell", "theta": [[0.0, 0.0]], "f": [0.0]},
    "budget of none": {"call": "budget", "budget": 0},
}


@pytest.mark.parametrize("name", CALLS)
def test_hostile_calls_are_refused(path, name):
    forged(path, lambda records: records.__setitem__(3, CALLS[name]))
    assert "is damaged in line 4" in refused(path)


def test_other_formats_are_refused(path):
    forged(path, lambda records: records[0].__setitem__("format", 2))
    assert "has format 2 of a saved Optimizer, this version of phenes reads format 1" in refused(
        path
    )


def test_brackets_without_end_are_refused(path):
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first + b'{"call":' + b"[" * 200_000 + b',"sum":"00000000"}\n')
    refused(path)
    body = b'{"call":' + b"[" * 200_000
    checksum = saved.zlib.crc32(first[: -saved.SUM - 1] + b"}")
    end = b',"sum":"%08x"}\n' % saved.zlib.crc32(body + b"}", checksum)
    path.write_bytes(first + body + end)
    refused(path)
