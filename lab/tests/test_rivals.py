"""Every contender optimises, is told what it should be, counts what it uses, and starts again."""

import contextlib
import importlib.util

import numpy as np
import pytest
from phenes_lab.bench.peers import compute
from phenes_lab.bench.peers.settings import Part, PeersSettings, Problem
from phenes_lab.contenders import CONTENDERS, OURS
from phenes_lab.restarts import BROKEN, Restarts, Stagnation
from phenes_lab.rivals import Cmaes, Phenes, Pycma, PycmaLq, PycmaNoiseHandler, Start
from phenes_lab.simulator import Exhausted, World, gaussian

from phenes.optimizer import Optimizer

needs_peers = pytest.mark.skipif(
    any(importlib.util.find_spec(m) is None for m in ("cma", "cmaes", "evosax")),
    reason="peers are extras",
)


SOME = ("phenes", "cmaes-x")  # in `make test`


def sphere(x):
    return np.sum(x**2, axis=1)


@needs_peers
class TestContenders:
    @pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=() if name in SOME else pytest.mark.tier("lab"))
            for name in CONTENDERS
        ],
    )
    def test_each_of_them_optimises(self, name):
        """The sphere in three dimensions: the gap to the optimum falls to a twentieth, for the
        paper's small steps it only falls.
        """
        settings = PeersSettings(
            seeds=2, budget=500, checkpoints=8, draws=256, start=3.0, sigma0=1.0, peers=(name,)
        )
        record = compute.compute(settings, Part(Problem(3, 0.1, 1, 4), name))
        assert record["F"].shape == record["evaluations"].shape == (2, 8)
        assert record["points"].shape == (2, 8, 3)
        assert np.all(record["evaluations"][:, -1] > 1400 if name != OURS else True)
        assert np.all(record["evaluations"] <= 1500)
        gap = (record["F"][:, -1] - record["F_nominal"]) / (record["F_start"] - record["F_nominal"])
        assert np.all(gap < (1.0 if name == "paes" else 0.05)), gap
        assert np.all(record["overhead"] > 0)

    def test_an_error_inside_phenes_is_kept_and_said(self, monkeypatch):
        """The last answer stands, nothing counts as a restart, and the error is in the part."""
        tell, calls = Optimizer.tell, []

        def fails(self, *args, **options):
            calls.append(1)
            if len(calls) > 8:
                raise ValueError("a made-up error")
            return tell(self, *args, **options)

        monkeypatch.setattr(Optimizer, "tell", fails)
        settings = PeersSettings(seeds=1, budget=500, checkpoints=8, draws=256, peers=(OURS,))
        record = compute.compute(settings, Part(Problem(3, 0.1, 1, 4), OURS))
        assert record["error"].tolist() == ["ValueError: a made-up error"]
        assert record["restarts"].tolist() == record["broken"].tolist() == [0]
        assert np.all(np.isfinite(record["F"]))
        assert record["evaluations"][0, -1] < 1500

    @pytest.mark.tier("lab")
    def test_the_same_seed_gives_the_same_run(self):
        settings = PeersSettings(seeds=1, budget=100, checkpoints=4, draws=64)
        for name in ("phenes", "cmaes-x", "evosax-snes"):
            a, b = (compute.compute(settings, Part(Problem(3, 0.1, 8, 4), name)) for _ in range(2))
            np.testing.assert_array_equal(a["points"], b["points"])

    def test_all_start_at_the_same_place(self):
        settings = PeersSettings(seeds=3)
        for problem in (Problem(3, 0.1, 1, 1), Problem(3, 0.5, 20, 4)):
            starts = [compute.start(settings, problem, seed) for seed in range(3)]
            np.testing.assert_array_equal(
                starts[1], compute.start(settings, Problem(3, 0.01, 2, 2), 1)
            )
            assert np.all(np.abs(starts) <= 4)

    @pytest.mark.parametrize("told_x", [True, False])
    def test_what_is_told(self, told_x, monkeypatch):
        world, seen = World(gaussian(sphere, 0.5, np.random.default_rng(0)), 1000), {}
        realised = []
        real_call = World.__call__
        monkeypatch.setattr(
            World,
            "__call__",
            lambda self, theta: realised.append((theta, out := real_call(self, theta))) or out,
        )
        start = Start(np.zeros(3), 1.0, 0.5, 0)
        for search, inner in (
            (s := Pycma(start, told_x=told_x), s.es),
            (c := Cmaes(start, told_x=told_x), c.cma),
        ):
            tell = inner.tell
            inner.tell = lambda *a, tell=tell: seen.update(told=a) or tell(*a)
            search.step(world)
            theta, (x, _) = realised[-1]
            told = np.array(
                seen["told"][0]
                if len(seen["told"]) == 2
                else [point for point, _ in seen["told"][0]]
            )
            expected, other = (x, theta) if told_x else (theta, x)
            # cmaes sorts its list in place, and pycma may shorten injected points that are too far
            # out
            assert np.min(np.abs(told[:, None] - expected[None]).max(axis=2), axis=1).max() < 1e-9
            assert not np.any(np.all(np.abs(told[:, None] - other[None]) < 1e-9, axis=2))

    @pytest.mark.parametrize("told_x", [True, False])
    def test_phenes_is_told_x_or_not(self, told_x):
        world, search = (
            World(gaussian(sphere, 0.5, np.random.default_rng(0)), 1000),
            Phenes(Start(np.zeros(3), 1.0, 0.5, 0), 1000, told_x),
        )
        seen, tell = [], search.opt.tell
        search.opt.tell = lambda theta, f, realised: (
            seen.append(realised) or tell(theta, f, realised)
        )
        search.step(world)
        assert (seen[0] is not None) == told_x
        np.testing.assert_array_equal(search.mean, search.opt.result.x)

    def test_evaluations_of_the_noise_handler_are_counted(self):
        blind = lambda x: np.random.default_rng(len(x)).standard_normal(len(x))  # noqa: E731
        world = World(gaussian(blind, 0.5, np.random.default_rng(0)), 100_000)
        search = PycmaNoiseHandler(Start(np.zeros(3), 1.0, 0.5, 0))
        for _ in range(60):
            search.step(world)
        # values without information: it asks for more of them
        assert search.handler.evaluations > 2
        assert world.count > 60 * (search.popsize + 2)


class Scripted:
    """A run that stays at its start, stops after so many generations, and fails at one."""

    popsize = 100

    def __init__(self, start, length=5, fails=None):
        self.start, self.left, self.fails = start, length, fails

    def step(self, world):
        self.left -= 1
        if self.left == self.fails:
            raise np.linalg.LinAlgError("not positive definite")
        world(np.tile(self.start.mean, (self.popsize, 1)))

    def stopped(self):
        return self.left == 0

    @property
    def mean(self):
        return self.start.mean


class TestRestarts:
    def steps(self, search, world, generations):
        """How many until it is started again, at most so many."""
        for generation in range(generations):
            search.step(world)
            if search.restarts:
                return generation
        return generations

    def run(self, generations, **options):
        made = []
        world = World(gaussian(sphere, 0.1, np.random.default_rng(0)), 10**6)
        make = lambda start: made.append(start) or Scripted(start, **options)  # noqa: E731
        rng = np.random.default_rng(3)
        search = Restarts(make, Start(np.full(2, 1.0), 2.0, 0.1, 7), lambda: rng.uniform(-4, 4, 2))
        for _ in range(generations):
            search.step(world)
        return search, made, world

    def test_again_with_twice_the_population_from_elsewhere(self):
        search, made, _ = self.run(5 * 9, length=5)
        assert [start.grown for start in made] == [1, 2, 4, 8, 16, 32, 64, 64, 64, 64]
        assert search.restarts == 9
        assert len({start.seed for start in made}) == 10
        assert np.all(np.abs([start.mean for start in made]) <= 4)
        assert not np.any(np.all([start.mean == 1.0 for start in made[1:]], axis=1))

    def test_the_answer_is_that_of_the_run_that_looks_best(self):
        search, made, world = self.run(20 * 12, length=20)
        ended = [start.mean for start in made[:-1]]
        np.testing.assert_array_equal(
            search.recommended(world), min(ended, key=lambda m: np.sum(m**2))
        )

    def test_a_young_run_is_not_yet_believed(self):
        search, _, world = self.run(20, length=20)
        search.now.mean[:] = 0.0  # the best place there is
        for generations, expected in ((3, 1.0), (8, 0.0)):
            for _ in range(generations):
                search.step(world)
            assert np.all(search.recommended(world) == expected)

    def test_a_broken_run_is_survived(self):
        search, made, _ = self.run(12, length=5, fails=1)
        assert (search.broken, search.restarts) == (3, 3)
        assert made[1].grown == 2

    def test_an_error_of_phenes_is_raised_and_nothing_is_started_again(self):
        make = lambda start: Scripted(start, length=5, fails=1)  # noqa: E731
        search = Restarts(make, Start(np.full(2, 1.0), 2.0, 0.1, 7), lambda: np.zeros(2), False)
        world = World(gaussian(sphere, 0.1, np.random.default_rng(0)), 10**6)
        with pytest.raises(BROKEN):
            self.steps(search, world, 12)
        assert (search.broken, search.restarts) == (0, 0)

    def test_who_cannot_see_that_it_stagnates_is_started_again(self):
        """A mean that does not move, under noise: after 120 + 30 d / popsize generations at the
        earliest, and soon after.
        """

        class Blind(Scripted):
            blind = True

        world = World(gaussian(sphere, 0.1, np.random.default_rng(0)), 10**6)
        make = lambda start: Blind(start, length=10**6)  # noqa: E731
        search = Restarts(make, Start(np.full(2, 1.0), 2.0, 0.1, 7), lambda: np.zeros(2))
        assert 120 < self.steps(search, world, 1000) < 400

    def test_progress_is_no_stagnation(self):
        stagnation, rng = Stagnation(2, 10), np.random.default_rng(0)
        for generation in range(500):
            stagnation.see(0.02 * -generation + rng.standard_normal(10))
            assert not stagnation.holds()
        for _ in range(300):
            stagnation.see(np.full(10, -10.0))
        assert stagnation.holds()

    @needs_peers
    @pytest.mark.parametrize(
        "name",
        [
            *("cmaes", "cmaes-x", "cmaes-lra-r"),
            pytest.param("evosax-snes", marks=pytest.mark.tier("lab")),
        ],
    )
    def test_under_noise_too(self, name):
        world = World(gaussian(sphere, 0.5, np.random.default_rng(0)), 120_000)
        make = CONTENDERS[name].search
        search = Restarts(make, Start(np.full(2, 1.0), 1.0, 0.5, 0), lambda: np.full(2, 3.0))
        first = search.search.popsize
        self.steps(search, world, 10**6)
        assert search.restarts == 1
        assert search.search.popsize == 2 * first

    @needs_peers
    def test_cmaes_is_started_again_when_it_has_converged(self):
        world = World(gaussian(sphere, 0.0, np.random.default_rng(0)), 6000)
        search = Restarts(Cmaes, Start(np.full(2, 1.0), 1.0, 0.0, 0), lambda: np.full(2, 3.0))
        with contextlib.suppress(Exhausted):
            while True:
                search.step(world)
        assert search.restarts >= 1
        assert np.sum(search.recommended(world) ** 2) < 1e-9


@needs_peers
def test_pycma_in_a_box_is_told_x_outside_of_it_and_recommends_inside():
    bounds = np.tile([0.0, 1.0], (2, 1))
    start = Start(np.array([0.9, 0.1]), 0.25, 0.0, 0, bounds=bounds)
    search = Pycma(start, told_x=True, bounded=True)
    world = World(lambda theta: (theta + 0.5, np.sum((theta - [2.0, 0.5]) ** 2, axis=1)), 600)
    for _ in range(60):
        search.step(world)
        assert np.all((search.mean >= 0) & (search.mean <= 1))
    assert search.mean[0] > 0.98


@needs_peers
def test_lq_cma_es_is_that_of_pycma_evaluation_by_evaluation():
    import cma

    scales, theirs = 10.0 ** np.linspace(0, 3, 4), []

    def ellipsoid(x):
        return np.sum(scales * np.asarray(x) ** 2, axis=-1)

    def kept(x):
        theirs.append(float(ellipsoid(x)))
        return theirs[-1]

    x0 = np.full(4, 2.0)
    cma.fmin_lq_surr2(kept, x0, 1.0, {"seed": 1, "verbose": -9, "maxfevals": 120})
    world = World(gaussian(ellipsoid, 0.0, np.random.default_rng(0)), 120)
    search = PycmaLq(Start(x0, 1.0, 0.0, 0))
    with contextlib.suppress(Exhausted):
        while True:
            search.step(world)
    ours = np.concatenate(world.values)
    n = min(len(theirs), len(ours))
    assert n > 80
    np.testing.assert_array_equal(ours[:n], theirs[:n])
