"""Results -> tables, for the terminal and for the report."""

from typing import Any

from phenes_lab.bench.risk.contenders import OURS
from phenes_lab.bench.risk.results import Curve, RiskResults
from phenes_lab.report import number, rich_table


def ratios(results: RiskResults) -> tuple[list[str], list[list[str]]]:
    """Evaluations of each rival over those of phenes, for each of its budgets."""
    rivals = [name for name in results.settings.contenders if name != OURS]
    rows: dict[tuple[str, int], list[str]] = {}
    for each in results.ratios:
        first = [each.problem, str(each.budget), number(each.regret, 2)]
        cells = rows.setdefault((each.problem, each.budget), [*first, *["" for _ in rivals]])
        times = number(each.times, 2)
        cells[3 + rivals.index(each.rival)] = times if each.reached else f"> {times}"
    head = ["problem", "evaluations of phenes", "regret", *(f"{name} / phenes" for name in rivals)]
    return head, list(rows.values())


def regrets(results: RiskResults) -> tuple[list[str], list[list[str]]]:
    """At the budgets of phenes; of rivals, at their last look that is not beyond it."""
    names = results.settings.contenders
    rows = [
        [problem, str(budget), *(_last(curves.get(name), budget) for name in names)]
        for problem, curves in results.curves.items()
        for budget in results.settings.budgets
    ]
    return ["problem", "evaluations", *names], rows


def _last(curve: Curve | None, budget: int) -> str:
    there = [] if curve is None else curve.median[curve.at <= budget]
    return number(float(there[-1]), 2) if len(there) else ""


def incomplete(results: RiskResults) -> str:
    """What has fewer seeds than the settings say, as a run that was stopped has; "" if nothing."""
    wanted = {(part.problem, part.contender) for part in results.settings.parts}
    counts = {
        (problem, name): len(results.curves[problem][name].regrets)
        if name in results.curves.get(problem, {})
        else 0
        for problem, name in sorted(wanted)
    }
    return ", ".join(
        f"{name} on {problem} {count}"
        for (problem, name), count in counts.items()
        if count < results.settings.seeds
    )


def claims(results: RiskResults) -> tuple[list[str], list[list[str]]]:
    rows = [
        [name, str(each.runs), str(each.successes), str(each.covered)]
        for name, each in results.claims.items()
    ]
    return ["problem", "runs", "success", "of these covered by fun ± 2 fun_se"], rows


def table(results: RiskResults) -> Any:
    """For people, as a `rich` table."""
    head, rows = ratios(results)
    return rich_table(head, list(rows), "Evaluations until the same regret of the risk")
