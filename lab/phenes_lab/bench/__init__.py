"""Measurements of the library, alone and beside others. Each is a command of `phenes bench`.

A bench is a module with a class of settings (which has `quick()`), `run(settings, progress) ->
rows`, `table(rows)` for people and, if it says more to machines than its rows, `as_json(rows)`. One
that takes hours keeps what is finished in a folder: a package with the modules settings and tables
(`table(results)`), which is a `driver.Experiment`, or has a module run (`run(settings, out,
resume=, progress=)` -> something with `results`, and a report and summary.json in the folder).
"""

from typing import NamedTuple


class Bench(NamedTuple):
    """options: settings that are options of the command; all are reached by --set. folder: what it
    keeps there. more: options that `run` takes beside settings. experiment: it is run by
    `driver.run`, and has no module run.
    """

    about: str
    module: str
    settings: str
    options: tuple[str, ...] = ("seed",)
    folder: str = ""
    more: tuple[str, ...] = ()
    experiment: bool = False


BENCHES = {
    "estimators": Bench(
        "Variances of the estimators on the same populations, beside the theory.",
        "estimators",
        "EstimatorsSettings",
        ("samples", "seed"),
    ),
    "generation": Bench(
        "What a generation costs, beside other libraries.",
        "speed.generation",
        "GenerationSettings",
        ("dims", "popsize", "repeats", "seed"),
    ),
    "peers": Bench(
        "BBOB under input noise beside pycma, cmaes and evosax: who reaches which target first.",
        "peers",
        "PeersSettings",
        ("dims", "sigmas", "functions", "instances", "peers", "seeds", "budget", "seed"),
        "Folder for the store, the picture and the report.",
        ("renew",),
    ),
    "start": Bench(
        "The first call of minimize from a cold start; ask and tell beside pycma and cmaes.",
        "speed.startup",
        "StartupSettings",
    ),
    "steps": Bench(
        "Steps of episodes a second, compiled from the table, beside a Gymnasium loop.",
        "speed.tabular_speed",
        "TabularSpeedSettings",
    ),
    "rollouts": Bench(
        "Steps of neural policies a second, beside Gymnasium's synchronous vector environment.",
        "speed.rollout_speed",
        "RolloutSpeedSettings",
        ("environments", "popsize", "repeats", "seed"),
    ),
    "tables": Bench(
        "Taxi, CliffWalking and FrozenLake to the optimum, beside Q-learning.",
        "tables",
        "TablesSettings",
        ("environments", "seeds", "seed"),
    ),
    "robust": Bench(
        "Published problems with noisy inputs: regret against evaluations, beside cmaes.",
        "robust",
        "RobustSettings",
        ("seeds", "seed"),
    ),
    "wild": Bench(
        "Random problems: does minimize ever diverge, fail, or end worse than it began?",
        "fuzz",
        "FuzzSettings",
        ("problems", "seed"),
    ),
    "ablate": Bench(
        "What each policy of the adaptive search gains: each is switched off in turn.",
        "ablate",
        "AblateSettings",
        ("cases", "policies", "seeds", "budget", "seed"),
    ),
    "regimes": Bench(
        "Regret against dimension (2 to 1000) and budget: cells worse than neighbours suggest.",
        "regimes",
        "RegimesSettings",
        ("problems", "dims", "each", "seeds", "seed"),
        "Folder for store, picture and report.",
        ("processes",),
        experiment=True,
    ),
    "constraints": Bench(
        "Chance constraints with exact probabilities beside inner Monte Carlo with pycma.",
        "constraints",
        "ConstraintsSettings",
        ("problems", "contenders", "budgets", "seeds", "seed"),
        "Folder for store, picture and report.",
        ("processes",),
        experiment=True,
    ),
    "front": Bench(
        "Fronts of two objectives beside NSGA-II of pymoo with inner Monte Carlo.",
        "front",
        "FrontSettings",
        ("problems", "contenders", "seeds", "seed"),
    ),
    "risk": Bench(
        "Quantiles, tails and spreads of f(x) beside BoTorch and inner Monte Carlo with pycma.",
        "risk",
        "RiskSettings",
        ("problems", "contenders", "budgets", "seeds", "seed"),
        "Folder for store, picture and report.",
        ("processes",),
    ),
    "engineering": Bench(
        "Filter, coating, launch, regulator: E f and yield beside nominal designs and libraries.",
        "engineering",
        "EngineeringSettings",
        ("problems", "contenders", "seeds", "seed"),
        "Folder for store, pictures and report.",
        experiment=True,
    ),
    "few": Bench(
        "30 to 500 evaluations: regret beside pycma, cmaes, Optuna, BoTorch and Py-BOBYQA.",
        "few",
        "FewSettings",
        ("problems", "contenders", "budgets", "seeds", "seed"),
        "Folder for store, picture and report.",
        ("renew", "processes"),
    ),
    "workers": Bench(
        "Overhead of a task and speed-up on two workers: one process, loky, Dask, Ray.",
        "endurance.workers",
        "WorkersSettings",
        ("engines", "repeats"),
    ),
    "asynchronous": Bench(
        "Not waiting for the slowest: evaluations and time to the same regret.",
        "endurance.asynchronous",
        "AsynchronousSettings",
        ("seeds", "seed"),
    ),
    "memory": Bench(
        "Resident memory of a run after 1e4, 1e5 and 1e6 evaluations.",
        "endurance.memory",
        "MemorySettings",
    ),
    "survive": Bench(
        "Kill workers and programs at random moments: nothing lost or counted twice, the same end.",
        "endurance.kill_test",
        "KillTestSettings",
        ("kills", "engines", "seed"),
        "Folder for the report.",
    ),
    "trust": Bench(
        "Functions that jump, fail or are flat: is E f where the answer says it is?",
        "trust",
        "TrustSettings",
        ("problems", "budgets", "seeds", "contenders", "seed"),
        "Folder for rows, picture and report.",
        ("processes",),
    ),
}
