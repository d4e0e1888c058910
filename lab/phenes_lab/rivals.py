"""The libraries that people use today, and phenes, behind one interface: a generation at a time,
from a mean and a step size.

"Told theta" means tell(theta, f(x)), all that is possible if x is not measured; "told x" means
tell(x, f(x)): the measured points are injected as if the library had proposed them. The recommended
point is the mean of the search distribution in both cases, never the luckiest sample.
"""

import contextlib
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from phenes_lab.simulator import Exhausted, World


@contextlib.contextmanager
def lenient() -> Iterator[None]:
    """Permit JAX's implicit promotions, on which evosax relies and which tests forbid."""
    import jax

    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield


class Start(NamedTuple):
    """The start of a run. grown: factor of the population size over that of the first run. bounds:
    [d, 2], of theta.
    """

    mean: np.ndarray
    sigma0: float
    noise: float
    seed: int
    grown: int = 1
    bounds: np.ndarray | None = None


class Search(Protocol):
    """One run of an optimiser."""

    def step(self, world: World) -> None: ...

    def stopped(self) -> bool:
        """By its own criteria."""
        ...

    @property
    def mean(self) -> np.ndarray: ...

    @property
    def popsize(self) -> int: ...


def default_popsize(dim: int) -> int:
    """The default population size of CMA-ES, in the literature and in pycma and cmaes."""
    return 4 + math.floor(3 * math.log(dim))


class Pycma:
    """cma.CMAEvolutionStrategy. `popsize` None is its default.

    bounded: pycma gets the bounds, and a realised x is clipped to them: it refuses others.
    """

    def __init__(
        self,
        start: Start,
        popsize: int | None = None,
        told_x: bool = False,
        bounded: bool = False,
    ):
        import cma

        n = start.grown * (popsize or default_popsize(start.mean.size))
        # -10: silent, and no file is looked for; a seed of 0 would mean the clock
        options: dict[str, Any] = {"popsize": n, "seed": start.seed + 1, "verbose": -10}
        if bounded and start.bounds is not None:
            options["bounds"] = start.bounds.T.tolist()
        self.box = start.bounds if bounded else None
        self.es, self.told_x = cma.CMAEvolutionStrategy(start.mean, start.sigma0, options), told_x

    def step(self, world: World) -> None:
        theta = self.es.ask()
        x, f = world(np.asarray(theta))
        x = x if self.box is None else np.clip(x, *self.box.T)
        self.es.tell(list(x) if self.told_x else theta, f.tolist())

    def stopped(self) -> bool:
        return bool(self.es.stop())

    @property
    def mean(self) -> np.ndarray:
        if self.box is None:
            return np.array(self.es.mean)
        # within a box pycma's own coordinates are others
        return np.array(self.es.gp.pheno(self.es.mean, into_bounds=self.es.boundary_handler.repair))

    @property
    def popsize(self) -> int:
        return self.es.popsize


class PycmaNoiseHandler(Pycma):
    """pycma with its NoiseHandler: some of the population is evaluated again; more evaluations and
    a larger step where ranks change.

    Repeated evaluations are averaged by their mean, since E f is what is wanted; the default, their
    median, aims at something else.
    """

    LARGEST = 30  # evaluations of one point, as in pycma's own example

    def __init__(self, start: Start):
        import cma

        super().__init__(start)
        self.handler = cma.NoiseHandler(
            start.mean.size, maxevals=[1, 1, self.LARGEST], aggregate=np.mean, parallel=True
        )

    def step(self, world: World) -> None:
        theta, k = self.es.ask(), int(self.handler.evaluations)
        f = world(np.repeat(theta, k, axis=0))[1].reshape(-1, k).mean(axis=1).tolist()
        self.es.tell(theta, f)
        self.es.sigma *= self.handler(
            theta, f, lambda points: world(np.asarray(points))[1], self.es.ask
        )


class PycmaLq(Pycma):
    """pycma's lq-CMA-ES, the loop of `cma.fmin_lq_surr2`: a generation is evaluated only as far as
    the ranks of its linear or quadratic model still change, and the optimum of the model is
    injected.

    Without noise it recommends the best point that was evaluated, as pycma does.
    """

    def __init__(self, start: Start, told_x: bool = False):
        from cma.fitness_models import SurrogatePopulation

        super().__init__(start, told_x=told_x)
        self.surrogate = SurrogatePopulation(self._evaluate)
        self.exact, self.best = start.noise == 0, (np.inf, np.array(start.mean))
        self.world: World | None = None

    def _evaluate(self, theta: np.ndarray) -> float:
        """Called with one candidate after the other, which becomes its realised x if told x."""
        assert self.world is not None
        x, f = self.world(np.asarray(theta)[None])
        if self.told_x:
            theta[:] = x[0]
        if f[0] < self.best[0]:
            self.best = (float(f[0]), np.array(theta))
        return float(f[0])

    def step(self, world: World) -> None:
        self.world = world
        candidates = [np.array(each) for each in self.es.ask()] if self.told_x else self.es.ask()
        self.es.tell(candidates, self.surrogate(candidates))
        self.es.inject([self.surrogate.model.xopt])

    @property
    def mean(self) -> np.ndarray:
        return self.best[1].copy() if self.exact else np.array(self.es.mean)


class Cmaes:
    """cmaes.CMA. `popsize` None is its default.

    blind: under noise its own stopping criteria never hold, so that `restarts` detects stagnation.
    """

    def __init__(
        self,
        start: Start,
        popsize: int | None = None,
        lr_adapt: bool = False,
        told_x: bool = False,
        blind: bool = True,
    ):
        import cmaes

        n = start.grown * (popsize or default_popsize(start.mean.size))
        options: dict[str, Any] = {"population_size": n, "seed": start.seed, "lr_adapt": lr_adapt}
        self.cma = cmaes.CMA(start.mean, start.sigma0, start.bounds, **options)
        self.told_x, self.blind = told_x, blind

    def step(self, world: World) -> None:
        theta = np.array([self.cma.ask() for _ in range(self.cma.population_size)])
        x, f = world(theta)
        self.cma.tell(list(zip(x if self.told_x else theta, f.tolist(), strict=True)))

    def stopped(self) -> bool:
        return self.cma.should_stop()

    @property
    def mean(self) -> np.ndarray:
        return self.cma.mean.copy()

    @property
    def popsize(self) -> int:
        return self.cma.population_size


class Phenes:
    """phenes.Optimizer with its defaults. It makes its own restarts: when it stops, the run is
    over.
    """

    def __init__(self, start: Start, budget: int, told_x: bool = True, popsize: int | None = None):
        from phenes.inputs import GaussianNoise
        from phenes.optimizer import Optimizer

        noise: Any = GaussianNoise(start.noise) if start.noise else None
        options: dict[str, Any] = {"popsize": popsize, "budget": budget, "seed": start.seed}
        options["bounds"] = start.bounds
        self.opt = Optimizer(start.mean, start.sigma0, noise, **options)
        self.told_x, self.left = told_x, budget

    def step(self, world: World) -> None:
        if self.opt.stop():
            raise Exhausted
        theta = self.opt.ask()[: self.left]
        x, f = world(theta)
        self.opt.tell(theta, f, realised=x if self.told_x else None)
        self.left -= len(theta)

    def stopped(self) -> bool:
        return False

    @property
    def mean(self) -> np.ndarray:
        return self.opt.mean

    @property
    def popsize(self) -> int:
        return self.opt.popsize
