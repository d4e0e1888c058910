"""Results -> tables, for the terminal and for the report."""

from typing import Any

from phenes_lab.bench.risk.results import RiskResults
from phenes_lab.report import number, rich_table


def ratios(results: RiskResults) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            each.problem,
            str(each.budget),
            number(each.regret, 2),
            each.rival,
            number(each.times, 2) if each.reached else f"more than {number(each.times, 2)}",
        ]
        for each in results.ratios
    ]
    head = ["problem", "evaluations of phenes", "regret", "rival", "evaluations of rival / phenes"]
    return head, rows


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
