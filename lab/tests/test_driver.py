"""Processes that fail, stop and are resumed; rows on file."""

import dataclasses
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from phenes_lab import _pinned_pool, driver

from phenes.store import Store


def fragile(task):
    if task == 2:
        raise RuntimeError("two is too much")
    if task == 3:
        os._exit(7)
    return os.getpid(), os.environ["OPENBLAS_NUM_THREADS"], len(os.sched_getaffinity(0))


@dataclasses.dataclass(frozen=True)
class Numbers:
    factor: int


class FakeExperiment(driver.Experiment):
    """Modules that are not imported from anywhere."""

    def module(self, name):
        compute = SimpleNamespace(
            tasks=lambda settings: {"a": 1, "b": 2, "c": 3}, cost=lambda settings, task: task
        )
        results = SimpleNamespace(load=self.load)
        figures = SimpleNamespace(figures=lambda results, out: [])
        report = SimpleNamespace(
            report=lambda results, out: None,
            summary=lambda results: {"sum": sum(results.values())},
        )
        return {"compute": compute, "results": results, "figures": figures, "report": report}[name]

    @staticmethod
    def load(store):
        run = store.last("made-up")
        return {key: int(run[key]["x"]) for key in run if not key.startswith(driver.SESSION)}


@pytest.fixture
def made_up(monkeypatch):
    product = lambda settings, task: {"x": np.array(settings.factor * task)}  # noqa: E731
    monkeypatch.setitem(sys.modules, "made_up.compute", SimpleNamespace(compute=product))
    monkeypatch.setitem(sys.modules, "made_up", SimpleNamespace(__path__=[]))
    return FakeExperiment("made-up", "made_up", "Numbers")


class TestWorkers:
    def test_errors_and_deaths_are_told_and_the_others_go_on(self):
        cores, environment = os.sched_getaffinity(0), dict(os.environ)
        done = {answer.task: answer for answer in _pinned_pool.each(fragile, [1, 2, 3, 4, 5, 6], 2)}
        assert sorted(done) == [1, 2, 3, 4, 5, 6]
        assert "two is too much" in str(done[2].error)
        assert "exit code 7" in str(done[3].error)
        for task in (1, 4, 5, 6):
            assert done[task].error is None
            assert done[task].result[1:] == ("1", 1)
        assert os.sched_getaffinity(0) == cores
        assert dict(os.environ) == environment

    def test_failed_parts_are_named_and_the_rest_is_kept(self, tmp_path, inline, made_up):
        inline.fails = lambda task: "Traceback\nKeyError: x" if task[0] == "b" else None
        with pytest.raises(RuntimeError, match=r"b failed .*--resume \(KeyError: x\)"):
            driver.run(made_up, Numbers(3), tmp_path)
        with Store(tmp_path / "made-up.db") as store:
            run = store.last("made-up")
            assert run.about.status == "failed"
            assert {"a", "c"} <= run.keys()
            assert "b" not in run
        inline.fails = lambda task: None
        outcome = driver.run(made_up, Numbers(3), tmp_path, resume=True)
        assert [task[0] for task in inline.given] == ["a", "b", "c", "b"]
        assert outcome.results == {"a": 3, "b": 6, "c": 9}
        summary = json.loads((tmp_path / "summary.json").read_text())
        assert summary["sum"] == 18
        assert len(summary["made"]) == 2  # sessions

    def test_a_session_that_is_stopped_signs_what_it_made(self, tmp_path, inline, made_up):
        def stopped(task):
            if task[0] == "c":
                raise KeyboardInterrupt

        inline.fails = stopped
        with pytest.raises(KeyboardInterrupt):
            driver.run(made_up, Numbers(3), tmp_path)
        with Store(tmp_path / "made-up.db") as store:
            (session,) = driver.sessions(store.last("made-up"))
        assert session.parts == 2

    def test_a_session_signs_the_code_that_it_began_with(
        self, tmp_path, inline, made_up, monkeypatch
    ):
        """Before the first part; and each session what is its own."""
        monkeypatch.setattr(driver.provenance, "commit", lambda: "aaaaaaaaaa")

        def edited(task):
            if task[0] == "b":
                monkeypatch.setattr(driver.provenance, "commit", lambda: "bbbbbbbbbb")
            if task[0] == "c":
                raise KeyboardInterrupt

        inline.fails = edited
        with pytest.raises(KeyboardInterrupt):
            driver.run(made_up, Numbers(3), tmp_path)
        inline.fails = lambda task: None
        with pytest.warns(UserWarning, match="were made with commit aaaaaaaaaa"):
            driver.run(made_up, Numbers(3), tmp_path, resume=True)
        with Store(tmp_path / "made-up.db") as store:
            sessions = driver.sessions(store.last("made-up"))
        assert [(each.made["commit"], each.parts) for each in sessions] == [
            ("aaaaaaaaaa", 2),
            ("bbbbbbbbbb", 1),
        ]

    def test_the_first_failure_ends_what_keeps_nothing(self, inline):
        inline.fails = lambda task: "Traceback\nno" if task == 2 else None
        calls = []
        tell = lambda *counts: calls.append(counts)  # noqa: E731
        with pytest.raises(RuntimeError, match="number 2 failed: no"):
            list(driver.each(abs, [-1, 2, 3], lambda task: f"number {task}", tell))
        assert calls == [(0, 3), (1, 3)]

    @pytest.mark.machine
    def test_interrupt_ends_the_processes(self):
        code = """
import multiprocessing, signal, time
from phenes_lab import _pinned_pool
if __name__ == "__main__":
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 3)
    try:
        list(_pinned_pool.each(time.sleep, [60, 60], 2))
    except KeyboardInterrupt:
        print(len(multiprocessing.active_children()))
"""
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=40, check=True
        )
        assert done.stdout.split() == ["0"]
        assert done.stderr == ""


def test_rows_on_file(tmp_path):
    file = driver.RowFile(tmp_path / "new" / "rows.jsonl", {"seed": 1})
    assert file.read(resume=True) == []
    file.add({"x": np.inf})
    with file.path.open("a") as half:
        half.write('{"x": 2')  # killed while it wrote
    assert file.read(resume=True) == [{"x": "inf"}]
    with pytest.raises(ValueError, match="was made with"):
        driver.RowFile(file.path, {"seed": 2}).read(resume=True)
    assert len(json.loads(file.made.read_text())) == 2
    assert file.read(resume=False) == []
    assert len(json.loads(file.made.read_text())) == 1
