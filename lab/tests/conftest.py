"""Parts that are computed in this process: the start of another one costs more than they do."""

import traceback

import jax
import pytest
from phenes_lab import _pinned_pool


class Inline:
    """In place of `_pinned_pool.each`. given: the tasks so far; fails(task): a reason, or None."""

    def __init__(self):
        self.given, self.fails = [], lambda task: None

    def __call__(self, compute, tasks, workers):
        for task in tasks:
            self.given.append(task)
            result, error = None, self.fails(task)
            if error is None:
                try:
                    # a worker has its own JAX: single precision, and promotion as users have it
                    with jax.numpy_dtype_promotion("standard"):
                        result = compute(task)
                except Exception:
                    error = traceback.format_exc()
                finally:
                    jax.config.update("jax_enable_x64", True)
            yield _pinned_pool.Done(task, result, error, 0.1)


@pytest.fixture
def inline(monkeypatch):
    pool = Inline()
    monkeypatch.setattr(_pinned_pool, "each", pool)
    return pool


@pytest.fixture(scope="module")
def inline_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pinned_pool, "each", pool := Inline())
        yield pool
