"""Steps on models of f within a run: when a model is due, what is done with it, and when the final phase begins."""

import numpy as np

from phenes.adaptive import box, estimate, newton
from phenes.adaptive.cma import Paths
from phenes.adaptive.quadratic import Fit, axis_features, features_of
from phenes.adaptive.space import Space
from phenes.adaptive.state import Run

# A model is tried at least every so many times half its features, however often it failed before.
LONGEST_WAIT = 8


def early_step(run: Run, space: Space) -> None:
    """On the way, when a model is due: a step if it explains nearly everything."""
    p = features_of(space.dim)
    model = estimate.model_of(run, space, 2 * p)
    # half as many new rows as features; for models that kept failing fewer and fewer, because they cost time
    wait = (model.features if model is not None else axis_features(space.dim)) // 2
    run.failures = run.failures + 1 if model is not None and model.features == p and model.r2 < 0.95 else 0
    run.next_fit = run.evaluations + max(wait * min(max(1, run.failures // 3), LONGEST_WAIT), run.popsize)
    if model is not None and not space.noisy:
        _watch(run, space, model)
    if model is None or model.r2 < 0.95:
        run.near = 0
        return
    excess = _excess_along(run, space, model.turn)
    # with curvature along the axes only, wider only while it pays: what such a model misses grows faster than what it sees
    median = float(np.median(run.archive.newest(run.popsize)[1]))
    step = newton.early(model, excess, _confine(run, space, model), model.turn is not None or median < run.early_median)
    run.early_median = median
    _apply(run, space, model, step)
    run.paths = Paths(np.zeros(space.dim), np.zeros(space.dim))
    stiff = (model.h > 3 * newton.edge_of(model)) & (excess <= 0.5)
    weight = model.g**2 + model.h**2 / 2  # of each direction in the variance of f
    # most of the variation is the noise's: ranks say little more, values do
    run.near = run.near + 1 if step.length < 1 and weight[stiff].sum() > weight.sum() / 2 else 0


def _watch(run: Run, space: Space, model: Fit) -> None:
    """Without noise on the inputs: is it on the values? Then what is not explained stays as large while the search becomes narrow.

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


def look_through(run: Run, space: Space) -> None:
    """The values are noisy: back to the width at which the signal was lost, and on with averages."""
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


def _excess_along(run: Run, space: Space, turn: np.ndarray | None) -> np.ndarray:
    """Variance of the search over that of the noise along the axes of a model."""
    with np.errstate(divide="ignore"):
        return 1 / estimate.noise_along(run, space, turn) - 1


def _confine(run: Run, space: Space, model: Fit) -> newton.Confine:
    """What the box makes of the model's advice."""
    return lambda u, curvature: box.nearest(space, run.normal, model.turn, u, curvature) if space.boxed else u


def _apply(run: Run, space: Space, model: Fit, step: newton.Step) -> None:
    move = step.move if model.turn is None else model.turn @ step.move
    target = run.normal.mean + run.normal.unwhiten(move)
    run.normal.rescale(model.turn, step.factors)
    run.normal.mean = space.inside(target)
    run.normal.settle(space.c)


def final_step(run: Run, space: Space) -> None:
    """In the final phase, when a model is due: a step; then more data if it was within the errors, newer data if not."""
    p = features_of(space.dim)
    own = run.evaluations - run.entered
    model, z, f = estimate.rich_model_of(run, space, own)
    run.next_fit = run.evaluations + max(int(0.3 * own), run.popsize, p // 3)
    if model is None:
        return
    run.generation += 1
    step = newton.final(model, not space.noisy, _confine(run, space, model))
    run.promise = float(-model.g @ step.move)
    run.value, run.error = estimate.smoothed(run, space, model, step.move, z, f)
    _apply(run, space, model, step)
    if step.signal > 4:
        # still on the way: old samples are from elsewhere, all but the newest if the step was long, the older half otherwise
        kept = 2 * p if step.length > 1 else max(4 * p, own // 2)
        run.entered = max(run.entered, run.evaluations - kept)
        run.next_fit = run.evaluations + max(p // 3, run.popsize)
    elif own >= max(6 * p, 400) and step.factors.max() <= 1.5 and (step.length < 0.15 or step.signal < 4):
        run.finished = "the steps of the mean are below what the noise resolves"
