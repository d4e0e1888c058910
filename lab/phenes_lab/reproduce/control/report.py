"""Results -> report.md, report.html and a summary."""

from pathlib import Path
from typing import Any

import numpy as np

from phenes_lab.report import Document, finite, mean_se, number, plus_minus, summary_head
from phenes_lab.reproduce.control.claims import claims, count
from phenes_lab.reproduce.control.results import ControlResults
from phenes_lab.reproduce.control.settings import METHODS, ControlSettings

PAPER = {"Pendulum-v1": 3000, "Swimmer-v5": 5000}  # generations, where the paper says how many


def report(results: ControlResults, out: Path) -> tuple[Path, Path]:
    s, stem = results.settings, results.name
    document = Document(f"{s.environment}: ES and PAES with policies in networks")
    document.text(
        f"phenes {results.version}. {_what_counts(s)} Seeds are not those with which the defaults"
        f" were chosen.{_length(results)}"
    )
    document.claims(claims(results))
    document.heading("Learning")
    document.figure(
        Path(f"{stem}-learning.png"),
        "Returns by generation, as in the paper, by seconds, as in its appendix, and by episodes,"
        " without compilation.",
    )
    _table(document, results)
    document.figure(
        Path(f"{stem}-signal.png"),
        "The share of the gradient that is signal, estimated without bias in every generation.",
    )
    document.sessions(results.sessions, "runs")
    return document.write(out)


def _what_counts(s: ControlSettings) -> str:
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


def _length(results: ControlResults) -> str:
    """How much of the paper's runs was run again."""
    s, papers = results.settings, [name for name in results.runs if METHODS[name].papers]
    if s.environment not in PAPER or not papers:
        return ""
    full = PAPER[s.environment]
    share = "all" if s.generations == full else f"{s.generations} of the"
    seeds = ", ".join(f"{name} with {len(results.runs[name])} seeds" for name in papers)
    return (
        f" The paper's methods play at most {share} {full} generations of the paper, over which"
        f" sigma falls: {seeds}."
    )


def _table(document: Document, results: ControlResults) -> None:
    rows = []
    for method, runs in results.runs.items():
        of = f"{results.reached(method)} of {len(runs)}"
        of += f" ({results.solved(method)} proved)" if results.stops else ""
        first, episodes, clock = (
            float(np.median([getattr(one, what) for one in runs]))
            for what in ("first", "episodes", "clock")
        )
        each = float(np.mean([one.seconds[-1] / one.population.size for one in runs]))
        times = [count(first), count(episodes), number(clock)]
        kept, late = (plus_minus(*mean_se(v(method))) for v in (results.values, results.lately))
        end = [kept, late, f"{1e3 * each:.0f}"]
        rows.append([method, METHODS[method].about, of, *times, *end])
    head = ["method", "what it is", "reached", "generations", "episodes", "seconds"]
    head += ["return of what is kept", "in the last tenth", "ms a generation"]
    document.text(
        "Medians to the target over seeds. What is kept is the last mean policy, or an earlier one"
        " that looked better; its return is that of 100 fresh episodes. In the last tenth of the"
        " generations: the mean policy of then, whether it is kept or not, by its looks."
    )
    document.table(head, rows)


def summary(results: ControlResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    return {
        **summary_head(results.name, results, claims(results)),
        "methods": {method: _numbers(results, method) for method in results.runs},
    }


def _numbers(results: ControlResults, method: str) -> dict[str, Any]:
    runs = results.runs[method]
    return {
        "about": METHODS[method].about,
        "seeds": len(runs),
        "first": [finite(v) for v in results.firsts(method)],
        "median_first": finite(results.median_first(method)),
        "episodes": finite(results.episodes(method)),
        "seconds": finite(float(np.median([one.clock for one in runs]))),
        "reached": results.reached(method),
        "solved": results.solved(method),
        "value": [finite(v) for v in mean_se(results.values(method))],
        "values": [finite(v) for v in results.values(method)],
        "lately": [finite(v) for v in results.lately(method)],
        "generations": [one.population.size for one in runs],
    }
