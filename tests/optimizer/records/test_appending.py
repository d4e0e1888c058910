"""The file of a checkpoint: every call is on it, or none of it is."""

import errno
import os

import numpy as np
import pytest

import phenes
from phenes.optimizer.records.appending import Appending


def make(path, **changes):
    options = {"batch": 3, "budget": 30, "engine": "adaptive", "checkpoint": path} | changes
    return phenes.Optimizer(np.zeros(2), 0.5, 0.1, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lab.phenes"


def full(file, content, write=os.write):
    """Writes some of it, as a disk does that is full in the middle of it."""
    if len(content) < 20:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return write(file, content[: len(content) // 2])


def test_what_cannot_be_written_was_not_told(path, monkeypatch):
    opt = make(path)
    theta = opt.ask()
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(ValueError, match="No space left on device; what it held before is in"):
            opt.tell(theta, theta.sum(axis=1), realised=theta)
        assert path.read_bytes() == before
        assert opt.nfev == 0
        with pytest.raises(ValueError, match="No space left on device"):
            opt.budget = 40
        assert opt.budget == 30
    opt.tell(theta, theta.sum(axis=1), realised=theta)
    assert make(path).nfev == 3


def test_what_was_asked_and_not_written_is_written_with_the_next_call(path, monkeypatch):
    opt, whole = make(path), make(None)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(ValueError, match="No space left on device"):
            opt.ask()
    theta = whole.ask()
    np.testing.assert_array_equal(opt.pending, theta)
    for one in (opt, whole):
        one.tell(theta, theta.sum(axis=1), realised=theta)
    np.testing.assert_array_equal(make(path).ask(), whole.ask())


def test_a_new_file_that_cannot_be_written_is_no_run(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(ValueError, match="No space left on device"):
            make(path)
    assert path.read_bytes() == b""
    assert make(path).nfev == 0


def test_other_files_are_left_alone(path):
    path.write_text("theta,f\n1,2\n")
    with pytest.raises(ValueError, match="is not a saved Optimizer"):
        make(path)
    assert path.read_text() == "theta,f\n1,2\n"
    with pytest.raises(ValueError, match="cannot be written: Is a directory"):
        make(path.parent)


def test_a_damaged_line_is_no_call_that_was_never_finished(path):
    make(path).ask()
    content = path.read_bytes()
    path.write_bytes(content[:-30] + b"0" + content[-29:])
    with pytest.raises(ValueError, match="is damaged in line 2"):
        make(path)


def test_files_are_closed_with_the_run(path):
    opened = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else None
    for _ in range(5):
        file = Appending(path)
    file.close()
    file.close()
    for _ in range(3):
        path.write_text('{"phenes":"optimizer"}\n')
        with pytest.raises(ValueError, match="is damaged"):
            Appending(path)
    if opened is not None:
        assert len(os.listdir("/proc/self/fd")) == opened
