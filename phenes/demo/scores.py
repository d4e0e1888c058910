"""Results of the race: regrets, scores of both methods, a sentence and a table."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from rich.table import Table

from phenes.demo.problem import assembly, optimum
from phenes.demo.product import NAME, answer_regret, covered
from phenes.demo.race import ESTIMATORS, Results
from phenes.demo.settings import DemoSettings

QUARTILES = (0.25, 0.5, 0.75)


def regret(results: Results, method: str) -> Float[np.ndarray, "seeds generations"]:
    """max E f - E f(mean of q), exact."""
    noise = results.settings.noise
    return optimum(noise)[1] - assembly(results.means[method], noise)


def reached(evaluations: np.ndarray, curve: np.ndarray, target: float) -> int | None:
    """Evaluations until the curve is below the target; None if it does not end below it.

    A curve that wavers across the target counts for the time that it is above: first passages
    flatter a noisy curve, last ones smear it.
    """
    return None if curve[-1] >= target else int(evaluations[np.count_nonzero(curve >= target)])


@dataclass(frozen=True)
class Score:
    """Quartiles over the seeds of one method's last regret and evaluations to the target.

    `evaluations` are those after which a quarter, half and three quarters of the runs are within
    the target; None if that takes more than the budget.
    """

    regret: tuple[float, ...]
    evaluations: tuple[int | None, ...]


@dataclass(frozen=True)
class Product:
    """Scores of `maximize`: quartiles of the regret of its answers, and their claims.

    `covered`: answers whose E f is within two standard errors of the claim. `fun`, `fun_se`: the
    claim of the first.
    """

    seeds: int
    budget: int
    regret: tuple[float, ...]
    covered: int
    fun: float
    fun_se: float


@dataclass(frozen=True)
class Summary:
    """The numbers in the table and in the title of the figure.

    `ratio` is of the medians, ES over PAES, where both reached the target.
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
    product: Product | None = None


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
        product=_product(results),
    )


def _product(results: Results) -> Product | None:
    if not results.answers:
        return None
    noise, first = results.settings.noise, results.answers[0]
    regrets = [answer_regret(each, noise) for each in results.answers]
    return Product(
        seeds=len(results.answers),
        budget=max(each.nfev for each in results.answers),
        regret=tuple(map(float, np.quantile(regrets, QUARTILES))),
        covered=sum(covered(each, noise) for each in results.answers),
        fun=first.fun,
        fun_se=first.fun_se,
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
    """95 % bootstrap interval of the ratio over resampled seeds.

    None if in some resample a method misses the target.
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
    if result.product is not None:
        spread = _spread([f"{1e4 * r:.2f}" for r in result.product.regret])
        out.add_row(NAME, spread, f"after {result.product.budget:,}")
        out.caption += f" {_claim(result.product)}"
    return out


def _claim(product: Product) -> str:
    return (
        f"{NAME} had {product.budget:,} evaluations and {product.seeds} seeds; its first answer"
        f" claims E f = {product.fun:.4f} ± {product.fun_se:.4f}, and {product.covered} of"
        f" {product.seeds} claims are within two standard errors of the truth."
    )


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
