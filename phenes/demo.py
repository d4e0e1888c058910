"""`phenes demo`: ES against PAES where the place you aim at is not the place you hit.

An assembly of parts, each aimed at a point of the plane and realised with Gaussian error. What a
part is worth is the mixture of Gaussians of Frohlich et al. (2020, "Noisy-input entropy search"):
two narrow peaks that the error ruins, and a broad, lower one that survives it. f is the mean over
the parts. A Gaussian bump smoothed by a Gaussian is a Gaussian bump, so E f and the regret are
exact.

Both methods have the same random numbers, search law, population, weights (standardised values:
ranks would move the optimum of E f), metric and learning rates; only the estimator differs. The
learning rates are those with which ES, not PAES, needs fewest evaluations. A wider search with
rates of its own (spread 0.075, 3.6 / (1 + t/3)) saves ES another fifth, no more.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float
from rich.table import Table

import phenes
from phenes import checks

CENTRES = ((0.2, 0.2), (0.8, 0.2), (0.5, 0.7))
WIDTHS = (0.2, 0.1, 0.1)
HEIGHTS = (0.5, 0.7, 0.7)

ESTIMATORS = {"ES": phenes.estimators.genotype, "PAES": phenes.estimators.phenotype}
QUARTILES = (0.25, 0.5, 0.75)
# seeds that run together: enough to keep the processor busy, few enough for a bar that moves
CHUNK = 5

Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class DemoSettings:
    """`starts`: where each part is aimed at first. `within`: the regret to reach, as a share of the
    robust optimum.
    """

    seeds: int = 40
    generations: int = 750
    seed: int = 0
    popsize: int = 40
    noise: float = 0.1
    spread: float = 0.05
    learning_rate: float = 4.0
    decay: float = 5.0  # the rate of generation t is learning_rate / (1 + t / decay)
    starts: tuple[tuple[float, float], ...] = (
        (0.44, 0.36),
        (0.46, 0.13),
        (0.08, 0.52),
        (0.25, 0.44),
        (0.46, 0.22),
    )
    within: float = 5e-4

    def __post_init__(self):
        for name in ("seeds", "generations", "popsize"):
            checks.count(name, getattr(self, name))
        for name in ("noise", "spread", "learning_rate", "decay", "within"):
            checks.positive(name, getattr(self, name))

    @property
    def predicted_gain(self) -> float:
        """Variance of the gradient of the mean near the optimum, ES over PAES: 1 + (C/S) / (1 +
        4/d).

        There f is quadratic and the standardised weight w = (d - r^2) / sqrt(2d), r^2 = |x -
        mean|^2 / (S + C). Weights and distances are thus related, E[w^2 r^2] = (1 + 4/d) E[w^2]
        E[r^2]; if they were not, the ratio would be 1 + C/S.
        """
        return 1 + (self.noise / self.spread) ** 2 / (1 + 4 / np.size(self.starts))

    @property
    def evaluations(self) -> np.ndarray:
        """How many there were after each generation."""
        return self.popsize * np.arange(1, self.generations + 1)


@dataclass(frozen=True)
class Results:
    """The mean of q after each generation, [seeds, generations, 2 parts], by method."""

    settings: DemoSettings
    means: dict[str, np.ndarray]


def landscape(x: Any, noise: float) -> Any:
    """What a part aimed at x [..., 2] is worth on average, if it ends up N(x, noise^2 I); f itself
    at noise = 0.
    """
    return sum(_bumps(x, noise))


def _bumps(x: Any, noise: float) -> Iterator[Any]:
    # JAX inside the loop, NumPy outside of it, where nothing is worth compiling
    exp = x.__array_namespace__().exp
    for (left, up), width, height in zip(CENTRES, WIDTHS, HEIGHTS, strict=True):
        variance = width**2 + noise**2
        distance = (x[..., 0] - left) ** 2 + (x[..., 1] - up) ** 2
        yield height * width**2 / variance * exp(-distance / (2 * variance))


def assembly(x: Any, noise: float = 0.0) -> Any:
    """The mean over the parts of x [..., 2 parts]: f at noise = 0, else E f."""
    return landscape(x.reshape(*x.shape[:-1], -1, 2), noise).mean(-1)


def optimum(noise: float) -> tuple[np.ndarray, float]:
    """The best place to aim at under this noise, and its worth.

    Where the gradient is zero, x is the mean of the centres, each weighted by its bump over its
    variance; iterated from every centre.
    """
    centres, variances = np.array(CENTRES), np.array(WIDTHS) ** 2 + noise**2
    x = centres
    for _ in range(100):
        weights = np.stack(list(_bumps(x, noise)), axis=-1) / variances
        x = weights @ centres / weights.sum(-1, keepdims=True)
    worth = landscape(x, noise)
    return x[np.argmax(worth)], float(worth.max())


def run(settings: DemoSettings, progress: Progress = lambda done, total: None) -> Results:
    """Both methods on the same keys."""
    total = len(ESTIMATORS) * settings.seeds
    means = {}
    for k, method in enumerate(ESTIMATORS):
        means[method] = run_method(
            settings, method, lambda done, before=k * settings.seeds: progress(before + done, total)
        )
    return Results(settings, means)


def run_method(
    settings: DemoSettings, method: str, progress: Callable[[int], Any] = lambda done: None
) -> np.ndarray:
    """The mean of q after each generation, [seeds, generations, 2 parts]; a few seeds at a time."""
    progress(0)
    compiled = _compiled(settings, ESTIMATORS[method])
    # all chunks are of one size, so that one compilation does for all: the last may run more seeds
    # than were asked for
    keys = jax.vmap(lambda i: jax.random.fold_in(jax.random.key(settings.seed), i))(
        jnp.arange(settings.seeds + CHUNK - 1)
    )
    chunks = []
    for first in range(0, settings.seeds, CHUNK):
        chunks.append(np.asarray(compiled(keys[first : first + CHUNK])))
        progress(min(first + CHUNK, settings.seeds))
    return np.concatenate(chunks)[: settings.seeds]


def _compiled(settings: DemoSettings, estimator: Any) -> Callable[[Array], Array]:
    """keys[n] -> means of q, [n, generations, 2 parts]."""
    problem = phenes.OIU(phenes.inputs.GaussianNoise(settings.noise), assembly)
    optimiser = optax.sgd(
        lambda t: settings.learning_rate / (1 + jnp.asarray(t, float) / settings.decay)
    )
    strategy = phenes.es(
        problem.p,
        estimator,
        phenes.weightings.standardise,
        optimiser,
        settings.popsize,
        std=settings.spread,
    )
    q0 = phenes.search.IsotropicGaussian(np.ravel(settings.starts), settings.spread)

    def one(key):
        _, (_, mean) = phenes.run(
            key,
            problem,
            strategy,
            q0,
            settings.generations,
            report=lambda state, batch: state.q.mean,
        )
        return mean

    return jax.jit(jax.vmap(one))


def save(results: Results, path: Path) -> Path:
    """Numbers only; `load` reads them back."""
    settings = np.array(json.dumps(dataclasses.asdict(results.settings)))
    arrays: dict[str, Any] = {"settings": settings, **results.means}
    np.savez_compressed(path, **arrays)
    return path


def load(path: Path) -> Results:
    with np.load(path, allow_pickle=False) as file:
        settings = json.loads(str(file["settings"]))
        settings["starts"] = tuple(map(tuple, settings["starts"]))
        return Results(DemoSettings(**settings), {method: file[method] for method in ESTIMATORS})


def regret(results: Results, method: str) -> Float[np.ndarray, "seeds generations"]:
    """max E f - E f(mean of q), exact."""
    noise = results.settings.noise
    return optimum(noise)[1] - assembly(results.means[method], noise)


def reached(evaluations: np.ndarray, curve: np.ndarray, target: float) -> int | None:
    """After how many evaluations the curve is below the target; None if it does not end below.

    A curve that wavers across the target counts for the time that it is above: first passages
    flatter a noisy curve, last ones smear it.
    """
    return None if curve[-1] >= target else int(evaluations[np.count_nonzero(curve >= target)])


@dataclass(frozen=True)
class Score:
    """Of one method: quartiles over the seeds of the last regret, and the evaluations after which a
    quarter, half and three quarters of the runs are within the target (None: not in this
    budget)."""

    regret: tuple[float, ...]
    evaluations: tuple[int | None, ...]


@dataclass(frozen=True)
class Summary:
    """What the table and the title of the figure say. `ratio` is of the medians, ES over PAES,
    where both reached the target.
    """

    seeds: int
    budget: int
    within: float
    target: float
    scores: dict[str, Score]
    ratio: float | None
    ratio_interval: tuple[float, float] | None  # 95 %, bootstrap over the seeds
    regret_ratio: float
    predicted_gain: float


def summary(results: Results) -> Summary:
    settings = results.settings
    target = settings.within * optimum(settings.noise)[1]
    curves = {method: regret(results, method) for method in ESTIMATORS}
    scores = {method: _score(settings, runs, target) for method, runs in curves.items()}
    return Summary(
        seeds=settings.seeds,
        budget=int(settings.evaluations[-1]),
        within=settings.within,
        target=target,
        scores=scores,
        ratio=_ratio(*(score.evaluations[1] for score in scores.values())),
        ratio_interval=_bootstrap(settings, curves, target),
        regret_ratio=scores["ES"].regret[1] / scores["PAES"].regret[1],
        predicted_gain=settings.predicted_gain,
    )


def _score(settings: DemoSettings, runs: np.ndarray, target: float) -> Score:
    curves = np.quantile(runs, QUARTILES, axis=0)
    return Score(
        tuple(map(float, curves[:, -1])),
        tuple(reached(settings.evaluations, curve, target) for curve in curves),
    )


def _ratio(es: int | None, paes: int | None) -> float | None:
    return None if es is None or paes is None else es / paes


def _bootstrap(
    settings: DemoSettings, curves: dict[str, np.ndarray], target: float, draws: int = 200
) -> tuple[float, float] | None:
    """The middle 95 % of the ratio over sets of seeds drawn from these; None if in some of them a
    method misses the target.
    """
    random = np.random.default_rng(settings.seed)
    ratios = []
    for rows in random.integers(settings.seeds, size=(draws, settings.seeds)):
        ratios.append(
            _ratio(
                *(
                    reached(settings.evaluations, np.median(runs[rows], axis=0), target)
                    for runs in curves.values()
                )
            )
        )
    if None in ratios:
        return None
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def finding(result: Summary) -> str:
    """The result in one sentence."""
    goal = f"within {100 * result.within:g} % of the robust optimum"
    es, paes = (result.scores[method].evaluations[1] for method in ("ES", "PAES"))
    if result.ratio is not None:
        more_or_fewer = "fewer" if result.ratio >= 1 else "more"
        return (
            f"PAES gets {goal} with {max(result.ratio, 1 / result.ratio):.1f} times {more_or_fewer}"
            " evaluations than ES"
        )
    if paes is not None:
        return f"PAES gets {goal} in {paes:,} evaluations, ES not in {result.budget:,}"
    if es is not None:
        return f"ES gets {goal} in {es:,} evaluations, PAES not in {result.budget:,}"
    return (
        f"Neither gets {goal} in {result.budget:,} evaluations; the regret of ES is"
        f" {result.regret_ratio:.1f} times that of PAES"
    )


def table(result: Summary) -> Table:
    out = Table(title=finding(result), title_justify="left", caption_justify="left")
    out.caption = (
        f"Median (quartiles) over {result.seeds} seeds of {result.budget:,} evaluations each. "
        f"Expected of the regrets near the optimum: {result.predicted_gain:.1f}."
    )
    out.add_column("")
    out.add_column("regret at the end, in 1e-4", justify="right")
    out.add_column(f"evaluations to a regret of {1e4 * result.target:.1f}", justify="right")
    for method, score in result.scores.items():
        evaluations = ["never" if n is None else f"{n:,}" for n in score.evaluations]
        out.add_row(method, _spread([f"{1e4 * r:.2f}" for r in score.regret]), _spread(evaluations))
    out.add_row("ES / PAES", f"{result.regret_ratio:.1f}", _ratio_text(result))
    return out


def _spread(values: list[str]) -> str:
    low, middle, high = values
    return f"{middle} ({low} to {high})"


def _ratio_text(result: Summary) -> str:
    if result.ratio is None:
        return "-"
    interval = (
        ""
        if result.ratio_interval is None
        else " (95 %: {:.1f} to {:.1f})".format(*result.ratio_interval)
    )
    return f"{result.ratio:.1f}{interval}"
