"""Results -> report.md, report.html and a summary."""

import importlib.metadata
from pathlib import Path
from typing import Any

from phenes_lab.bench.few import scoring, tables
from phenes_lab.bench.few.contenders import CONTENDERS, OURS
from phenes_lab.bench.few.results import FewResults
from phenes_lab.bench.few.scoring import Duel
from phenes_lab.bench.few.settings import FAMILIES
from phenes_lab.report import Document, finite, number, quartiles, rules_of

PICTURE = "few-regret.png"
LIBRARIES = ("botorch", "gpytorch", "torch", "optuna", "cma", "cmaes", "Py-BOBYQA")


def report(results: FewResults, out: Path) -> tuple[Path, Path]:
    """Writes both files; the picture is shown if it is in `out`."""
    document = Document("Few evaluations: phenes beside libraries for expensive functions")
    _setting(document)
    _origin(document, results)
    _contenders(document, results)
    _score(document, results)
    document.drawn(
        out,
        PICTURE,
        "Median regret against evaluations, as a share of a random theta's; quartiles for"
        f" {OURS}. Below the dotted line regrets are equal. H: held out.",
    )
    for family in tables.families(results):
        _regrets(document, results, family)
    _evaluations(document, results)
    _coverage(document, results)
    _times(document, results)
    return document.write(out)


def _setting(document: Document) -> None:
    document.text(
        "x = theta + noise with known Gaussian noise, f(x) is minimised on average over the noise."
        " The box is that of theta; x may leave it. Everybody starts at the same x0, uniform in"
        " the box by seed, with a first step of a quarter of the width where it has one, and meets"
        " the same draws of the noise. F = E f at the recommended theta is the mean over 2^11"
        " Sobol draws, the same for all; its regret is F less the least F in the box, found with"
        " the same draws from many starts."
    )
    document.text(
        f"{OURS} and Py-BOBYQA make one run for each budget. The others do not know their budget:"
        " one run, looked at on the way; of an evolution strategy the last mean that the budget"
        " paid for counts. pycma and cmaes work in units of the box, recommend their mean and start"
        " again with twice the population when they stop themselves. Py-BOBYQA takes (d + 1)"
        " (d + 2) / 2 points before its first step, as is its default for noisy functions: 66 in"
        " ten dimensions. Optuna's answer is its best trial, which is lucky where inputs are noisy."
    )
    document.text(
        "BoTorch: 2 (d + 1) points of x0 and a Sobol sequence, hyperparameters fitted at every ask"
        " up to 30 rows and every fourth beyond, 4 restarts from 128 raw samples. Robust: trained"
        " on the realised x, the expectation over 16 fixed perturbations, qLogEI with 32 samples"
        " over the best of its posterior mean (qLogNoisyExpectedImprovement does not go with"
        " InputPerturbation in BoTorch 0.18). OptunaHub's RobustGPSampler is not on PyPI and is"
        " fetched over the network when it is used: it did not take part."
    )


def _origin(document: Document, results: FewResults) -> None:
    document.text(
        "The tuning problems are those on which the Gaussian-process search was set up; the"
        " held-out problems were named beforehand and looked at afterwards. First seed"
        f" {results.seed}; phenes {results.version}. {_libraries()}"
    )
    document.text(
        "The rivals beyond pycma and cmaes are the extra `few` of the laboratory: install torch's"
        " CPU build first, which is enough, then pip install -e './lab[few]'."
    )
    if results.missed:
        said = ", ".join(f"{name} by {number(by, 2)}" for name, by in results.missed.items())
        document.text(
            f"On {said} an answer is better than the optimum that regrets are counted from: they"
            " are too small there, and `Problem.solve` has to look again."
        )


def _contenders(document: Document, results: FewResults) -> None:
    rows = [
        [name, CONTENDERS[name].about, _seeds(results, name), _commits(results, name)]
        for name in results.contenders
    ]
    document.table(["name", "what it is", "seeds at each budget", "commit"], rows)
    absent = [name for name in CONTENDERS if name not in results.contenders]
    if absent:
        document.text(f"Not run, or not installed: {', '.join(absent)}.")


def _libraries() -> str:
    said = []
    for name in LIBRARIES:
        try:
            said.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return f"Beside it: {', '.join(said)}." if said else ""


def _seeds(results: FewResults, name: str) -> str:
    """Problems and seeds of each budget, as 30: 12 x 5."""
    said = []
    for n in results.budgets:
        counts = [len(results.at(p, name, n)) for p in results.problems]
        counts = [count for count in counts if count]
        if counts:
            span = (
                f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)}-{max(counts)}"
            )
            said.append(f"{n}: {span} on {len(counts)} problems")
    return "; ".join(said)


def _commits(results: FewResults, name: str) -> str:
    known = {row.commit for row in results.of(name)}
    return ", ".join(sorted(f"{each:012x}"[:7] if each >= 0 else "unknown" for each in known))


def _score(document: Document, results: FewResults) -> None:
    document.heading("Wins, ties and losses")
    document.text(rules_of(scoring, title=False))
    for family in tables.families(results):
        count = len([name for name in FAMILIES[family] if name in results.rows])
        document.heading(f"{family.capitalize()} problems ({count})", 3)
        document.text(f"{OURS} against: wins / ties / losses (seeds) after so many evaluations.")
        document.table(["against", *map(str, results.budgets)], tables.wins(results, family))
        for n in results.budgets:
            if absent := tables.absent(results, family, n):
                document.text(
                    f"Not among the rivals at {n}, where they did not run: {', '.join(absent)}. The"
                    " best rival there is that of the others."
                )
        for n in results.budgets:
            lost = "; ".join(map(_lost, tables.losses(results, family, n)))
            document.text(f"Lost to the best rival at {n}: {lost or 'none'}.")


def _lost(duel: Duel) -> str:
    factor = f"{number(1 / duel.ratio, 2)} times" if duel.ratio else "no answer"
    stayed = f", {duel.stayed} of {duel.seeds} answers are x0" if duel.stayed else ""
    return (
        f"{duel.problem} {number(duel.ours, 2)} against {number(duel.theirs, 2)} of {duel.who}"
        f" ({factor}{stayed})"
    )


def _regrets(document: Document, results: FewResults, family: str) -> None:
    document.heading(f"Regret: {family} problems")
    document.text("Median (quartiles) over seeds.")
    for n in results.budgets:
        head, rows = tables.regrets(results, family, n)
        if len(head) > 2:
            document.heading(f"{n} evaluations", 3)
            document.table(head, rows)


def _evaluations(document: Document, results: FewResults) -> None:
    document.heading("Evaluations to the same regret")
    document.text(
        f"Evaluations after which the median regret of {OURS} is that of its evolution strategy at"
        " a budget, and the reverse, between budgets on straight lines in logarithms; it must not"
        " rise above it again."
    )
    for family in tables.families(results):
        document.heading(f"{family.capitalize()} problems", 3)
        document.table(*tables.evaluations(results, family))


def _coverage(document: Document, results: FewResults) -> None:
    document.heading("Is E f where the answer says it is?")
    document.text(
        "covered: |fun - E f| is at most two standard errors, fun_se and that of E f (8 times 2^11"
        " other Sobol draws) together; 95 % would be right. |z|: its median. Answers whose fun_se"
        " is not finite are counted apart. success: answers that claim it. x0 itself: nothing was"
        " shown to be better than the start."
    )
    document.table(tables.COVERAGE, tables.covered(results))


def _times(document: Document, results: FewResults) -> None:
    document.heading("CPU milliseconds of an ask")
    document.text(
        "All that passes between two evaluations, for each point, on one thread: median / mean /"
        " worst of the asks of a run until then; the first two are medians over runs, the last is"
        " the worst of all. The first points of a design cost nothing and pull medians down."
    )
    document.table(["contender", *map(str, results.budgets)], tables.times(results))


def summary(results: FewResults) -> dict[str, Any]:
    """What is worth keeping as JSON."""
    return {
        "benchmark": "few",
        "version": results.version,
        "seed": results.seed,
        "commits": {name: _commits(results, name) for name in results.contenders},
        "against": {
            family: {
                name or tables.BEST: {
                    n: dict(scoring.tally(scoring.duels(results, family, n, name))._asdict())
                    for n in results.budgets
                    if scoring.duels(results, family, n, name)
                }
                for name in [None, *tables.opponents(results)]
            }
            for family in tables.families(results)
        },
        "lost": {
            family: {
                n: [_duel(d) for d in tables.losses(results, family, n)] for n in results.budgets
            }
            for family in tables.families(results)
        },
        "coverage": {
            family: {n: scoring.coverage(results, family, n)._asdict() for n in results.budgets}
            for family in tables.families(results)
        },
        "regret": {
            p: {
                name: {n: _quartiles(results, p, name, n) for n in each}
                for name, each in results.rows[p].items()
            }
            for p in results.problems
        },
    }


def _duel(duel: Duel) -> dict[str, Any]:
    said = {name: finite(getattr(duel, name), 3) for name in ("ours", "theirs")}
    return {"problem": duel.problem, "who": duel.who, **said, "seeds": duel.seeds}


def _quartiles(results: FewResults, problem: str, name: str, budget: int) -> dict[str, Any]:
    regrets = results.regrets(problem, name, budget)
    return {"seeds": len(regrets), "quartiles": [finite(q, 3) for q in quartiles(regrets)]}
