"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

from phenes_lab.bench.regimes import results as module
from phenes_lab.bench.regimes import tables
from phenes_lab.bench.regimes.functions import FUNCTIONS
from phenes_lab.bench.regimes.results import RegimesResults
from phenes_lab.report import Document, finite, quartiles, rules_of, summary_head

PICTURE = "regimes.png"


def report(results: RegimesResults, out: Path) -> tuple[Path, Path]:
    """Writes both files; the picture is shown if it is in `out`."""
    settings = results.settings
    document = Document("Regret against dimension and budget: are there holes?")
    document.text(
        f"`phenes.minimize` with its defaults from {settings.start:g} in every coordinate, first"
        f" step {settings.sigma0:g}, x = theta + noise of {settings.noise:g}. Regret: E f at the"
        " recommended theta less its least value, in closed form, as a share of the regret of the"
        f" start. Medians over seeds (at most {settings.seeds}). phenes {results.version}."
    )
    if fewer := tables.incomplete(results):
        document.text(f"Fewer seeds, or none: {fewer}.")
    document.items({name: FUNCTIONS[name].about for name in results.cells})
    document.text(rules_of(module).replace("SOLVED", f"{module.SOLVED:g}"))
    document.drawn(out, PICTURE, "Median and quartiles. Circles: holes.")
    head, rows = tables.holes(results)
    document.heading(f"Holes: {len(rows)}")
    if rows:
        document.table(head, rows)
    for name in results.cells:
        document.heading(name.capitalize())
        document.table(*tables.regrets(results, name))
    document.sessions(results.sessions)
    return document.write(out)


def summary(results: RegimesResults) -> dict[str, Any]:
    """What is worth keeping as JSON."""
    return {
        **summary_head("regimes", results, []),
        "holes": [hole._asdict() for hole in results.holes],
        "regret": {
            name: {
                f"{dim}/{each}": {
                    "seeds": len(cell.regrets),
                    "quartiles": [finite(q, 3) for q in quartiles(cell.regrets)],
                    "microseconds": finite(quartiles(cell.microseconds)[1], 3),
                }
                for (dim, each), cell in grid.items()
            }
            for name, grid in results.cells.items()
        },
    }
