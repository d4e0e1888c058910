"""A run that is saved, loaded or killed goes on bit for bit as if nothing had happened."""

import contextlib
import functools
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import phenes
from phenes import inputs
from phenes.adaptive import Adaptive
from phenes.optimizer import NoiseWarning
from phenes.optimizer.records import journal

D = 2
ROOT = Path(__file__).parents[3]


def f(x):
    return np.sum((x - 0.4) ** 2, axis=1) + 0.2 * np.sin(4 * x[:, 0])


class Lab:
    """Realises what it is given, fails now and then, and does not always measure."""

    def __init__(self, gaps=False, fails=0.0, std=0.1):
        self.rng, self.gaps, self.fails, self.std = np.random.default_rng(5), gaps, fails, std

    def __call__(self, theta):
        x = theta + self.std * self.rng.standard_normal(theta.shape)
        values = f(x)
        values[self.rng.random(len(values)) < self.fails] = np.inf
        if self.gaps:
            x[::2, 1] = np.nan
        return x, values


def make(engine="adaptive", **changes):
    size = {"batch": 4, "budget": 30} if engine == "adaptive" else {"batch": 5, "budget": 19}
    given = {"noise": 0.1, "bounds": (-2, 2), "seed": 3} | size | changes
    return phenes.Optimizer(np.zeros(D), 0.5, engine=engine, **given)


def campaign(opt, lab, before=lambda opt, k: opt, extra=True):
    """All that was asked, and the result. `before` sees the run before every call."""
    asked, k = [], 0

    def at(opt):
        nonlocal k
        k += 1
        return before(opt, k)

    while not opt.stop():
        opt = at(opt)
        asked.append(opt.ask(pending=len(opt.pending)))
        opt = at(opt)
        under_way = opt.pending
        part = under_way[len(under_way) // 3 :]  # a third comes later
        if not len(asked[-1]):
            part = under_way
        x, values = lab(part)
        opt.tell(part, values, realised=x)
        if k == 4 and extra:
            opt = at(opt)
            opt.withdraw(opt.pending[:1])  # it was spilt
        if k == 7 and extra:
            opt = at(opt)
            opt.budget = opt.budget + 4
    if extra:
        opt = at(opt)
        asked.append(opt.verify(3))
        opt = at(opt)
        x, values = lab(opt.pending)
        opt.tell(opt.pending, values, realised=x)
    return asked, at(opt)


def assert_same(one, other):
    for a, b in zip(one[0], other[0], strict=True):
        np.testing.assert_array_equal(a, b)
    first, second = one[1].result, other[1].result
    assert first.message == second.message
    np.testing.assert_array_equal(first.x, second.x)
    assert (first.fun, first.fun_se, first.noise) == (second.fun, second.fun_se, second.noise)
    for name, column in first.history.items():
        np.testing.assert_array_equal(column, second.history[name])
    np.testing.assert_array_equal(one[1].pending, other[1].pending)


CASES = {
    "declared": ({"noise": 0.1}, {}),
    "none, failing": ({"noise": None}, {"std": 0.0, "fails": 0.2}),
    "learnt, gaps": ({"noise": "learn", "maximize": True}, {"gaps": True}),
    "correlated, one exact": ({"noise": np.diag([0.01, 0.0])}, {"fails": 0.1}),
    "bias and gain": ({"noise": inputs.GaussianNoise(0.1, [0.1, 0], [[2, 0], [0.1, 1]])}, {}),
    "nothing verified": ({"verify": 0, "target": -5.0}, {}),
}
FEW = ("learnt, gaps", "none, failing")
SOME = (*FEW, "nothing verified")


@functools.cache
def undisturbed(engine, case):
    options, kind = CASES[case]
    return campaign(make(engine, **options), Lab(**kind))


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        pytest.param(engine, case, marks=() if case in some else pytest.mark.tier("runs"))
        for engine, cases, some in (("adaptive", CASES, SOME), ("gp", FEW, ()))
        for case in cases
    ],
)
@pytest.mark.filterwarnings("ignore::phenes.optimizer.NoiseWarning")
def test_saved_and_loaded_before_every_call_it_goes_on_bit_for_bit(engine, case, tmp_path):
    """Before the first ask, with theta pending, in the verification and after the end."""
    options, kind = CASES[case]
    path = tmp_path / "lab.phenes"
    every = 1 if engine == "adaptive" else 3  # models take a while

    def reload(opt, k):
        if k % every != 1 % every:
            return opt
        opt.save(path)
        found = phenes.Optimizer.load(path)
        np.testing.assert_array_equal(found.pending, opt.pending)
        assert str(found) == str(opt)
        return found

    whole = undisturbed(engine, case)
    assert_same(whole, campaign(make(engine, **options), Lab(**kind), reload))
    assert whole[1].result.verified or case == "nothing verified"


@pytest.mark.parametrize("engine", ["adaptive", pytest.param("gp", marks=pytest.mark.tier("runs"))])
@pytest.mark.filterwarnings("ignore::phenes.optimizer.NoiseWarning")
def test_a_checkpoint_goes_on_bit_for_bit_by_the_same_call(engine, tmp_path):
    options, kind = CASES["learnt, gaps"]
    options = options | {"checkpoint": tmp_path / "lab.phenes"}
    every = 1 if engine == "adaptive" else 4

    def again(opt, k):
        return make(engine, **options) if k % every == 0 else opt

    whole = undisturbed(engine, "learnt, gaps")
    assert_same(whole, campaign(make(engine, **options), Lab(**kind), again))
    loaded = phenes.Optimizer.load(tmp_path / "lab.phenes")
    np.testing.assert_array_equal(loaded.result.x, whole[1].result.x)


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        ("adaptive", "learnt, gaps"),
        ("adaptive", "correlated, one exact"),
        pytest.param("gp", "learnt, gaps", marks=pytest.mark.tier("runs")),
    ],
)
@pytest.mark.filterwarnings("ignore::phenes.optimizer.NoiseWarning")
def test_whether_somebody_looks_does_not_matter(engine, case):
    """Only calls that change a run are kept: all others must leave it alone."""
    options, kind = CASES[case]

    def look(opt, k):
        opt.result, opt.mean, opt.estimate, opt.spread, opt.noise, opt.pending, str(opt)
        opt.suggest_stop(0.1, n=2)
        return opt

    assert_same(undisturbed(engine, case), campaign(make(engine, **options), Lab(**kind), look))


def test_looking_just_before_the_verification_does_not_matter():
    """Rows that wait for an update change the search when the verification begins: what was
    computed for somebody who looked before must not be used after.
    """

    def verifying(looks):
        opt, lab = make(noise=np.diag([0.01, 0.0]), batch=8, budget=40), Lab()
        for rows in (8, 8, 5):
            theta = opt.ask()
            x, values = lab(theta[:rows])
            x[:, 1] = theta[:rows, 1]
            opt.tell(theta[:rows], values, realised=x)
        if looks:
            assert not opt.result.success
        opt.ask(pending=opt.budget - opt._state.ending.reserve - opt.nfev)
        assert opt._state.trust.verification is not None
        return opt._state.trust.law(opt._state.trust.x0).z(np.array([[1.0, 1.0]]))

    np.testing.assert_array_equal(verifying(True), verifying(False))


class Own:
    """A law of the user's own: as the library's laws, but no class that a file may name."""

    def __init__(self, scale):
        self.law = inputs.GaussianNoise(scale)

    def sample(self, key, theta):
        return self.law.sample(key, theta)

    def log_prob(self, x, theta):
        return self.law.log_prob(x, theta)


def test_a_law_of_ones_own_is_given_again(tmp_path):
    opt = make(noise=Own(0.1))
    theta = opt.ask()
    x, values = Lab()(theta)
    opt.tell(theta[:2], values[:2], realised=x[:2])
    opt.save(tmp_path / "own.phenes")
    with pytest.raises(ValueError, match=r"law of your own, 'Own': give it as load\(path, noise="):
        phenes.Optimizer.load(tmp_path / "own.phenes")
    with pytest.raises(ValueError, match=r"noise was standard deviations .* and is now standard"):
        phenes.Optimizer.load(tmp_path / "own.phenes", noise=Own(0.2))
    again = phenes.Optimizer.load(tmp_path / "own.phenes", noise=Own(0.1))
    np.testing.assert_array_equal(again.pending, theta[2:])
    np.testing.assert_array_equal(again.ask(), opt.ask())
    assert "Own" in (tmp_path / "own.phenes").read_text().splitlines()[0]


def test_other_noise_than_that_of_the_file_is_refused(tmp_path):
    make(noise=0.1).save(tmp_path / "a.phenes")
    with pytest.raises(ValueError, match="other noise: noise was standard deviations"):
        phenes.Optimizer.load(tmp_path / "a.phenes", noise=0.2)
    assert phenes.Optimizer.load(tmp_path / "a.phenes", noise=[0.1, 0.1]).nfev == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"batch": 5}, "batch was 4 and is now 5"),
        ({"batch": None, "popsize": 4}, "batch was 4 and is now None; popsize was None"),
        ({"seed": 4}, "seed was 3 and is now 4"),
        ({"bounds": (-2, 3)}, r"upper was \[2.0, 2.0\] and is now \[3.0, 3.0\]"),
        ({"noise": 0.2}, "noise was standard deviations .* and is now"),
        ({"noise": "learn"}, "noise was standard deviations .* and is now learnt"),
        ({"maximize": True}, "maximize was False and is now True"),
        ({"verify": 3}, "verify was None and is now 3"),
        ({"target": 1.0}, "target was None and is now 1.0"),
        ({"engine": "gp"}, "engine was 'adaptive' and is now 'gp'"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(change, said, tmp_path):
    path = tmp_path / "lab.phenes"
    make(checkpoint=path).ask()
    before = path.read_bytes()
    with pytest.raises(ValueError, match=said) as error:
        make(**({"checkpoint": path} | change))
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_settings_are_compared_by_meaning(tmp_path):
    path = tmp_path / "lab.phenes"
    theta = make(checkpoint=path).ask()
    same = phenes.Optimizer(
        [0, 0.0],
        np.full(D, 0.5),
        np.float64(0.1),
        bounds=[(-2, 2)] * D,
        batch=np.int64(4),
        budget=3e1,
        engine="adaptive",
        seed=np.int64(3),
        checkpoint=str(path),
    )
    np.testing.assert_array_equal(same.pending, theta)


def test_a_larger_budget_goes_on_and_is_remembered(tmp_path):
    path = tmp_path / "lab.phenes"
    done = campaign(make(checkpoint=path), Lab(), extra=False)[1]
    assert done.stop()
    more = make(checkpoint=path, budget=50)
    assert more.nfev == 30
    assert not more.stop()
    assert make(checkpoint=path).budget == 50  # as it was begun: goes on as it is now
    assert make(checkpoint=path, budget=60).budget == 60


def test_a_saved_file_can_become_a_checkpoint(tmp_path):
    path = tmp_path / "lab.phenes"
    opt = make()
    theta = opt.ask()
    opt.save(path)
    kept = make(checkpoint=path)
    np.testing.assert_array_equal(kept.pending, theta)
    second = kept.ask(3)
    loaded = phenes.Optimizer.load(path)
    np.testing.assert_array_equal(loaded.pending, np.concatenate([theta, second]))


def test_a_new_optimizer_of_the_same_program_takes_the_file(tmp_path):
    """A cell of a notebook that is run again."""
    path = tmp_path / "lab.phenes"
    first = make(checkpoint=path)
    theta = first.ask()
    second = make(checkpoint=path)
    np.testing.assert_array_equal(second.pending, theta)
    with pytest.raises(ValueError, match="opened again by another Optimizer of this program"):
        first.tell(theta, f(theta))
    assert first.nfev == 0
    second.tell(theta, f(theta))
    assert make(checkpoint=path).nfev == 4


@contextlib.contextmanager
def killed(text, *arguments):
    """A program of its own, which prints a line when it is where it is to be; ended after that."""
    code = "import os, sys, time\nimport numpy as np\nimport phenes\n" + textwrap.dedent(text)
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as program:
        try:
            assert program.stdout.readline() == "there\n"
            yield
        finally:
            program.kill()


MAKE = """
def make(**more):
    options = dict(bounds=(-2, 2), batch=4, budget=30, seed=3, engine="adaptive")
    return phenes.Optimizer(np.zeros(2), 0.5, 0.1, **options, **more)

def hang(*_):
    print("there", flush=True)
    time.sleep(600)
"""


def test_killed_in_the_middle_of_saving_the_old_file_is_intact(tmp_path):
    path = tmp_path / "lab.phenes"
    saving = """
opt = make()
opt.ask()
opt.save(sys.argv[1])
opt.ask()
os.fsync = hang  # all is written, and nothing is renamed
opt.save(sys.argv[1])
"""
    with killed(MAKE + saving, path):
        pass
    assert len(list(tmp_path.iterdir())) == 2  # what it was writing has a name of its own
    opt = phenes.Optimizer.load(path)
    np.testing.assert_array_equal(opt.pending, make().ask())
    opt.save(path)
    np.testing.assert_array_equal(phenes.Optimizer.load(path).pending, opt.pending)


def test_killed_in_the_middle_of_a_line_the_checkpoint_goes_on(tmp_path):
    path = tmp_path / "lab.phenes"
    telling = """
opt = make(checkpoint=sys.argv[1])
theta = opt.ask()
write = os.write
os.write = lambda file, content: hang(write(file, content[:60]))
opt.tell(theta, theta.sum(axis=1), realised=theta)
"""
    with killed(MAKE + telling, path):
        with pytest.raises(ValueError, match="is being written by another program"):
            make(checkpoint=path)
        assert phenes.Optimizer.load(path).nfev == 0  # reading does not disturb
    assert not path.read_bytes().endswith(b"\n")
    opt, whole = make(checkpoint=path), make()
    theta = whole.ask()
    np.testing.assert_array_equal(opt.pending, theta)
    for one in (opt, whole):
        one.tell(theta, f(theta), realised=theta)
    opt = make(checkpoint=path)
    np.testing.assert_array_equal(opt.ask(), whole.ask())


def test_other_arithmetic_goes_on_from_the_same_data_and_says_so(tmp_path, monkeypatch):
    path = tmp_path / "lab.phenes"
    opt = make()
    theta = opt.ask()
    opt.tell(theta[:2], f(theta[:2]), realised=theta[:2])
    opt.save(path)
    ask = Adaptive.ask
    monkeypatch.setattr(Adaptive, "ask", lambda self, *n: ask(self, *n) + 1e-12)
    with pytest.warns(UserWarning, match="does not go on bit for bit"):
        found = phenes.Optimizer.load(path)
    np.testing.assert_array_equal(found.pending, theta[2:])
    assert found.nfev == 2


def test_warnings_are_not_given_again(tmp_path):
    opt = make(noise=0.01, budget=200)
    lab = Lab()
    theta = opt.ask(80)
    x, values = lab(theta)
    with pytest.warns(NoiseWarning):
        opt.tell(theta, values, realised=x)
    opt.save(tmp_path / "lab.phenes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert phenes.Optimizer.load(tmp_path / "lab.phenes").warning == opt.warning


def test_a_run_that_is_too_long_for_memory_is_kept_by_a_checkpoint_only(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "MOST_ROWS", 20)
    path = tmp_path / "lab.phenes"
    opt = campaign(make(checkpoint=path), Lab())[1]
    with pytest.raises(ValueError, match="begin it with checkpoint="):
        opt.save(tmp_path / "other.phenes")
    assert phenes.Optimizer.load(path).nfev == opt.nfev


@pytest.mark.parametrize("engine", ["adaptive", "gp"])
def test_what_is_withdrawn_is_as_if_it_had_never_been_asked(engine):
    opt = make(engine)
    theta = opt.ask()
    opt.withdraw(theta[1:])
    np.testing.assert_array_equal(opt.pending, theta[:1])
    opt.tell(theta[:1], [1.0], realised=theta[:1])
    assert opt.result.failed == 0
    if engine == "gp":  # nothing is believed of it
        assert not len(opt._state.search._pending)
    with pytest.raises(ValueError, match=r"theta must be pending, got .* which is not"):
        opt.withdraw(theta[1:])
    with pytest.raises(ValueError, match=r"theta must have shape \[n, 2\]"):
        opt.withdraw([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("batch", "budget", "noise", "expected"),
    [
        (12, 96, None, [12] * 8),
        (5, 12, None, [5, 5, 2]),
        (8, 30, 0.1, [8, 8, 8, 6]),
        (12, 96, 0.1, [12] * 8),
        (24, 96, 0.1, [24] * 4),
        (24, 100, 0.1, [24, 24, 24, 24, 4]),
        (1, 9, 0.1, [1] * 9),
    ],
)
def test_batch_is_how_many_are_asked_and_the_last_time_what_is_left(batch, budget, noise, expected):
    """Also where the search ends and the verification begins."""
    opt = make(batch=batch, budget=budget, noise=noise)
    lab, sizes = Lab(std=noise or 0.0), []
    while not opt.stop():
        theta = opt.ask()
        sizes.append(len(theta))
        x, values = lab(theta)
        opt.tell(theta, values, realised=x)
    assert sizes == expected
    assert opt._state.trust.verification is not None
    assert opt.result.verified


@pytest.mark.parametrize(("batch", "popsize"), [(1, 6), (4, 8), (6, 6), (24, 24)])
def test_the_population_is_a_whole_number_of_batches(batch, popsize):
    """In two dimensions the evolution strategy has at least 6."""
    opt = make(batch=batch, budget=600)
    assert (opt.batch, opt.popsize) == (batch, popsize)
    assert len(opt.ask()) == batch


def test_batch_and_popsize_are_two_words_for_one_thing():
    with pytest.raises(ValueError, match="batch and popsize must not both be given"):
        make(batch=4, popsize=4)
    with pytest.raises(ValueError, match="batch must be a whole number of at least 1, got 0"):
        make(batch=0)
