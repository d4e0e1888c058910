"""What became of the rounds: as a table, as JSON, and as a page of Markdown that is written anew
after each round.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import phenes
from phenes_lab.bench.survive.rounds import Round, Settings

COLUMNS = (
    "engine",
    "runs",
    "workers killed",
    "programs killed",
    "interrupted",
    "lost",
    "counted twice",
    "evaluated again",
    "same end",
)

PAGE = """# Runs under fire

`phenes bench survive --kills {asked} --seed {seed}`, phenes {version}: {kills} kills (SIGKILL) at random moments. {verdict}

{table}

A run is `phenes.minimize` with {budget} evaluations of 10 ms on two workers and a checkpoint. Until its share of the kills is used up, a
worker that evaluated last or the program itself is killed (a coin decides), up to {pause} s after the next evaluation began, one time in
ten without waiting for it, so that starts are hit as well; a killed program is started again with the same checkpoint. Dask's scheduler
and Ray's are not killed.

- interrupted: evaluations that began and whose value nobody had when worker or program died; they were begun again, as they must be.
- lost: evaluations of the undisturbed run that are not in the record.
- counted twice: evaluations that are in the record more than once.
- evaluated again: evaluations that were in the record at a kill, and began again after it.
- same end: runs whose final theta, E f and number of evaluations equal those of the undisturbed run in one process, to the last bit.
"""


def rows(rounds: list[Round]) -> list[tuple[str, ...]]:
    """One for each engine, and one for all."""
    names = list(dict.fromkeys(r.engine for r in rounds))
    groups = [(name, [r for r in rounds if r.engine == name]) for name in names] + [
        ("all", rounds)
    ] * (len(names) > 1)
    counts = ("of_workers", "of_program", "interrupted", "lost", "doubled", "repeated")
    return [
        (
            name,
            str(len(of)),
            *(str(sum(getattr(r, count) for r in of)) for count in counts),
            f"{sum(r.same for r in of)} of {len(of)}",
        )
        for name, of in groups
    ]


def table(rounds: list[Round]) -> Any:
    from rich.table import Table

    out = Table(*COLUMNS)
    for row in rows(rounds):
        out.add_row(*row)
    return out


def as_json(rounds: list[Round]) -> dict[str, Any]:
    plain = [
        {key: value for key, value in asdict(r).items() if key != "kept"} | {"survived": r.survived}
        for r in rounds
    ]
    return {
        "kills": sum(r.kills for r in rounds),
        "survived": all(r.survived for r in rounds),
        "rounds": plain,
    }


def read(folder: Path, settings: Settings) -> list[Round]:
    """What `write` has written, to go on from."""
    path = folder / "summary.json"
    if not path.exists():
        return []
    summary = json.loads(path.read_text())
    then, now = (
        {**dict(which), "kills": 0}
        for which in (summary["settings"], json.loads(json.dumps(asdict(settings))))
    )
    if then != now:
        raise ValueError(
            f"{path} is of other settings and cannot be gone on with: {then} then, {now} now"
        )
    return [
        Round(**{key: value for key, value in one.items() if key != "survived"})
        for one in summary["rounds"]
    ]


def write(folder: Path, settings: Settings, rounds: list[Round]) -> None:
    """report.md and summary.json, also of a bench that does not come to its end."""
    failed = sum(not r.survived for r in rounds)
    verdict = (
        "Every run survived." if not failed else f"{failed} of {len(rounds)} runs did not survive."
    )
    lines = [" | ".join(cells) for cells in (COLUMNS, ["---"] * len(COLUMNS), *rows(rounds))]
    page = PAGE.format(
        asked=settings.kills,
        seed=settings.seed,
        version=phenes.__version__,
        kills=sum(r.kills for r in rounds),
        verdict=verdict,
        table="\n".join(f"| {line} |" for line in lines),
        budget=settings.budget,
        pause=settings.pause,
    )
    (folder / "report.md").write_text(page)
    (folder / "summary.json").write_text(
        json.dumps({"settings": asdict(settings), **as_json(rounds)}, indent=1) + "\n"
    )
