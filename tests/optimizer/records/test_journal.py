"""What is pending: what was handed out less what was told, by its numbers."""

import pickle

import numpy as np

import phenes
from phenes.optimizer.records import journal
from phenes.optimizer.records.journal import Journal

ROWS = np.arange(8.0).reshape(4, 2)


def test_what_is_told_is_no_longer_pending():
    book = Journal(2)
    book.ask(ROWS, 0)
    book.verify(ROWS[[1, 1]])
    book.tell(ROWS[[1, 3]], np.zeros(2), ROWS[[1, 3]])
    np.testing.assert_array_equal(book.pending, ROWS[[0, 1, 1, 2]])
    book.tell(ROWS[[1, 1, 1]], np.zeros(3), ROWS[[1, 1, 1]])  # one more than there were
    book.tell(ROWS + 0.5, np.zeros(4), ROWS)  # never asked
    np.testing.assert_array_equal(book.pending, ROWS[[0, 2]])
    book.withdraw(ROWS[:1])
    np.testing.assert_array_equal(book.pending, ROWS[2:3])
    assert len(book.calls) == 6


def test_zero_is_zero():
    book = Journal(1)
    book.ask(np.array([[0.0]]), 0)
    book.tell(np.array([[-0.0]]), np.zeros(1), np.zeros((1, 1)))
    assert book.pending.shape == (0, 1)


def test_what_is_kept_is_not_what_the_caller_changes():
    book = Journal(2)
    theta = ROWS.copy()
    book.ask(theta, 0)
    theta[:] = 0
    np.testing.assert_array_equal(book.calls[0].theta, ROWS)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(journal, "MOST_ROWS", 6)
    monkeypatch.setattr(journal, "MOST_PENDING", 3)
    book = Journal(2)
    book.ask(ROWS, 0)
    np.testing.assert_array_equal(book.pending, ROWS[1:])
    book.tell(ROWS, np.zeros(4), ROWS)
    assert book.complete
    book.tell(ROWS, np.zeros(4), ROWS)
    assert not book.complete
    assert not book.calls


def test_a_copy_writes_no_file(tmp_path):
    options = {"engine": "adaptive", "checkpoint": tmp_path / "a.phenes"}
    opt = phenes.Optimizer(np.zeros(2), 0.5, 0.1, batch=3, **options)
    theta = opt.ask()
    copy = pickle.loads(pickle.dumps(opt))
    before = (tmp_path / "a.phenes").read_bytes()
    copy.ask()
    assert (tmp_path / "a.phenes").read_bytes() == before
    opt.tell(theta, theta.sum(axis=1))
    assert (tmp_path / "a.phenes").read_bytes() != before
