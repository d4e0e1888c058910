"""store -> report.md and report.html: claims and verdicts, a table of all methods, and the
figures.
"""

from pathlib import Path

import numpy as np

from phenes.store import Store
from phenes_lab.report import Document, mean_se, number, plus_minus
from phenes_lab.reproduce.control.claims import claims, count
from phenes_lab.reproduce.control.results import Results, load, name
from phenes_lab.reproduce.control.settings import METHODS, Settings


def report(store: Store, out: Path) -> tuple[Path, Path]:
    results, stem = load(store), name(store)
    s = results.settings
    document = Document(f"{s.environment}: ES and PAES with policies in networks")
    document.text(
        f"phenes {results.version}. {_what_counts(s)} Seeds are not those with which the defaults"
        " were chosen."
    )
    document.heading("Claims")
    document.claims(claims(results))
    document.heading("Learning")
    document.figure(
        Path(f"{stem}-learning.png"),
        "Returns by generation, by episodes and by seconds, without compilation.",
    )
    _table(document, results)
    document.figure(
        Path(f"{stem}-signal.png"),
        "The share of the gradient that is signal, estimated without bias in every generation.",
    )
    for seconds, parts, processes in results.sessions:
        document.text(
            f"From start to end: {seconds:.0f} seconds for {parts} runs on {processes} processes."
        )
    return document.write(out)


def _what_counts(s: Settings) -> str:
    who = (
        "the mean policy with its best actions (10 episodes, every 5 generations)"
        if s.by_mean_policy
        else "the population, by its mean"
    )
    end = (
        "Runs stop when the mean policy keeps it on 100 episodes."
        if s.by_mean_policy
        else "Runs then go on to the next 100 generations."
    )
    return (
        f"The target is a return of {s.target:g} of {who}."
        f" {'Runs do not stop there.' if s.keep_on else end}"
    )


def _table(document: Document, results: Results) -> None:
    rows = []
    for method, runs in results.runs.items():
        of = f"{results.reached(method)} of {len(runs)}"
        medians = [
            float(np.median([getattr(one, what) for one in runs]))
            for what in ("first", "episodes", "clock")
        ]
        each = float(np.mean([one.seconds[-1] / one.population.size for one in runs]))
        value = plus_minus(*mean_se(results.values(method)))
        rows.append(
            [
                method,
                METHODS[method].about,
                of,
                *(count(m) for m in medians[:2]),
                number(medians[2]),
                value,
                f"{1e3 * each:.0f}",
            ]
        )
    head = [
        "method",
        "what it is",
        "reached",
        "generations",
        "episodes",
        "seconds",
        "return at the end",
        "ms a generation",
    ]
    document.text(
        "Medians to the target over seeds; the return at the end is that of the mean policy on 100"
        " fresh episodes."
    )
    document.table(head, rows)
