"""Claims of risks on functions of many shapes: are they covered, or is success False?

python -m phenes_lab.bench.risk.suite --which tuning --budgets 35,60 --seeds 8 --out claims.json

What is tuned on and what is held out was named before anything was tuned. f is minimised in the
box [-2, 2]^d from x0 uniform in it, with noise of 0.3, as in `phenes bench risk`. Where f fails,
the truth is the risk of what does not fail.
"""

import argparse
import functools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import phenes
from phenes.risk import parse
from phenes_lab.bench.risk import problems
from phenes_lab.bench.risk.contenders import STEP, start
from phenes_lab.bench.risk.problems import BOX, DRAWS, Problem, offsets

OFF = 3.0  # standard errors by which a success is called wrong
ROUNDING = 1e-6


def quad(x: np.ndarray) -> np.ndarray:
    """Smooth."""
    return np.sum((x - 0.2) ** 2, axis=1) + 0.5 * np.prod(x[:, :2], axis=1)


def kink(x: np.ndarray) -> np.ndarray:
    """The largest of planes: kinks in many directions."""
    d = x.shape[1]
    planes = np.concatenate([np.eye(d), -np.ones((1, d))])
    return np.max((x - 0.3) @ planes.T, axis=1)


def exponential(x: np.ndarray) -> np.ndarray:
    """Heavy-tailed: lognormal upwards of a valley."""
    return np.exp(2 * x[:, 0]) + np.sum(x**2, axis=1)


def window(x: np.ndarray) -> np.ndarray:
    """How far the worst of two responses is from its target: at most a limit is yield."""
    first = x[:, 0] + 0.5 * np.sin(2 * x[:, 1])
    second = x[:, 1] + 0.3 * x[:, -1] ** 2
    return np.maximum(np.abs(first - 0.3), np.abs(second - 0.2))


def flat(x: np.ndarray) -> np.ndarray:
    """Zero in a ball, rising outside."""
    return np.maximum(np.linalg.norm(x - 0.4, axis=1) - 0.6, 0.0)


def cliff(x: np.ndarray) -> np.ndarray:
    """Falls towards a jump at 0.5."""
    return (x[:, 0] - 0.8) ** 2 + 2.0 * (x[:, 0] > 0.5)


def diagonal(x: np.ndarray) -> np.ndarray:
    """The edge of `ledge` across all coordinates."""
    along = np.sum(x, axis=1) / np.sqrt(x.shape[1])
    over = np.maximum(along - 0.4, 0.0)
    return 0.5 * np.sum((x - 0.3) ** 2, axis=1) + 15 * over**2 + 5 * over


def pocket(x: np.ndarray) -> np.ndarray:
    """A smooth bowl with a pocket of bad parts beside its middle."""
    bad = np.sum((x - np.array([0.4, -0.1])) ** 2, axis=1) < 0.25**2
    return np.sum(x**2, axis=1) + 1.5 * bad


def pole(x: np.ndarray) -> np.ndarray:
    """Rises as 1 / distance towards a place that it falls to at first."""
    return (x[:, 0] - 0.5) ** 2 + 0.3 / np.maximum(1.2 - x[:, 0], 0.05)


def failing(x: np.ndarray) -> np.ndarray:
    """A slope towards a side where f fails."""
    return np.where(x[:, 0] > 0.7, np.nan, np.sum((x - 0.6) ** 2, axis=1))


def circuit(x: np.ndarray) -> np.ndarray:
    """The worst of three responses of five parts: smooth each, not together."""
    gain = x[:, 0] * (1 + 0.2 * x[:, 1]) - 0.3
    pole_ = x[:, 2] - 0.4 * x[:, 3] + 0.1 * x[:, 0] ** 2
    loss = x[:, 4] ** 2 + 0.3 * x[:, 1] ** 2 - 0.2
    return np.max(np.abs([gain, pole_, loss]), axis=0)


def stairs(x: np.ndarray) -> np.ndarray:
    """Flat steps, upwards on both sides."""
    return np.floor(3 * np.abs(x[:, 0] - 0.1)) / 2


def _problem(f: Callable[[np.ndarray], np.ndarray], dim: int, risk: str) -> Problem:
    about = str(f.__doc__).split("\n")[0]
    return Problem(about, f, dim, 0.3, risk, ((0.0,) * dim, (0.3,) * dim, (-0.4,) * dim))


TUNING = {
    "ledge-cvar": _problem(problems.ledge, 2, "cvar(0.9)"),
    "ledge-quantile": _problem(problems.ledge, 2, "quantile(0.9)"),
    "kink": _problem(kink, 2, "quantile(0.9)"),
    "quad": _problem(quad, 3, "cvar(0.9)"),
    "exponential": _problem(exponential, 2, "cvar(0.9)"),
    "window": _problem(window, 3, "probability_below(0.4)"),
    "flat": _problem(flat, 2, "mean_plus_std(2)"),
    "cliff": _problem(cliff, 1, "quantile(0.95)"),
}
HELD_OUT = {
    "diagonal": _problem(diagonal, 4, "cvar(0.9)"),
    "diagonal-quantile": _problem(diagonal, 4, "quantile(0.9)"),
    "kinks": _problem(kink, 6, "cvar(0.8)"),
    "pocket": _problem(pocket, 2, "quantile(0.9)"),
    "pole": _problem(pole, 1, "cvar(0.95)"),
    "failing": _problem(failing, 2, "quantile(0.9)"),
    "circuit": _problem(circuit, 5, "probability_below(0.45)"),
    "stairs": _problem(stairs, 1, "cvar(0.9)"),
    "basins": _problem(problems.basins, 2, "mean_plus_std(2)"),
    "basins-std": _problem(problems.basins, 2, "std"),
}
SETS = {"tuning": TUNING, "held-out": HELD_OUT, "all": TUNING | HELD_OUT}


class Claimed(NamedTuple):
    """A run: what it claims, as minimised, what is true there, and how much worse than the best."""

    problem: str
    budget: int
    seed: int
    fun: float
    fun_se: float
    success: bool
    truth: float
    regret: float
    verified: int
    message: str

    @property
    def off(self) -> float:
        """Standard errors between claim and truth."""
        return abs(self.fun - self.truth) / max(self.fun_se, ROUNDING)


def true_risk(problem: Problem, theta: np.ndarray, every: int = 1) -> float:
    """The risk at theta of what does not fail, as minimised; infinite where most fails."""
    f = problem.f(theta + offsets(problem)[: DRAWS // every])
    worked = np.isfinite(f)
    return parse(problem.risk).value(f[worked]) if worked.mean() > 0.5 else np.inf


@functools.cache
def least(name: str) -> float:
    """The least risk in the box, by a search on many draws."""
    from scipy.optimize import minimize

    problem = SETS["all"][name]

    def of(theta: np.ndarray) -> float:
        return true_risk(problem, np.clip(theta, *BOX), every=16)

    options = {"xatol": 1e-3, "fatol": 1e-5, "maxfev": 150}
    found = [
        minimize(of, np.array(at), method="Nelder-Mead", options=options) for at in problem.starts
    ]
    return min(true_risk(problem, np.clip(each.x, *BOX)) for each in found)


def run(name: str, budget: int, seed: int) -> tuple[Claimed, phenes.Result]:
    problem = SETS["all"][name]
    risk = parse(problem.risk)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = phenes.minimize(
            problem.f,
            start(problem, seed),
            STEP * (BOX[1] - BOX[0]),
            problem.noise,
            bounds=BOX,
            objective=risk,
            budget=budget,
            vectorized=True,
            seed=seed,
        )
    truth, (shift, sign) = true_risk(problem, result.x), risk.shown(1.0)
    fun = sign * (result.fun - shift)  # as minimised: of a yield, the share that is lost
    regret = truth - least(name)
    return (
        Claimed(
            name, budget, seed, fun, result.fun_se, bool(result.success), truth, regret,
            result.verified, result.message,
        ),
        result,
    )  # fmt: skip


def table(runs: list[Claimed]) -> str:
    """One line for each problem and budget, and one for all of a budget."""
    lines = [
        "| problem | risk | evaluations | runs | covered | success | of these covered"
        " | off by > 3 se | median regret | median fun_se |",
        "| --- " * 10 + "|",
    ]
    keys = sorted({(each.budget, each.problem) for each in runs})
    for budget in sorted({each.budget for each in runs}):
        for key in [key for key in keys if key[0] == budget] + [(budget, "")]:
            own = [
                each
                for each in runs
                if (each.budget, each.problem) == key or (key[1] == "" and each.budget == budget)
            ]
            good = [each for each in own if each.success]
            cells = [
                key[1] or "**all**",
                SETS["all"][key[1]].risk if key[1] else "",
                str(budget),
                str(len(own)),
                str(sum(each.off <= 2 for each in own)),
                str(len(good)),
                str(sum(each.off <= 2 for each in good)),
                str(sum(each.off > OFF for each in good)),
                f"{np.median([each.regret for each in own]):.2g}" if key[1] else "",
                f"{np.median([each.fun_se for each in own]):.2g}" if key[1] else "",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--which", choices=list(SETS), default="all")
    parser.add_argument("--problems", default="")
    parser.add_argument("--budgets", default="35")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--out", type=Path, default=Path("claims.json"))
    given = parser.parse_args()
    names = given.problems.split(",") if given.problems else list(SETS[given.which])
    runs: list[Claimed] = []
    for budget in map(int, given.budgets.split(",")):
        for name in names:
            for seed in range(given.seeds):
                runs.append(run(name, budget, seed)[0])
                given.out.write_text(json.dumps([each._asdict() for each in runs]))
    print(table(runs))


if __name__ == "__main__":
    main()
