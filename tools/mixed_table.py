"""The table of docs/space.md: mixed problems beside Optuna's TPE and CatCMA with margin.

    python tools/mixed_table.py [SEEDS]

All evaluate the same functions without noise, in one process, one after the other. A cell has the
median over seeds of the regret of the best point, and how many seeds found the right options and
whole numbers. Needs optuna and cmaes.
"""

# pyright: basic

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import phenes
from phenes import Choice, Integer, Real, Space

BUDGETS = (60, 200, 1000)


class Problem(NamedTuple):
    name: str
    space: Space
    f: Callable[..., float]
    best: float
    right: dict[str, Any]  # options and whole numbers at the optimum


KINDS = {"A": (1, 1, 5, 1.0), "B": (-2, 3, 15, 0.0), "C": (4, -4, 10, 0.5)}


def kinds(a: float, b: float, n: int, kind: str) -> float:
    """Every kind has its best place, far from those of the others."""
    u, v, k, c = KINDS[kind]
    return (a - u) ** 2 + (b - v) ** 2 + 0.1 * (n - k) ** 2 + c


def ripples(a: float, b: float, m: int, n: int, kind: str) -> float:
    """Many local minima in the real numbers."""
    z = np.array([a - 1.3, b + 0.7])
    wave = float(np.sum(z**2 + 3 * (1 - np.cos(2 * np.pi * z))))
    return wave + 0.5 * (m - 4) ** 2 + 0.2 * abs(n - 17) + {"x": 2.0, "y": 0.0, "z": 1.0}[kind]


def vessel(shell: int, head: int, radius: float, length: float) -> float:
    """The pressure vessel of the literature: plates in sixteenths of an inch; log of the cost."""
    s, h = 0.0625 * shell, 0.0625 * head
    cost = 0.6224 * s * radius * length + 1.7781 * h * radius**2
    cost += 3.1661 * s**2 * length + 19.84 * s**2 * radius
    volume = np.pi * radius**2 * length + 4 / 3 * np.pi * radius**3
    broken = max(0.0193 * radius / s - 1, 0) + max(0.00954 * radius / h - 1, 0)
    broken += max(1296000 / volume - 1, 0)
    return float(np.log(cost) + 10 * broken)


def locks(a: float, one: str, two: str, three: str, n: int) -> float:
    """Options that count one after the other, beside a real and a whole number."""
    opened = 0
    for option, right in ((one, "c"), (two, "a"), (three, "b")):
        if option != right:
            break
        opened += 1
    return (3 - opened) + (a - 0.3) ** 2 + 0.02 * (n - 6) ** 2


PROBLEMS = (
    Problem(
        "kinds",
        Space(a=Real(-5, 5), b=Real(-5, 5), n=Integer(0, 20), kind=Choice(*KINDS)),
        kinds,
        0.0,
        {"kind": "B", "n": 15},
    ),
    Problem(
        "ripples",
        Space(
            a=Real(-5, 5),
            b=Real(-5, 5),
            m=Integer(0, 9),
            n=Integer(0, 40),
            kind=Choice("x", "y", "z"),
        ),
        ripples,
        0.0,
        {"kind": "y", "m": 4, "n": 17},
    ),
    Problem(
        "vessel",
        Space(
            shell=Integer(1, 40),
            head=Integer(1, 40),
            radius=Real(10, 100, unit="in"),
            length=Real(10, 200, unit="in"),
        ),
        vessel,
        float(np.log(6059.714335)),  # the known optimum: 13, 7, 42.0984, 176.6366
        {"shell": 13, "head": 7},
    ),
    Problem(
        "locks",
        Space(
            a=Real(-1, 1),
            one=Choice(*"abc"),
            two=Choice(*"abc"),
            three=Choice(*"abc"),
            n=Integer(0, 30),
        ),
        locks,
        0.0,
        {"one": "c", "two": "a", "three": "b", "n": 6},
    ),
)


def with_phenes(problem: Problem, budget: int, seed: int, engine: str = "auto") -> dict[str, Any]:
    return dict(
        phenes.minimize(problem.f, problem.space, budget=budget, seed=seed, engine=engine).x
    )


def with_optuna(problem: Problem, budget: int, seed: int) -> dict[str, Any]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))

    def objective(trial: Any) -> float:
        values = {}
        for name, each in problem.space.parameters.items():
            if isinstance(each, Choice):
                values[name] = trial.suggest_categorical(name, each.options)
            elif isinstance(each, Integer):
                values[name] = trial.suggest_int(name, int(each.lower[0]), int(each.upper[0]))
            else:
                values[name] = trial.suggest_float(name, each.lower[0], each.upper[0])
        return problem.f(**values)

    study.optimize(objective, n_trials=budget)
    return study.best_params


def with_cmaes(problem: Problem, budget: int, seed: int) -> dict[str, Any]:
    from cmaes import CatCMAwM

    parts: Any = problem.space.parameters
    real = [name for name, each in parts.items() if isinstance(each, Real)]
    whole = [name for name, each in parts.items() if isinstance(each, Integer)]
    chosen = [name for name, each in parts.items() if isinstance(each, Choice)]
    opt = CatCMAwM(
        x_space=np.array([[parts[n].lower[0], parts[n].upper[0]] for n in real]),
        z_space=[np.arange(parts[n].lower[0], parts[n].upper[0] + 1) for n in whole],
        c_space=[len(parts[n].options) for n in chosen] if chosen else None,
        seed=seed,
    )
    best, at, used = np.inf, {}, 0
    while used < budget:
        told = []
        for _ in range(opt.population_size):
            one: Any = opt.ask()
            values = dict(zip(real, map(float, one.x), strict=True)) if real else {}
            values |= dict(zip(whole, map(int, one.z), strict=True))
            for k, name in enumerate(chosen):
                values[name] = parts[name].options[int(np.argmax(one.c[k]))]
            f = problem.f(**values)
            used += 1
            if f < best and used <= budget:
                best, at = f, values
            told.append((one, f))
        opt.tell(told)
    return at


METHODS = {"phenes": with_phenes, "TPE": with_optuna, "CatCMAwM": with_cmaes}


def main(seeds: int, methods: dict[str, Callable[..., dict[str, Any]]]) -> None:
    print("| problem | evaluations | " + " | ".join(methods) + " |")
    print("|---|---|" + "---|" * len(methods))
    for problem in PROBLEMS:
        for budget in BUDGETS:
            cells = []
            for solve in methods.values():
                found = [solve(problem, budget, seed) for seed in range(seeds)]
                regret = np.median([problem.f(**x) - problem.best for x in found])
                right = sum(all(x[k] == v for k, v in problem.right.items()) for x in found)
                cells.append(f"{max(regret, 0):.2g} ({right} of {seeds})")
            print(f"| {problem.name} | {budget} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, METHODS)
