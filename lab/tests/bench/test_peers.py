"""The way from settings to a report: what is run, kept, resumed, run again and said."""

import dataclasses
import importlib.util
import json

import numpy as np
import pytest
from phenes_lab import contenders, driver
from phenes_lab.bench.peers import report, results, tables
from phenes_lab.bench.peers.run import PEERS, run
from phenes_lab.bench.peers.settings import Part, PeersSettings, Problem, held_out
from phenes_lab.contenders import CONTENDERS
from phenes_lab.driver import conclude
from phenes_lab.provenance import commit

from phenes.store import Store

needs_peers = pytest.mark.skipif(
    any(importlib.util.find_spec(m) is None for m in ("cma", "cmaes", "evosax")),
    reason="peers are extras",
)


class TestSettings:
    def test_the_grid_is_apart_from_the_conditions(self):
        a, b = (
            PeersSettings(dims=(10,), instances=(1,)),
            PeersSettings(dims=(40,), instances=(4, 5), peers=("phenes",)),
        )
        assert a.conditions == b.conditions
        assert a.conditions != dataclasses.replace(a, seeds=6).conditions
        assert set(a.peers) == set(CONTENDERS)

    def test_without_noise_only_unimodal_functions_and_no_twins(self):
        parts = PeersSettings(sigmas=(0.0,)).parts
        assert {p.problem.function for p in parts} == set(range(1, 15)) - {3, 4}
        assert {p.peer for p in parts} == {
            "phenes",
            "pycma",
            "pycma-100",
            "pycma-lq",
            "cmaes",
            "cmaes-lra",
            "evosax-cma",
            "evosax-snes",
        }

    def test_keys_are_read_back(self):
        problem = Problem(40, 0.01, 7, 4)
        assert Problem.from_key(problem.key) == problem

    def test_held_out_instances(self):
        assert [i for i in range(1, 7) if held_out(i)] == [4, 5, 6]

    def test_checkpoints_end_with_the_budget(self):
        grid = PeersSettings(budget=50, checkpoints=10).checkpoint_grid(4)
        assert (grid[0], grid[-1]) == (16, 200)
        assert np.all(np.diff(grid) > 0)

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            ({"dims": (1,)}, "dims must be integers of at least 2, got 1"),
            ({"sigmas": (-0.1,)}, "sigmas must be non-negative"),
            ({"functions": (0, 3)}, "functions must be numbers from 1 to 24, got 0, 3"),
            ({"instances": ()}, "instances must be integers of at least 1, got none"),
            ({"peers": ("nobody",)}, "peers must be names among phenes, .*, got nobody"),
            ({"seeds": 0}, "seeds must be a whole number of at least 1"),
        ],
    )
    def test_misuse_is_named(self, wrong, said):
        with pytest.raises(ValueError, match=said):
            PeersSettings(**wrong)

    def test_a_library_that_is_not_there(self, monkeypatch, tmp_path):
        monkeypatch.setattr(contenders.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(ValueError, match="contenders need cma, cmaes, evosax"):
            run(PeersSettings(peers=("pycma", "cmaes", "evosax-cma")), tmp_path)


TINY = PeersSettings(
    dims=(3,),
    sigmas=(0.1,),
    functions=(1, 6),
    instances=(1, 4),
    peers=("phenes", "phenes-theta", "cmaes", "pycma-x"),
    seeds=2,
    budget=80,
    checkpoints=8,
    draws=64,
)


@pytest.fixture(scope="module")
def tiny(inline_module, tmp_path_factory):
    """From settings to report."""
    out, calls = tmp_path_factory.mktemp("peers"), []
    path, _ = run(TINY, out, progress=lambda done, total: calls.append((done, total)))
    return path, calls


@pytest.mark.tier("lab")
@needs_peers
class TestEndToEnd:
    def test_every_part_is_in_the_store(self, tiny):
        with Store(tiny[0], create=False) as store:
            loaded = results.load(store)
        assert set(loaded.problems) == set(TINY.problems)
        assert all(set(loaded.peers(p)) == set(TINY.peers) for p in loaded.problems)
        assert set(loaded.floors) == set(loaded.problems)
        done, total = zip(*tiny[1], strict=True)
        assert (done[0], done[-1]) == (0, total[0])
        assert list(done) == sorted(done)

    def test_report_picture_and_summary(self, tiny):
        out = tiny[0].parent
        text = (out / "report.md").read_text()
        for expected in (
            "f6 attractive sector",
            "held-out instances",
            "tuning instances",
            "peers-profile.png",
            "Lost at",
            "a ratio of",
            "without f1",
            "Runs that an error inside phenes ended: none.",
            f"| rival | {commit() or 'unknown'} |",
        ):
            assert expected in text
        assert "nan" not in text
        # what x is worth, in the score, of every function and among the others
        heads = [line for line in text.splitlines() if line.startswith("| function |")]
        assert len(heads) == 2
        assert all("| over phenes-theta |" in head for head in heads)
        told = [line.split(" | ")[3] for line in text.splitlines() if line.startswith("| f6 ")]
        assert len(told) == 2
        assert all(float(value) > 0 for value in told)
        assert sum(line.startswith("| phenes-theta | ") for line in text.splitlines()) == 4
        assert (out / "peers-profile.png").read_bytes()[:4] == b"\x89PNG"
        assert (out / "report.html").exists()
        with Store(tiny[0]) as store:
            assert tables.table(results.load(store)).row_count == 2
        summary = json.loads((out / "summary.json").read_text())
        assert summary["benchmark"] == "peers"
        assert [group["held_out"] for group in summary["groups"]] == [False, True]
        assert all(
            sum(group[w] for w in ("win", "tie", "loss", "none")) == 2
            for group in summary["groups"]
        )
        assert summary["rivals"] == ["pycma-x", "cmaes"]
        assert all(group["phenes-theta"] > 0 for group in summary["groups"])
        assert all(group["without f1"] != group["speedup"] for group in summary["groups"])
        assert {made["commit"] for made in summary["made"]} == {commit()}
        assert len(summary["made"]) == len(TINY.peers)

    def test_an_error_inside_phenes_and_other_commits_are_in_the_report(self, tiny, tmp_path):
        path = tmp_path / tiny[0].name
        path.write_bytes(tiny[0].read_bytes())
        with Store(path) as store:
            loaded = results.load(store)
            part = loaded.parts[loaded.problems[0]]["phenes"]
            part["error"] = np.array(["", "ValueError: a made-up error"])
            loaded.sessions["cmaes"][0].made["commit"] = "abcdef0123"
            (text, _) = report.report(loaded, tmp_path)
        said = text.read_text()
        assert "phenes on d3/s0.1/f01/i1, seed 1: ValueError: a made-up error" in said
        assert "Not all of it was made with the same commit" in said
        assert "| rival | abcdef0123 |" in said

    def test_resume_adds_what_is_asked_and_keeps_the_rest(self, tiny, tmp_path, inline):
        path = tmp_path / tiny[0].name
        path.write_bytes(tiny[0].read_bytes())
        more = dataclasses.replace(
            TINY, functions=(1, 2), instances=(4,), peers=("phenes", "cmaes")
        )
        run(more, tmp_path, resume=True)
        assert {t[0] for t in inline.given if isinstance(t[1], Part)} == {
            "d3/s0.1/f02/i4/phenes",
            "d3/s0.1/f02/i4/cmaes",
        }
        assert [t[0].key for t in inline.given if not isinstance(t[1], Part)] == ["d3/s0.1/f02/i4"]
        with Store(path) as store:
            assert len(results.load(store).problems) == 5

    def test_one_contender_is_run_again(self, tiny, tmp_path, inline):
        path = tmp_path / tiny[0].name
        path.write_bytes(tiny[0].read_bytes())
        only = dataclasses.replace(TINY, functions=(1,), instances=(4,))
        run(only, tmp_path, resume=True, renew=("phenes",))
        assert [t[0] for t in inline.given if isinstance(t[1], Part)] == ["d3/s0.1/f01/i4/phenes"]
        with Store(path) as store:
            loaded = results.load(store)
        # its old results, on other problems, are no longer those of its last run
        assert [p.key for p in loaded.problems if "phenes" in loaded.parts[p]] == ["d3/s0.1/f01/i4"]
        assert len(loaded.problems) == 4

    def test_all_of_them_again_under_other_conditions(self, tiny, tmp_path, inline):
        path = tmp_path / tiny[0].name
        path.write_bytes(tiny[0].read_bytes())
        other = dataclasses.replace(
            TINY, functions=(1,), instances=(4,), peers=("phenes", "cmaes"), seeds=1
        )
        run(other, tmp_path, resume=True, renew=other.peers)
        with Store(path) as store:
            loaded = results.load(store)
        assert [p.key for p in loaded.problems] == ["d3/s0.1/f01/i4"]
        assert loaded.conditions["seeds"] == 1

    def test_reports_run_nothing(self, tiny, tmp_path, inline):
        with Store(tiny[0]) as store:
            conclude(PEERS, store, tmp_path)
        assert not inline.given
        for file in ("report.md", "summary.json"):
            assert (tmp_path / file).read_text() == (tiny[0].parent / file).read_text()

    def test_what_was_stopped_has_its_commit_and_going_on_with_another_is_said(
        self, tmp_path, inline, monkeypatch
    ):
        few = dataclasses.replace(TINY, functions=(1,), instances=(4,), peers=("phenes", "cmaes"))

        def stopped(task):
            if isinstance(task[1], Part) and task[1].peer == "cmaes":
                raise KeyboardInterrupt

        inline.fails = stopped
        monkeypatch.setattr(driver.provenance, "commit", lambda: "abcdef0123")
        with pytest.raises(KeyboardInterrupt):
            run(few, tmp_path)
        with Store(tmp_path / "peers.db") as store:
            made = results.load(store).sessions
        assert [each.made["commit"] for each in made["phenes"]] == ["abcdef0123"]
        assert made["cmaes"] == []
        inline.fails = lambda task: None
        monkeypatch.undo()
        monkeypatch.setattr(driver._pinned_pool, "each", inline)
        with pytest.warns(UserWarning, match="parts of phenes were made with commit abcdef0123"):
            run(few, tmp_path, resume=True)

    def test_other_conditions_cannot_be_resumed(self, tiny):
        with pytest.raises(ValueError, match="seeds was 2 and is now 3"):
            run(dataclasses.replace(TINY, seeds=3), tiny[0].parent, resume=True)

    def test_renew_of_somebody_else(self, tmp_path):
        with pytest.raises(ValueError, match=r"among the contenders phenes, .* got pycma"):
            run(TINY, tmp_path, renew=("pycma",))

    def test_what_fails_is_named_and_the_rest_kept(self, tmp_path, inline):
        inline.fails = lambda task: (
            "Traceback\nKeyError: 'x'"
            if isinstance(task[1], Part) and task[1].peer == "cmaes"
            else None
        )
        few = dataclasses.replace(TINY, functions=(1,), instances=(4,), peers=("phenes", "cmaes"))
        with pytest.raises(RuntimeError, match=r"d3/s0.1/f01/i4/cmaes failed .*KeyError"):
            run(few, tmp_path)
        with Store(tmp_path / "peers.db") as store:
            assert {about.experiment: about.status for about in store.runs()} == {
                "peers/phenes": "done",
                "peers/cmaes": "failed",
            }
