"""Results of the rounds: one row for each engine, for the terminal, as JSON, and as a page that is
written anew after each round.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import phenes
from phenes_lab.bench.endurance.kill_test.settings import KillTestSettings, Round
from phenes_lab.report import Document, rich_table, write_json

COLUMNS = (
    *("engine", "runs", "workers killed", "programs killed", "interrupted", "lost"),
    *("counted twice", "evaluated again", "same end"),
)
COUNTED = ("of_workers", "of_program", "interrupted", "lost", "doubled", "repeated")


def rows(rounds: list[Round]) -> list[list[str]]:
    """One for each engine, and one for all."""
    names = list(dict.fromkeys(r.engine for r in rounds))
    groups = {name: [r for r in rounds if r.engine == name] for name in names}
    if len(names) > 1:
        groups["all"] = rounds
    return [[name, *_counts(of)] for name, of in groups.items()]


def _counts(rounds: list[Round]) -> list[str]:
    sums = [str(sum(getattr(r, count) for r in rounds)) for count in COUNTED]
    return [str(len(rounds)), *sums, f"{sum(r.same for r in rounds)} of {len(rounds)}"]


def table(rounds: list[Round]) -> Any:
    """For people, as a `rich` table."""
    return rich_table(COLUMNS, rows(rounds))


ABOUT = {
    "interrupted": "evaluations that began and whose value nobody had when worker or program died;"
    " they were begun again, as they must be.",
    "lost": "evaluations of the undisturbed run that are not in the record.",
    "counted twice": "evaluations that are in the record more than once.",
    "evaluated again": "evaluations that were in the record at a kill, and began again after it.",
    "same end": "runs whose final theta, E f and number of evaluations equal those of the"
    " undisturbed run in one process, to the last bit.",
}


def summary(rounds: list[Round]) -> dict[str, Any]:
    plain = [
        {key: value for key, value in asdict(r).items() if key != "kept"} | {"survived": r.survived}
        for r in rounds
    ]
    return {
        "benchmark": "survive",
        "kills": sum(r.kills for r in rounds),
        "survived": all(r.survived for r in rounds),
        "rounds": plain,
    }


def write(folder: Path, settings: KillTestSettings, rounds: list[Round]) -> None:
    """report.md, report.html and summary.json, also of a bench that does not come to its end."""
    failed = sum(not r.survived for r in rounds)
    verdict = "Every run survived."
    if failed:
        verdict = f"{failed} of {len(rounds)} runs did not survive."
    kills = sum(r.kills for r in rounds)
    document = Document("Runs under fire")
    document.text(
        f"`phenes bench survive --kills {settings.kills} --seed {settings.seed}`, phenes"
        f" {phenes.__version__}: {kills} kills (SIGKILL) at random moments. {verdict}"
    )
    document.table(COLUMNS, rows(rounds))
    document.text(
        f"A run is `phenes.minimize` with {settings.budget} evaluations of 10 ms on two workers and"
        " a checkpoint. Until its share of the kills is used up, a worker that evaluated last or"
        f" the program itself is killed (a coin decides), up to {settings.pause} s after the next"
        " evaluation began, one time in ten without waiting for it, so that starts are hit as well;"
        " a killed program is started again with the same checkpoint. Dask's scheduler and Ray's"
        " are not killed."
    )
    document.items(ABOUT)
    document.write(folder)
    write_json(folder / "summary.json", {"settings": asdict(settings), **summary(rounds)})
