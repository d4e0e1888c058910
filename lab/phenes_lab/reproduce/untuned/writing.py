"""store -> report.md and report.html."""

from pathlib import Path

from phenes.store import Store
from phenes_lab.report import Document, number
from phenes_lab.reproduce.control.settings import METHODS as ABOUT
from phenes_lab.reproduce.untuned.results import Results, claims, load


def report(store: Store, out: Path) -> tuple[Path, Path]:
    results = load(store)
    document = Document("Environments that the defaults were not chosen on")
    document.text(
        f"phenes {results.version}. Every run in an environment has the same number of episodes,"
        " whatever its population. The return is that of the mean policy with its best actions: 10"
        " episodes along the way, 100 fresh ones at the end."
    )
    document.heading("Claims")
    document.claims(claims(results))
    document.heading("Learning")
    document.figure(Path("untuned-learning.png"), "Return of the mean policy by episodes.")
    _table(document, results)
    for seconds, parts, processes in results.sessions:
        document.text(
            f"From start to end: {seconds:.0f} seconds for {parts} runs on {processes} processes."
        )
    return document.write(out)


def _table(document: Document, results: Results) -> None:
    rows = []
    for env, methods in results.runs.items():
        threshold = results.thresholds[env]
        for method, runs in methods.items():
            ends, firsts = (
                ", ".join(number(v, 4) for v in part)
                for part in ([o.value for o in runs], [o.episodes for o in runs])
            )
            solved = "-" if threshold is None else f"{threshold:g}"
            seconds = ", ".join(f"{one.seconds[-1]:.0f}" for one in runs)
            rows.append(
                [
                    env,
                    method,
                    ABOUT[method].about,
                    str(results.settings.budget(env)),
                    ends,
                    solved,
                    firsts,
                    seconds,
                ]
            )
    head = [
        "environment",
        "method",
        "what it is",
        "episodes",
        "return at the end, by seed",
        "solved at",
        "episodes until then",
        "seconds",
    ]
    document.table(head, rows)
