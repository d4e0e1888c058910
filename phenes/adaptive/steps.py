"""Steps on models of f within a run: when a model is due, what is done with it, and when the final
phase begins.
"""

import dataclasses

import numpy as np

from phenes.adaptive import box, estimate, newton
from phenes.adaptive.cma import Paths
from phenes.adaptive.quadratic import Fit, axis_features, dear, features_of
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

# A model of this many features costs less time than a generation or two. Larger ones are tried less
# often (their cost grows like p^3).
CHEAP_FEATURES = 100


def early_step(run: Run, space: Space) -> None:
    """On the way, when a model is due: a step if it explains nearly everything."""
    model = _due(run, space)
    if model is not None and not space.noisy:
        _watch(run, space, model)
    if model is None or model.r2 < 0.95:
        run.near = 0
        return
    excess = _excess_along(run, space, model.turn)
    # with curvature along the axes only, wider only while it pays: what such a model misses grows
    # faster than what it sees
    median = float(np.median(run.archive.newest(run.popsize)[1]))
    step = newton.early(
        model,
        excess,
        _confine(run, space, model),
        model.turn is not None or median < run.early_median,
    )
    run.early_median = median
    _keep(run)
    _apply(run, space, model, step)
    run.paths = Paths(np.zeros(space.dim), np.zeros(space.dim))
    stiff = (model.h > 3 * newton.edge_of(model)) & (excess <= 0.5)
    weight = model.g**2 + model.h**2 / 2  # of each direction in the variance of f
    # most of the variation is the noise's: ranks say little more, values do
    run.near = run.near + 1 if step.length < 1 and weight[stiff].sum() > weight.sum() / 2 else 0


def _due(run: Run, space: Space) -> Fit | None:
    """The model of now, and when the next one is due: after half as many new rows as features."""
    p = features_of(space.dim)
    if dear(space.dim):
        run.next_fit = run.evaluations + max(axis_features(space.dim), run.popsize)
        return estimate.thrifty_model_of(run, space)
    # all of a generation and some more: in few dimensions a handful of points would fit anything
    model = estimate.model_of(run, space, max(2 * p, run.popsize + 10))
    wait = (model.features if model is not None else axis_features(space.dim)) // 2
    # models that keep failing wait longer and longer
    run.failures = (
        run.failures + 1 if model is not None and model.features == p and model.r2 < 0.95 else 0
    )
    run.next_fit = run.evaluations + max(
        wait * max(1, min(run.failures // 3, p // CHEAP_FEATURES)), run.popsize
    )
    return model


def _keep(run: Run) -> None:
    """Remembers where the search was, and what the values after the step must stay below: well
    beyond the worst of now.
    """
    run.kept_mean, run.kept_cov = run.normal.mean.copy(), run.normal.cov.copy()
    f = run.archive.newest(run.popsize)[1]
    run.bar = float(2 * f.max() - np.median(f))


def taken_back(run: Run, space: Space, f: np.ndarray) -> bool:
    """True if the middle of the generation after an early step is far worse than all before it:
    then everything is as it was.
    """
    failed = (
        run.kept_mean.size > 0
        and not float(np.median(np.where(np.isfinite(f), f, np.inf))) <= run.bar
    )
    if failed:
        run.normal.mean, run.normal.cov = run.kept_mean, run.kept_cov
        run.pool = np.empty((0, space.dim))  # candidates of the search that is given up
        run.normal.settle(space.c)
        run.failures += 3
    run.kept_mean = np.empty(0)
    return failed


def _watch(run: Run, space: Space, model: Fit) -> None:
    """Without noise on the inputs: is it on the values? Then what is not explained stays as large
    while the search becomes narrow.

    Thirty times narrower: ripples in f that a wide search cannot explain are smooth by then.
    """
    if model.r2 < 0.5 and model.residual < 1.5 * run.value_noise:  # known from an earlier run
        enter_final(run, space)
    elif model.r2 > 0.5 or model.residual < 0.4 * run.blind_residual:
        run.blind_residual, run.blind_width = 0.0, 0.0
    elif run.blind_residual == 0:
        run.blind_residual, run.blind_width = model.residual, run.normal.log_width
    elif run.blind_width - run.normal.log_width > np.log(30):
        look_through(run, space)


def blind(run: Run, space: Space) -> bool:
    """True if a search that came to rest sees nothing but noise of the values."""
    model = estimate.model_of(run, space, 2 * features_of(space.dim))
    if model is not None and model.r2 < 0.5 and run.blind_residual == 0:
        run.blind_residual, run.blind_width = model.residual, run.normal.log_width + np.log(30)
    return run.blind_residual > 0


def look_through(run: Run, space: Space) -> None:
    """The values are noisy: back to the width at which the signal was lost, and on with
    averages.
    """
    run.value_noise = run.blind_residual
    run.normal.cov = run.normal.cov * np.exp(2 * (run.blind_width - run.normal.log_width))
    run.normal.settle(space.c)
    enter_final(run, space)


def enter_final(run: Run, space: Space) -> None:
    """From here on values only; the newest samples count as the first of this phase."""
    p = features_of(space.dim)
    run.phase = "newton"
    run.entered = run.evaluations - min(2 * p, run.evaluations)
    run.next_fit = run.evaluations + run.popsize


def _start_log_width(space: Space) -> float:
    cov = space.start()
    return float(
        np.mean(np.log(cov)) / 2 if cov.ndim == 1 else np.linalg.slogdet(cov)[1] / (2 * space.dim)
    )


def _wide_enough(run: Run, space: Space) -> bool:
    """As wide as the noise that is declared but not measured, or twice as wide as where the signal
    was lost.

    F is smooth at the scale of that noise, and no quadratic far beyond: averages have to do the
    rest.
    """
    if not space.smooth.any():
        return False
    lost = run.blind_residual > 0 and run.normal.log_width > run.blind_width + np.log(2)
    return bool(lost or np.any((space.smooth > 0) & (space.std_x(run.normal.cov) >= space.smooth)))


def _excess_along(run: Run, space: Space, turn: np.ndarray | None) -> np.ndarray:
    """Variance of the search over that of the noise along the axes of a model."""
    with np.errstate(divide="ignore"):
        return 1 / estimate.noise_along(run, space, turn) - 1


def _confine(run: Run, space: Space, model: Fit) -> newton.Confine:
    """What the box makes of the model's advice."""
    return lambda u, curvature: (
        box.nearest(space, run.normal, model.turn, u, curvature) if space.boxed else u
    )


def _apply(run: Run, space: Space, model: Fit, step: newton.Step) -> None:
    move = step.move if model.turn is None else model.turn @ step.move
    target = run.normal.mean + run.normal.unwhiten(move)
    run.normal.rescale(model.turn, step.factors)
    run.normal.mean = space.inside(target)
    run.normal.settle(space.c)


def final_step(run: Run, space: Space) -> None:
    """In the final phase, when a model is due: a step; then more data if it was within the errors,
    newer data if not.
    """
    p = features_of(space.dim)
    own = run.evaluations - run.entered
    least = max(run.popsize, p // 4 if p <= 2 * CHEAP_FEATURES else p // 2)
    run.next_fit = run.evaluations + max(int(0.3 * own), least)
    if run.kept_mean.size and taken_back(
        run, space, run.archive.raw(run.evaluations - run.stepped)
    ):
        return
    model, z, f = estimate.rich_model_of(run, space, own)
    if model is None:
        return
    run.generation += 1
    step = newton.final(model, not space.noisy, _confine(run, space, model))
    if not space.noisy and (
        run.normal.log_width > _start_log_width(space) or _wide_enough(run, space)
    ):
        # wider than it began: whoever sees nothing even there will not see more from further out
        step = dataclasses.replace(step, factors=np.minimum(step.factors, 1.0))
    run.promise = float(-model.g @ step.move)
    run.value, run.error = estimate.smoothed(run, space, model, step.move, z, f)
    _keep(run)
    run.stepped = run.evaluations
    _apply(run, space, model, step)
    # what a poor model does not see may still be there: F has to be known well beside what the
    # noise costs
    unsure = space.noisy and run.error > 0.1 * abs(run.noise_cost) and own < 12 * p
    if (
        own >= max(3 * p, 400)
        and step.factors.max() <= 1.5
        and (step.length < 0.15 or step.signal < 4)
        and not unsure
    ):
        run.finished = "the steps of the mean are below what the noise resolves"
    if step.signal > 4:
        run.next_fit = run.evaluations + least  # still on the way
    if step.signal > 4 and step.length > 1:
        # so the older half of the samples is from elsewhere; not more, because it may be a false
        # alarm
        run.entered = max(run.entered, run.evaluations - max(2 * p, own // 2))
