"""What one generation costs: phenes beside other libraries, where its time goes, and how it grows with the dimension.

Everything is timed in one run, in rounds that visit each contender in turn, so that a busy machine is busy for all of them. What counts
is the ratio to PAES as a compiled loop, taken within a round. Peers optimise the sphere itself; phenes also draws the input noise.
"""

import contextlib
import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jaxtyping import Array, PRNGKeyArray

from phenes import inputs, metric, weightings
from phenes.batch import Batch, weigh
from phenes.estimators import genotype, phenotype
from phenes.loop import OIU
from phenes.loop import run as run_compiled
from phenes.search import DiagonalGaussian, Gaussian, IsotropicGaussian
from phenes.strategy import State, Strategy, es, generation_keys

RATE = 0.05  # with weights of mean 1 any rate up to 1 keeps the covariance positive definite
NOISE = 0.1
SECTIONS = ("generation", "objective", "pieces", "growth")
REFERENCE = "phenes PAES, compiled loop"


@dataclass(frozen=True)
class Settings:
    """repeats: rounds. pieces_dims: those of `dims` where the time inside a generation is taken apart. scaling_dims, full_dims: dimensions
    for the growth of isotropic and diagonal search, and of full covariance."""

    dims: tuple[int, ...] = (10, 40, 100, 400)
    popsize: int = 100
    repeats: int = 7
    seed: int = 0
    pieces_dims: tuple[int, ...] = (10, 40, 400)
    scaling_dims: tuple[int, ...] = (100, 1000, 10_000, 100_000)
    full_dims: tuple[int, ...] = (50, 100, 200, 400)

    def __post_init__(self):
        if self.popsize < 4 or self.repeats < 1:
            raise ValueError(f"popsize must be at least 4 and repeats at least 1, got {self.popsize} and {self.repeats}")

    @classmethod
    def quick(cls) -> "Settings":
        return cls(dims=(10,), repeats=3, scaling_dims=(100, 1000), full_dims=())


@dataclass(frozen=True)
class Row:
    """Seconds for a generation: median of the rounds, with quartiles; ratio: to PAES as a compiled loop, in the same rounds.

    memory: bytes of temporaries of the compiled program. exponent: of time against dimension, fitted over the family's rows.
    """

    section: str
    name: str
    dim: int
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    memory: int | None = None
    exponent: float | None = None
    note: str = ""


class Timed(NamedTuple):
    """start(seed) makes a fresh run and warms it up, outside the clock; calling what it returns does `generations` of them.

    Warm: the first generation of CMA-ES samples from the identity, without an eigendecomposition, and is not like those that follow.
    """

    section: str
    name: str
    generations: int
    start: Callable[[int], Callable[[], Any]]


def run(settings: Settings, progress: Callable[[int, int], None] = lambda done, total: None) -> list[Row]:
    """Peers, pieces and growth. `progress(done, total)` is called after each round."""
    growth_rounds = min(settings.repeats, 3)  # slow, and steady enough
    total, done, rows = len(settings.dims) * settings.repeats + growth_rounds, 0, []

    def step() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    for d in settings.dims:
        rows += compare(d, settings, step)
    return rows + scaling(settings.scaling_dims, settings.full_dims, settings.popsize, growth_rounds, step)


def compare(d: int, settings: Settings, step: Callable[[], None] = lambda: None) -> list[Row]:
    """All contenders at one dimension, and the pieces of a generation, in interleaved rounds."""
    n, repeats, seed = settings.popsize, settings.repeats, settings.seed
    with jax.enable_x64(True):
        contenders, missing = _contenders(d, n)
        contenders += _pieces(d, n) if d in settings.pieces_dims else []
        seconds = _rounds(contenders, repeats, seed, step)
    rows = [_row(c, d, seconds[c.name], seconds[REFERENCE]) for c in contenders]
    return sorted(rows + [Row(SECTIONS[0], name, d, note="not installed") for name in missing], key=lambda row: SECTIONS.index(row.section))


def _contenders(d: int, n: int) -> tuple[list[Timed], list[str]]:
    contenders, missing = [*_phenes(d, n), *_spheres(d, n)], []
    for module, names, make in (
        ("cma", ["pycma"], _pycma),
        ("cmaes", ["cmaes"], _cmaes),
        ("evosax.algorithms", ["evosax CMA_ES, compiled loop", "evosax CMA_ES, ask and tell"], _evosax),
    ):
        try:
            contenders += make(importlib.import_module(module), d, n)
        except ImportError:
            missing += names
    return contenders, missing


def _rounds(contenders: list[Timed], repeats: int, seed: int, step: Callable[[], None]) -> dict[str, list[float]]:
    """Seconds for a generation, by contender and round."""
    for contender in contenders:
        contender.start(seed)()  # compile
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for r in range(repeats):
        # another one begins each time, so that none always follows the same neighbour
        shift = r % max(len(contenders), 1)
        for contender in contenders[shift:] + contenders[:shift]:
            advance = contender.start(seed + r)
            before = time.perf_counter()
            advance()
            seconds[contender.name].append((time.perf_counter() - before) / contender.generations)
        step()
    return seconds


def _row(contender: Timed, d: int, seconds: list[float], reference: list[float]) -> Row:
    ratios = [own / other for own, other in zip(seconds, reference, strict=True)]
    return Row(contender.section, contender.name, d, *_quartiles(seconds), *_quartiles(ratios))


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    """Median, lower and upper quartile."""
    low, high = np.quantile(values, [0.25, 0.75])
    return statistics.median(values), float(low), float(high)


def _loop_length(d: int) -> int:
    """Long enough to time, short enough that no search has converged to nothing."""
    return min(max(2000 // d, 5), 200)


def _host_length(d: int) -> int:
    return max(200 // d, 2)


# phenes


class Setup(NamedTuple):
    problem: OIU
    strategy: Strategy
    q: Any


def _setup(q: Any, n: int, estimator: Any = phenotype) -> Setup:
    problem = OIU(inputs.GaussianNoise(NOISE), lambda x: -jnp.sum(x**2))
    return Setup(problem, es(problem.p, estimator, weightings.log_ranks, optax.sgd(RATE), n), q)


def _mean(d: int) -> Array:
    # of a stated dtype: jnp.full(d, 2.0) is weakly typed, and ask and tell would be compiled a second time for what comes after it
    return jnp.full(d, 2.0, jnp.result_type(float))


def _full(d: int) -> Gaussian:
    return Gaussian(_mean(d), 0.25 * jnp.eye(d))


def _phenes(d: int, n: int) -> list[Timed]:
    setups = {"PAES": _setup(_full(d), n, phenotype), "ES": _setup(_full(d), n, genotype)}
    paes = setups["PAES"]
    # asking is the same for both: one compilation
    ask = jax.jit(lambda key, state: paes.problem.realise(key, state.generation, paes.strategy.ask(key, state)))
    loops = [
        Timed("generation", f"phenes {name}, compiled loop", _loop_length(d), _compiled(setup, _loop_length(d)))
        for name, setup in setups.items()
    ]
    hosts = [
        Timed("generation", f"phenes {name}, ask and tell", _host_length(d), _asked(setup, ask, _host_length(d)))
        for name, setup in setups.items()
    ]
    return loops + hosts


def _compiled(setup: Setup, steps: int) -> Callable[[int], Callable[[], Any]]:
    loop = jax.jit(lambda key, q: run_compiled(key, setup.problem, setup.strategy, q, steps))

    def start(seed: int) -> Callable[[], Any]:
        key = jax.random.key(seed)
        return lambda: jax.block_until_ready(loop(key, setup.q))

    return start


def _asked(setup: Setup, ask: Callable[..., Batch], steps: int) -> Callable[[int], Callable[[], Any]]:
    """Two compiled functions, called from Python around a NumPy objective."""
    tell = jax.jit(setup.strategy.tell)

    def start(seed: int) -> Callable[[], Any]:
        key = jax.random.key(seed)

        def generation(state: State) -> State:
            batch = ask(key, state)
            return tell(state, batch._replace(f=jnp.asarray(-_sphere_of_all(np.asarray(batch.x)))))[0]

        return _from_second(generation, setup.strategy.init(setup.q), steps)

    return start


def _from_second(generation: Callable[[Any], Any], state: Any, steps: int) -> Callable[[], Any]:
    """The first generation now, the others when called."""
    second = jax.block_until_ready(generation(state))

    def advance() -> Any:
        state = second
        for _ in range(steps):
            state = generation(state)
        return jax.block_until_ready(state)

    return advance


# peers


def _sphere(x: np.ndarray) -> float:
    return float(np.sum(x**2))


def _sphere_of_all(x: np.ndarray) -> np.ndarray:
    return np.sum(x**2, axis=1)


def _spheres(d: int, n: int) -> list[Timed]:
    """The objective by itself, to be subtracted where it matters."""
    x = np.random.default_rng(0).standard_normal((n, d))

    def one_by_one() -> None:
        for _ in range(20):
            [_sphere(one) for one in x]

    def all_at_once() -> None:
        for _ in range(20):
            _sphere_of_all(x)

    return [
        Timed("objective", "sphere in NumPy, one by one", 20, lambda seed: one_by_one),
        Timed("objective", "sphere in NumPy, all at once", 20, lambda seed: all_at_once),
    ]


def _pycma(cma: Any, d: int, n: int) -> list[Timed]:
    def start(seed: int) -> Callable[[], Any]:
        def generation(strategy: Any) -> Any:
            x = strategy.ask()
            strategy.tell(x, [_sphere(one) for one in x])
            return strategy

        options = {"popsize": n, "seed": seed + 1, "verbose": -9}
        return _from_second(generation, cma.CMAEvolutionStrategy(np.full(d, 2.0), 0.5, options), _host_length(d))

    return [Timed("generation", "pycma", _host_length(d), start)]


def _cmaes(cmaes: Any, d: int, n: int) -> list[Timed]:
    def start(seed: int) -> Callable[[], Any]:
        def generation(strategy: Any) -> Any:
            asked = [strategy.ask() for _ in range(n)]
            strategy.tell([(x, _sphere(x)) for x in asked])
            return strategy

        strategy = cmaes.CMA(mean=np.full(d, 2.0), sigma=0.5, population_size=n, seed=seed)
        return _from_second(generation, strategy, _host_length(d))

    return [Timed("generation", "cmaes", _host_length(d), start)]


@contextlib.contextmanager
def _lenient():
    """evosax relies on promotions that a strict program may have forbidden."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        yield


def _evosax(algorithms: Any, d: int, n: int) -> list[Timed]:
    with _lenient():
        algorithm = algorithms.CMA_ES(population_size=n, solution=jnp.zeros(d))
        parameters = algorithm.default_params.replace(std_init=jnp.asarray(0.5))

    def fresh(seed: int) -> Any:
        state = algorithm.init(jax.random.key(seed), _mean(d), parameters)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, leaf.dtype), state)

    def generation(state: Any, keys: Any, sphere: Callable[[Any], Any]) -> Any:
        x, state = algorithm.ask(keys[0], state, parameters)
        return algorithm.tell(keys[1], x, sphere(x), state, parameters)[0]

    def compiled(state: Any, keys: PRNGKeyArray) -> tuple[Any, None]:
        return generation(state, keys, lambda x: jnp.sum(x**2, axis=1)), None

    loop = jax.jit(lambda state, keys: lax.scan(compiled, state, keys)[0])

    def start_loop(seed: int) -> Callable[[], Any]:
        with _lenient():
            state, keys = fresh(seed), jax.random.split(jax.random.key(seed), (_loop_length(d), 2))
        return lambda: _leniently(lambda: loop(state, keys))

    def start_host(seed: int) -> Callable[[], Any]:
        with _lenient():
            keys = iter(list(jax.random.split(jax.random.key(seed), 2 * (1 + _host_length(d)))))
            host = _from_second(
                lambda state: generation(state, (next(keys), next(keys)), lambda x: jnp.asarray(_sphere_of_all(np.asarray(x)))),
                fresh(seed),
                _host_length(d),
            )
        return lambda: _leniently(host)

    return [
        Timed("generation", "evosax CMA_ES, compiled loop", _loop_length(d), start_loop),
        Timed("generation", "evosax CMA_ES, ask and tell", _host_length(d), start_host),
    ]


def _leniently(call: Callable[[], Any]) -> Any:
    with _lenient():
        return jax.block_until_ready(call())


# where the time goes


def _pieces(d: int, n: int) -> list[Timed]:
    """The stations of a generation, each alone in a compiled loop. Together they may take longer than the whole, where work is shared."""
    problem, strategy, q = _setup(_full(d), n)
    state, p = strategy.init(q), problem.p
    key, optimiser = jax.random.key(0), optax.sgd(RATE)
    batch = _population(problem, strategy, state)

    @jax.jit
    def directions(batch):
        w = weigh(weightings.log_ranks, batch.f)
        g = phenotype(p, q, batch, w)
        return w, g, metric.natural(p, q, g)

    w, g, direction = directions(batch)

    def random_numbers(generation):
        keys = generation_keys(key, generation)
        return q.draw(keys.theta, n), q.draw(keys.x, n)

    def sample(q, xi, noise):
        theta = jax.vmap(q.push)(xi)
        return theta, theta + NOISE * noise

    def move(q, direction):
        updates, _ = optimiser.update(jax.tree.map(jnp.negative, direction), state.optimiser)
        return q.move(updates)

    pieces = {
        "random numbers": (random_numbers, (state.generation,)),
        "theta and x": (sample, (q, batch.xi, batch.xi)),
        "f": (problem.evaluate, (batch.x,)),
        "weighting": (lambda f: weigh(weightings.log_ranks, f), (batch.f,)),
        "estimator, phenotype": (lambda q, x, w: phenotype(p, q, batch._replace(x=x), w), (q, batch.x, w)),
        "estimator, genotype": (lambda q, theta, w: genotype(p, q, batch._replace(theta=theta), w), (q, batch.theta, w)),
        "metric": (lambda q, g: metric.natural(p, q, g), (q, g)),
        "move": (move, (q, direction)),
    }
    return [Timed("pieces", name, _loop_length(d), _repeated(piece, args, _loop_length(d))) for name, (piece, args) in pieces.items()]


def _repeated(piece: Callable[..., Any], args: tuple[Any, ...], steps: int) -> Callable[[int], Callable[[], Any]]:
    @jax.jit
    def loop(args):
        empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(piece, *args))

        def body(_, i):
            # what does not change from one turn to the next would be computed once, before the loop
            return piece(*jax.tree.map(lambda leaf: leaf + i.astype(leaf.dtype) * _tiny(leaf), args)), None

        return lax.scan(body, empty, jnp.arange(steps))[0]

    return lambda seed: lambda: jax.block_until_ready(loop(args))


def _tiny(leaf: Array) -> Array:
    return jnp.asarray(1e-15 if jnp.issubdtype(leaf.dtype, jnp.inexact) else 1, leaf.dtype)


# growth with the dimension


def scaling(
    dims: tuple[int, ...] = (100, 1000, 10_000, 100_000),
    full_dims: tuple[int, ...] = (50, 100, 200, 400),
    popsize: int = 100,
    repeats: int = 5,
    step: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Time and memory of one compiled generation (tell, ask, f): isotropic and diagonal search at `dims`, full at `full_dims`."""
    families = {
        "isotropic": (lambda d: IsotropicGaussian(_mean(d), 0.5), dims),
        "diagonal": (lambda d: DiagonalGaussian(_mean(d), 0.5), dims),
        "full": (_full, full_dims),
    }
    with jax.enable_x64(True):
        cells = {(name, d): _compile_generation(_setup(make(d), popsize)) for name, (make, ds) in families.items() for d in ds}
        timed = [Timed("growth", f"{name} {d}", cell.generations, cell.start) for (name, d), cell in cells.items()]
        seconds = _rounds(timed, repeats, 0, step)
    return [
        Row("growth", f"{name} search", d, *_quartiles(seconds[f"{name} {d}"]), memory=cells[name, d].memory, exponent=exponent)
        for name, (_, ds) in families.items()
        for exponent in [_exponent(ds, [seconds[f"{name} {d}"] for d in ds])]
        for d in ds
    ]


class Compiled(NamedTuple):
    generations: int
    start: Callable[[int], Callable[[], Any]]
    memory: int
    operations: float  # as the compiler counts them, which leaves out what LAPACK does


def _compile_generation(setup: Setup) -> Compiled:
    def generation(key: PRNGKeyArray, state: State, batch: Batch) -> tuple[State, Batch]:
        state, _ = setup.strategy.tell(state, batch)
        batch = setup.problem.realise(key, state.generation, setup.strategy.ask(key, state))
        return state, batch._replace(f=setup.problem.evaluate(batch.x))

    key, state = jax.random.key(0), setup.strategy.init(setup.q)
    batch = _population(setup.problem, setup.strategy, state)
    compiled = jax.jit(generation).lower(key, state, batch).compile()
    generations = min(max(10_000 // setup.q.dim, 1), 20)

    def start(seed: int) -> Callable[[], Any]:
        # as everywhere, one generation goes before, untimed: the neighbour may have left a gigabyte to be given back
        return _from_second(lambda _: jax.block_until_ready(compiled(key, state, batch)), None, generations)

    memory, cost = compiled.memory_analysis(), compiled.cost_analysis()
    assert memory is not None, "the CPU compiler always gives one"
    assert cost is not None, "and the other too"
    return Compiled(generations, start, memory.temp_size_in_bytes, cost["flops"])


def _population(problem: OIU, strategy: Strategy, state: State) -> Batch:
    """One with the right shapes, from NumPy: a program for each shape that is run only once would be most of the benchmark's time."""
    key, rng = jax.random.key(0), np.random.default_rng(0)
    shapes = jax.eval_shape(lambda: problem.realise(key, state.generation, strategy.ask(key, state)))
    xi = rng.standard_normal(shapes.xi.shape)
    theta = 2.0 + 0.5 * xi
    x = theta + NOISE * rng.standard_normal(xi.shape)
    return jax.tree.map(jnp.asarray, Batch(theta, x, -_sphere_of_all(x), xi, generation_keys(key, 0).estimator))


def _exponent(dims: tuple[int, ...], seconds: list[list[float]]) -> float | None:
    """Slope of log time against log d."""
    if len(dims) < 2:
        return None
    return float(np.polyfit(np.log(dims), np.log([statistics.median(s) for s in seconds]), 1)[0])


def table(rows: list[Row]) -> Any:
    """For people, as a `rich` table."""
    from rich.table import Table

    out = Table(title="One generation: median of the rounds (quartiles)", caption=f"ratio: to {REFERENCE}, in the same rounds")
    for name in ("what", "d", "time", "ratio", "memory", "exponent of time in d"):
        out.add_column(name, justify="left" if name == "what" else "right")
    previous = None
    for row in rows:
        if previous not in (None, (row.section, row.dim)) and row.section != "growth":
            out.add_section()
        out.add_row(*_texts(row))
        previous = (row.section, row.dim)
    return out


def _texts(row: Row) -> list[str]:
    name = f"  of which {row.name}" if row.section == "pieces" else row.name
    if row.seconds is None:
        return [name, str(row.dim), row.note, "", "", ""]
    seconds = f"{_duration(row.seconds)} ({_duration(row.low)} to {_duration(row.high)})"
    ratio = "" if row.ratio is None else f"{row.ratio:.3g} ({row.ratio_low:.3g} to {row.ratio_high:.3g})"
    memory = "" if row.memory is None else f"{row.memory / 2**20:.3g} MiB"
    return [name, str(row.dim), seconds, ratio, memory, "" if row.exponent is None else f"{row.exponent:.2f}"]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"


def as_json(rows: list[Row]) -> dict[str, Any]:
    """Plain numbers and strings."""
    return {"benchmark": "generation", "reference": REFERENCE, "rows": [asdict(row) for row in rows]}
