"""One descent: CMA-ES with early Newton steps ("search"), then value-based Newton steps at the
noise floor ("newton").
"""

import numpy as np

from phenes.adaptive import cma, screen, steps
from phenes.adaptive.archive import Archive
from phenes.adaptive.normal import Normal
from phenes.adaptive.quadratic import axis_features, features_of
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

BARREN = 3  # populations in a row without any value after which a search is lost among failures
FLAT = 20  # generations in a row of equal values after which a run is given up
RETURN_WIDTH = 0.5  # of a search that goes back to where values differed, over what it was

MOST_ROWS = 20_000  # of a run whose size is the population's doing


def start(
    space: Space, mean: np.ndarray, width: float, popsize: int, value_noise: float = 0.0
) -> Run:
    """A run from `mean` (in x) with `width` times the user's start width."""
    p = features_of(space.dim)
    normal = Normal(
        space.to_y(mean), space.start() * width**2 + (np.diag(space.c) if space.full else space.c)
    )
    normal.settle(space.c)
    zero = np.zeros(space.dim)
    # restarts double their populations; what is kept must not grow with them beyond what models and
    # medians are made of
    archive = Archive(
        space.dim,
        max(20 * p if space.full else 2 * p, min(20 * popsize, MOST_ROWS), 2 * popsize, 1000),
    )
    return Run(
        normal,
        cma.Paths(zero, zero),
        archive,
        popsize,
        next_fit=int(1.3 * axis_features(space.dim)) + 1,
        value_noise=value_noise,
    )


def tell(run: Run, space: Space, x: np.ndarray, f: np.ndarray) -> None:
    """Takes in samples; moves on when a generation is complete or a model is due."""
    run.archive.add(x, f)
    run.evaluations += f.size
    run.barren = 0 if np.isfinite(f).any() else run.barren + f.size
    if run.barren >= BARREN * run.popsize:
        return _lost(run, space)
    if run.phase == "search":
        run.x_new = np.concatenate([run.x_new.reshape(-1, space.dim), x])
        run.f_new = np.concatenate([run.f_new, f])
        if run.f_new.size >= run.popsize:
            _generation(run, space)
    elif run.evaluations >= run.next_fit:
        steps.final_step(run, space)


def conclude(run: Run, space: Space) -> None:
    """A generation that stays incomplete: half of it is worth a step."""
    if run.phase == "search" and 2 * run.f_new.size >= run.popsize:
        _generation(run, space)


def _generation(run: Run, space: Space) -> None:
    run.generation += 1
    measured = np.all(np.isfinite(run.x_new), axis=1)
    x, f = run.x_new[measured], run.f_new[measured]
    run.x_new, run.f_new = np.empty((0, space.dim)), np.empty(0)
    if f.size and np.ptp(f) == 0:
        _plateau(run, space, float(f[0]))
    elif f.size and not steps.taken_back(run, space, f):
        run.flat = 0
        evaluated = f.size
        x, f = screen.population(run, space, x, f)
        cut = space.cuts(run.normal.mean, run.normal.search(space.c))
        longest, paired = np.sqrt(space.dim) + 3, screen.mirrors(space)
        cma.update(
            run.normal,
            run.paths,
            space.to_y(x),
            f,
            longest,
            evaluated,
            paired,
            space.inside if cut else None,
        )
        run.normal.mean = space.inside(run.normal.mean)
        run.normal.settle(space.c)
    if run.evaluations >= run.next_fit:
        steps.early_step(run, space)
    low = np.mean(run.normal.excess(space.c) < 0.05)
    run.at_floor = run.at_floor + 1 if low >= 0.5 else 0
    if run.phase == "newton":
        return
    if run.at_floor >= 5 + space.dim / 5 or run.near >= 2:
        steps.enter_final(run, space)
    else:
        _judge(run, space)


def _lost(run: Run, space: Space) -> None:
    """Nothing but failures: back to the best point of this run with a narrower search, or the end
    if there is none.
    """
    run.barren = 0
    if run.archive.best() is None:
        run.finished = "f fails wherever this search looked"
        return
    run.phase = "search"
    _go_back(run, space)


def _go_back(run: Run, space: Space) -> None:
    """To where the best value was seen, narrower: its neighbourhood is where values differ."""
    best = run.archive.best()
    assert best is not None
    run.x_new, run.f_new, run.kept_mean = np.empty((0, space.dim)), np.empty(0), np.empty(0)
    run.pool, run.unpaired = np.empty((0, space.dim)), np.empty((0, space.dim))
    run.normal.mean = space.inside(space.to_y(best[0]))
    search = run.normal.search(space.c) * RETURN_WIDTH**2
    run.normal.cov = search + (space.c if run.normal.diagonal else np.diag(space.c))
    run.paths = cma.Paths(np.zeros(space.dim), np.zeros(space.dim))
    run.normal.settle(space.c)
    run.at_floor = run.near = 0


def _plateau(run: Run, space: Space, value: float) -> None:
    """A generation of equal values orders nothing: the search stays as it is, or goes back to where
    there was something better.
    """
    run.flat += 1
    best = run.archive.best()
    if run.flat > FLAT:
        run.finished = "the values no longer differ"
    elif best is not None and value > best[1]:
        _go_back(run, space)


def _judge(run: Run, space: Space) -> None:
    """Ends a search that has not improved for long: the median of recent values, which no lucky
    sample moves.
    """
    p = features_of(space.dim)
    _, f = run.archive.newest(max(300, 10 * run.popsize))
    if f.size:
        median = float(np.median(f))
        if median < run.best_median:
            run.best_median, run.best_at = median, run.evaluations
        recent, best = f[-max(20, run.popsize) :], run.archive.best()
        if (
            f.size >= 20
            and np.ptp(recent) <= 1e-15 * abs(median)
            and np.ptp(f) > 0
            and best is not None
            and recent.min() <= best[1]
        ):
            run.finished = "the values no longer differ in double precision"
    if run.evaluations - run.best_at > 60 * p * max(1.0, run.popsize / 30):
        if space.noisy:  # only values tell whether there is more to gain
            return steps.enter_final(run, space)
        if steps.blind(run, space):
            return steps.look_through(run, space)
        run.finished = "the median of the values no longer improves"
    if np.max(run.normal.root / np.maximum(1.0, np.abs(run.normal.mean).max())) < 1e-14:
        run.finished = "the search is as narrow as double precision"
    if run.finished and f.size:
        # without noise older values are of a wider search, not of what was found
        f = f if space.noisy else f[-run.popsize :]
        run.value, run.error = float(f.mean()), float(f.std() / np.sqrt(f.size))


def move(run: Run, old: Space, new: Space) -> None:
    """The same distribution of theta in the coordinates of another noise."""
    cov = run.normal.search(old.c)
    if cov.ndim == 1:
        ratio = old.scale * old.width / (new.scale * new.width)
        cov, mean = cov * ratio**2 + new.c, run.normal.mean * ratio
    else:
        change = new.to_y(old.to_x(np.eye(old.dim)))  # rows: images of the unit vectors
        cov, mean = change.T @ cov @ change + np.diag(new.c), run.normal.mean @ change
        run.paths.c = run.paths.c @ change
    run.normal.mean = mean + (new.to_y(new.bias) - new.to_y(old.bias))
    run.kept_mean = np.empty(0)
    run.normal.cov = cov
    run.paths.s = np.zeros(old.dim)
    run.normal.settle(new.c)
