"""The reproduction of the BBOB section: from settings to a report, through processes that fail,
stop and are resumed.
"""

import dataclasses
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.stats
from phenes_lab import _pinned_pool, driver, report
from phenes_lab.reproduce import bbob
from phenes_lab.reproduce.bbob import claims, execute, pictures, results, settings
from phenes_lab.reproduce.bbob.report import rank_bias

import phenes
from phenes import problems, search, weightings
from phenes.batch import Batch
from phenes.store import Store

TINY = bbob.Settings(
    functions=(1, 6),
    methods=("ES", "PAES"),
    printed=(1,),
    valued=(6,),
    dim=5,
    seeds=2,
    generations=30,
    checkpoints=6,
    draws=256,
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The experiment from end to end, on two processes."""
    out, calls = tmp_path_factory.mktemp("bbob"), []
    path = bbob.run(
        TINY, out, progress=lambda done, total: calls.append((done, total)), processes=2
    )
    return path, calls


def stored(tiny, key):
    with Store(tiny[0], create=False) as store:
        return store.last("bbob")[key]


class TestEndToEnd:
    def test_every_part_is_in_the_store(self, tiny):
        with Store(tiny[0], create=False) as store:
            run = store.last("bbob")
            assert {key for key in run if not key.startswith("session/")} == {
                p.key for p in TINY.parts
            }
            assert run.about.status == "done"
            arrays = run["f06/PAES"]
        recorded = TINY.recorded
        assert recorded[-1] == 30
        np.testing.assert_array_equal(arrays["generations"], recorded)
        for name in ("F_mean", "f_mean", "population", "best", "trace", "projected"):
            assert arrays[name].shape == (2, recorded.size)
            assert np.all(np.isfinite(arrays[name]))
        assert arrays["F_mean"].dtype == np.float64
        assert np.all(arrays["seconds"] > 0)

    def test_progress_ends_where_it_said(self, tiny):
        done, total = zip(*tiny[1], strict=True)
        assert len(set(total)) == 1
        assert list(done) == sorted(done)
        assert (done[0], done[-1]) == (0, total[0])

    def test_pictures_and_reports(self, tiny):
        out = tiny[0].parent
        names = {path.name for path in out.glob("*.png")}
        assert names == {
            f"bbob-{n}.png"
            for n in ("final", "selected", "time", "value", "curves-1", "curves-at-mean-1")
        }
        markdown, page = ((out / f"report.{kind}").read_text() for kind in ("md", "html"))
        for name in names:
            assert f"({name})" in markdown
            assert f'src="{name}"' in page
        for text in (markdown, page):
            assert "f6 attractive sector" in text
            assert "PAES - ES is" in text
        assert "nan" not in markdown.split()

    def test_summary_is_small_json(self, tiny):
        with Store(tiny[0]) as store:
            text = json.dumps(bbob.summary(store), allow_nan=False)
        assert len(text) < 20_000
        summary = json.loads(text)
        assert set(summary["functions"]) == {"f01", "f06"}
        assert set(summary["functions"]["f06"]["methods"]) == {
            "ES",
            "PAES",
            "ES-value",
            "PAES-value",
        }
        assert all(
            claim["verdict"] in (report.HOLDS, report.PARTLY, report.FAILS)
            for claim in summary["claims"]
        )

    def test_figures_and_report_run_nothing(self, tiny, tmp_path, monkeypatch):
        monkeypatch.setattr(_pinned_pool, "each", lambda *_: pytest.fail("an experiment was run"))
        with Store(tiny[0]) as store:
            assert len(bbob.figures(store, tmp_path)) == 6
            bbob.report(store, tmp_path)
        assert (tmp_path / "report.md").read_text() == (tiny[0].parent / "report.md").read_text()

    def test_resume_computes_what_is_missing_and_gets_the_same(self, tiny, monkeypatch):
        given = []
        each = _pinned_pool.each
        monkeypatch.setattr(
            _pinned_pool,
            "each",
            lambda compute, tasks, n: given.extend(tasks) or each(compute, tasks, n),
        )
        with Store(tiny[0]) as store:
            run = store.begin("bbob", dataclasses.asdict(TINY), resume=True)
            before = run["f01/ES"]
            store.database.commit(("DELETE FROM parts WHERE key = 'f01/ES'", ()))
            assert driver.collect(execute.BBOB, TINY, run, lambda done, total: None, 2) == {}
            assert [key for key, _ in given] == ["f01/ES"]
            for name in set(before) - {"seconds", "compilation"}:
                np.testing.assert_array_equal(run["f01/ES"][name], before[name])
            assert driver.collect(execute.BBOB, TINY, run, lambda done, total: None, 2) == {}
            assert len(given) == 1

    def test_resume_with_other_settings(self, tiny):
        with pytest.raises(ValueError, match="seeds was 2 and is now 3"):
            bbob.run(dataclasses.replace(TINY, seeds=3), tiny[0].parent, resume=True)


class TestPart:
    def test_the_loop_is_the_library_loop(self, tiny):
        """Segments between checkpoints are one run of `phenes.run` with the same key."""
        arrays = stored(tiny, "f01/PAES")
        problem = problems.bbob(1, 5)
        oiu = phenes.OIU(phenes.inputs.GaussianNoise(0.1), lambda x: problem.f_opt - problem(x))
        weighting = weightings.summed(weightings.truncated_ranks(0.8, 0.1))
        strategy = phenes.es(
            oiu.p,
            phenes.estimators.phenotype,
            weighting,
            optax.sgd(0.01),
            100,
            metric=phenes.metric.natural_marginal,
        )
        q0 = search.Gaussian(jnp.zeros(5), 0.5 * jnp.eye(5))
        state, info = phenes.run(jax.random.fold_in(jax.random.key(0), 1), oiu, strategy, q0, 30)
        assert arrays["f_mean"][1, -1] == pytest.approx(
            float(problem(state.q.mean)) - problem.f_opt, rel=1e-9
        )
        assert arrays["trace"][1, -1] == pytest.approx(float(jnp.trace(state.q.cov)), rel=1e-9)
        assert arrays["population"][1, -1] == pytest.approx(-float(info.f_mean[-1]), rel=1e-9)
        assert arrays["projected"][1, -1] == int(jnp.sum(info.projected))

    def test_expected_gap_of_the_sphere(self, tiny):
        """F(mean) - f(mean) = d sigma^2 up to the error of the draws."""
        arrays = stored(tiny, "f01/ES")
        se = np.hypot(0.1 * 2 * np.sqrt(arrays["f_mean"]), 0.01 * np.sqrt(2 * 5)) / np.sqrt(
            TINY.draws
        )
        assert np.all(np.abs(arrays["F_mean"] - arrays["f_mean"] - 5 * 0.01) < 4 * se)

    def test_printed_direction_differs_by_the_drift_of_erratum_1(self):
        q, p = search.Gaussian(jnp.zeros(3), 0.5 * jnp.eye(3)), phenes.inputs.GaussianNoise(0.1)
        x, w = jax.random.normal(jax.random.key(0), (10, 3)), jnp.linspace(0.0, 1.0, 10)
        batch = Batch(theta=x, x=x)
        right = phenes.metric.natural_marginal(p, q, phenes.estimators.phenotype(p, q, batch, w))
        printed = settings.printed(p, q, batch, w)
        np.testing.assert_allclose(printed.mean, right.mean, atol=1e-12)
        np.testing.assert_allclose(
            printed.cov - right.cov, (jnp.mean(w) - 1) * (0.51 * jnp.eye(3)), atol=1e-12
        )

    def test_weights_by_value_spread_as_those_by_rank(self):
        f = jax.random.normal(jax.random.key(0), (100,))
        by_rank, by_value = (
            make(bbob.Settings())(f) for make in (settings.by_rank, settings.by_value)
        )
        assert float(jnp.std(by_value)) == pytest.approx(float(jnp.std(by_rank)), rel=1e-9)
        np.testing.assert_allclose(
            np.sort(by_rank)[::-1],
            100 * np.array(settings.by_rank_weights(bbob.Settings())),
            atol=1e-12,
        )


def test_settings_are_those_of_the_paper():
    full = bbob.Settings()
    assert (full.functions, full.seeds, full.generations, full.dim, full.popsize) == (
        tuple(range(1, 25)),
        10,
        5000,
        40,
        100,
    )
    assert full.recorded[0] == 1
    assert full.recorded[-1] == 5000
    assert len(full.parts) == 24 * 3 + 3 * 2 + 2 * 3 + 3
    assert {*settings.CURVES, *settings.DISPUTED} <= set(bbob.Settings.quick().functions)
    assert bbob.Settings.from_stored(json.loads(json.dumps(dataclasses.asdict(full)))) == full
    with pytest.raises(ValueError, match="not those of this version"):
        bbob.Settings.from_stored({"colour": "red"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"functions": (0,)},
        {"functions": ()},
        {"methods": ("ES",)},
        {"methods": ("ES", "PAES", "x")},
        {"dim": 1},
    ],
)
def test_wrong_settings(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        bbob.Settings(**wrong)


def fragile(task):
    if task == 2:
        raise RuntimeError("two is too much")
    if task == 3:
        os._exit(7)
    return os.getpid(), os.environ["OPENBLAS_NUM_THREADS"], len(os.sched_getaffinity(0))


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

    def test_failed_parts_are_named_and_the_rest_is_kept(self, tmp_path, monkeypatch):
        broken = execute.BBOB._replace(compute=broken_on_f06)
        with pytest.raises(RuntimeError, match=r"f06/ES.*--resume"):
            driver.run(
                broken, dataclasses.replace(TINY, valued=(), printed=()), tmp_path, processes=1
            )
        with Store(tmp_path / "bbob.db") as store:
            run = store.last("bbob")
            assert run.about.status == "failed"
            assert "f01/ES" in run
            assert "f06/ES" not in run

    @pytest.mark.machine
    def test_interrupt_ends_the_processes(self):
        code = (
            "import sys, time, signal, os\nfrom phenes import workers\nif __name__ == '__main__':\n"
            "    signal.signal(signal.SIGALRM, signal.default_int_handler);"
            " signal.setitimer(signal.ITIMER_REAL, 3)\n    try:\n       "
            " list(_pinned_pool.each(time.sleep, [60, 60], 2))\n    except KeyboardInterrupt:\n       "
            " import multiprocessing; print(len(multiprocessing.active_children()))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=40, check=True
        )
        assert done.stdout.split() == ["0"]
        assert done.stderr == ""


def broken_on_f06(_, one):
    if one.function == 6:
        raise RuntimeError("no")
    return {"x": np.zeros(1)}


def synthetic(gain, seeds=10, noise=0.05):
    """All functions, ES at 1 and PAES at 1 - gain(function)."""
    random, full = np.random.default_rng(0), bbob.Settings(seeds=seeds)
    generations = full.recorded
    parts = {}
    for function in full.functions:
        for method in (*settings.MAIN, *settings.VALUE, *settings.PRINTED):
            end = 1 - gain(function, method) + noise * random.standard_normal((seeds, 1))
            curve = end + 9 * np.exp(-generations / 500)[None]
            parts[function, method] = {
                "generations": generations,
                "F_start": np.array(10.0),
                "F_nominal": np.array(0.5),
                "seconds": np.full(seeds, 1.0),
                "compilation": np.array(1.0),
                **dict.fromkeys(("F_mean", "f_mean", "population", "best"), curve),
                **dict.fromkeys(("trace", "projected", "skipped", "near"), np.ones(curve.shape)),
            }
    return results.Results(full, "0", "done", parts, {}, [], dict.fromkeys(settings.METHODS, 0.0))


def better(function, method):
    return 0.5 if method.startswith("PAES") else 0.0


class TestVerdicts:
    def verdicts(self, data):
        return {claim.claim: claim.verdict for claim in claims.claims(data)}

    def pick(self, data, words):
        (verdict,) = (verdict for claim, verdict in self.verdicts(data).items() if words in claim)
        return verdict

    def test_clear_gains(self):
        data = synthetic(better)
        assert self.pick(data, "consistently") == report.HOLDS
        assert self.pick(data, "most functions") == report.HOLDS
        assert self.pick(data, "converges faster") == report.HOLDS
        assert self.pick(data, "significantly better") == report.HOLDS
        assert self.pick(data, "comparable") == report.HOLDS

    def test_one_counterexample(self):
        data = synthetic(lambda f, m: -0.5 if f == 6 and m == "PAES" else better(f, m))
        assert self.pick(data, "consistently") == report.PARTLY
        assert results.score(data, "ES", "PAES").clear_losses == (6,)

    def test_losses(self):
        data = synthetic(lambda f, m: -better(f, m))
        assert self.pick(data, "consistently") == report.FAILS
        assert self.pick(data, "most functions") == report.FAILS
        assert self.pick(data, "lower objective value") == report.FAILS
        assert self.pick(data, "significantly better") == report.FAILS
        assert self.pick(data, "fail to minimise") == report.FAILS

    def test_times_that_are_not_comparable(self):
        data = synthetic(better)
        for (_, method), arrays in data.parts.items():
            arrays["seconds"] = np.full(10, 4.0 if method == "PAES" else 1.0)
        assert self.pick(data, "comparable") == report.FAILS

    def test_printed_formula_both_ways(self):
        assert (
            self.pick(synthetic(lambda f, m: 0.5 * (m == "printed")), "as printed") == report.HOLDS
        )
        assert self.pick(synthetic(better), "as printed") == report.FAILS

    def test_rank_bias_both_ways(self):
        by_ranks_only = synthetic(lambda f, m: -0.5 * (m == "PAES"))
        assert "loses with ranks only" in rank_bias(by_ranks_only, 6)
        in_both = synthetic(lambda f, m: -0.5 * (m in ("PAES", "PAES-value")))
        assert "loses in both" in rank_bias(in_both, 6)
        assert "no loss of PAES" in rank_bias(synthetic(better), 6)

    def test_what_diverged_is_drawn_and_reported(self):
        data = synthetic(better)
        data.parts[1, "printed"]["F_mean"] = np.full((10, data.settings.recorded.size), np.inf)
        data.parts[1, "printed-mean"]["F_mean"] = np.full((10, data.settings.recorded.size), 1e200)
        assert self.pick(data, "as printed") == report.FAILS
        assert pictures.selected(data) is not None


class TestStatistics:
    def test_welch_is_that_of_scipy(self):
        random = np.random.default_rng(0)
        for shift, scale, n in ((0.0, 1.0, 10), (1.0, 3.0, 5), (5.0, 0.1, 10), (0.3, 2.0, 2)):
            a, b = random.normal(size=10), random.normal(shift, scale, size=n)
            ours, theirs = report.difference(a, b), scipy.stats.ttest_ind(b, a, equal_var=False)
            assert ours.z == pytest.approx(theirs.statistic, rel=1e-12)
            assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)

    def test_sign_test_is_that_of_scipy(self):
        for wins, losses in ((20, 4), (12, 12), (0, 6), (24, 0)):
            assert report.sign_test(wins, losses) == pytest.approx(
                scipy.stats.binomtest(wins, wins + losses).pvalue, rel=1e-12
            )

    def test_without_spread(self):
        assert report.difference(np.ones(3), np.ones(3)).p == 1
        assert report.difference(np.ones(3), np.zeros(3)).z == -np.inf
        assert np.isnan(report.difference(np.ones(1), np.zeros(1)).z)

    def test_huge_values(self):
        huge = np.array([1e200, 2e200, 3e200])
        assert report.mean_se(huge)[1] == pytest.approx(1e200 / np.sqrt(3))
        assert report.difference(huge, 2 * huge).z == pytest.approx(
            report.difference(huge / 1e200, huge / 5e199).z
        )

    def test_numbers_as_text(self):
        assert report.plus_minus(1.23456, 0.0123) == "1.235 ± 0.012"
        assert report.plus_minus(12345.6, 123.4) == "12346 ± 123"
        assert report.plus_minus(1e12, np.nan) == "1e+12 ± -"
        assert report.number(np.inf) == "infinite"


def test_crossing():
    generations, curve = np.array([1, 10, 100]), np.array([100.0, 10.0, 1.0])
    assert results._crossing(generations, curve, 10**0.5) == pytest.approx(10**1.5)
    assert results._crossing(generations, curve, 200) == 1
    assert results._crossing(generations, curve, 0.5) == np.inf


def test_document_escapes_what_html_and_markdown_would_read(tmp_path):
    document = report.Document("a < b")
    document.table(["x"], [["1 | 2 < 3"], [report.HOLDS]])
    markdown, page = (path.read_text() for path in document.write(tmp_path))
    assert "1 \\| 2 < 3" in markdown
    assert "1 | 2 &lt; 3" in page
    assert 'class="holds"' in page
