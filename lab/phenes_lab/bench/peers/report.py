"""Results -> report.md, report.html and a summary."""

import math
from pathlib import Path
from typing import Any

from phenes import problems
from phenes_lab.bench.peers import scoring
from phenes_lab.bench.peers.results import RESOLVED, PeersResults
from phenes_lab.bench.peers.scoring import (
    EXPECTED,
    LOSS,
    MARGIN,
    NONE,
    RIVALS,
    TARGET_NAMES,
    TIE,
    WIN,
    Duel,
    Group,
    Table,
    Verdict,
)
from phenes_lab.bench.peers.tables import SCORE, ran, score, speed
from phenes_lab.contenders import BASELINE, CONTENDERS, OURS, THETA
from phenes_lab.report import Document, finite, number, rules_of

PICTURE = "peers-profile.png"


def report(results: PeersResults, out: Path) -> tuple[Path, Path]:
    """Writes both files; the picture is shown if it is in `out`."""
    document = Document("phenes beside the libraries that people use today: BBOB under input noise")
    _setting(document, results)
    groups = scoring.groups(results)
    tables = [scoring.table(results, group) for group in groups]
    document.heading("Score")
    document.table(SCORE, [score(results, group) for group in groups])
    for table in tables:
        document.text(_losses(table))
    _generalisation(document, results, groups)
    _noiseless(document, results, groups)
    caption = "Share of (function, target, seed) solved within so many evaluations for each"
    document.drawn(out, PICTURE, f"{caption} dimension.")
    for table in tables:
        _functions(document, results, table)
        _each_peer(document, results, table.group)
    _overheads(document, results)
    return document.write(out)


def _setting(document: Document, results: PeersResults) -> None:
    c = results.conditions
    document.text(
        f"f(x) with x = theta + sigma z, z standard normal; {c['seeds']} seeds, {c['budget']}"
        f" evaluations for each dimension, the same for all; start uniform in [-{c['start']:g},"
        f" {c['start']:g}]^d by seed, first step size {c['sigma0']:g}. phenes {results.version}."
    )
    document.text(
        "F = E f at the recommended point (the mean of the search, never a sample) is measured"
        f" with {c['draws']} common draws in antithetic pairs at {c['checkpoints']} numbers of"
        " evaluations. Targets are shares 1e-1 to 1e-6 of the gap at the start (median over seeds)"
        " to the smallest F that anybody recommended on the problem, or F at the optimum of f."
        " Evaluations to a target count to the first time below it, median over seeds. Targets"
        f" below {RESOLVED:g} standard errors of the paired difference to that reference are"
        " dropped."
    )
    document.text(rules_of(scoring, title=False))
    document.text(
        "Rivals start again with twice the population: pycma when it stops itself, cmaes and"
        " evosax also when neither the best nor the median value of a generation gets better"
        " (Hansen's criterion of BI-population CMA-ES: under noise cmaes has none that ever holds,"
        " and evosax none at all); cmaes with lr_adapt takes part with it and without. Of their"
        " runs the one with the lowest mean of recent values is the answer. None of them has to"
        " choose its own settings: the best rival is chosen afterwards, at every target."
        " Speed-ups are given without f1 too, where a model of f is"
        f" exact, and beside {THETA}, the same engine told theta only: what the realised x is"
        " worth."
    )
    rows = [
        [name, peer.about, "rival" if peer.rival else "", _commits(results, name)]
        for name, peer in CONTENDERS.items()
        if ran(results, name)
    ]
    document.table(["name", "what it is", "", "commit"], rows)
    _made(document, results)


def _commits(results: PeersResults, name: str) -> str:
    made = [session.made.get("commit", "") for session in results.sessions.get(name, [])]
    return ", ".join(dict.fromkeys(commit or "unknown" for commit in made)) or "unknown"


def _made(document: Document, results: PeersResults) -> None:
    """The commands, and what has to be known of them: several commits, errors inside phenes."""
    made = [session.made for each in results.sessions.values() for session in each]
    commands = list(dict.fromkeys(said["command"] for said in made if said.get("command")))
    if commands:
        document.text(f"Made by {', then '.join(f'`{command}`' for command in commands)}.")
    if len({_commits(results, name) for name in results.sessions}) > 1:
        document.text("Not all of it was made with the same commit: see the table above.")
    failed = [
        f"{name} on {problem.key}, seed {seed}: {error}"
        for problem in results.problems
        for name, part in results.parts[problem].items()
        for seed, error in enumerate(part.get("error", ()))
        if error
    ]
    document.text(f"Runs that an error inside phenes ended: {'; '.join(failed) or 'none'}.")


def _losses(table: Table) -> str:
    lost = [
        f"{_name(v.function, table.group)} ({speed(v.speedup)}, {_who(v)})"
        for v in table.verdicts
        if v.verdict == LOSS
    ]
    nothing = [f"f{f}" for f in table.of(NONE)]
    text = f"Lost at {table.group.name}: {'; '.join(lost) or 'none'}."
    return text + (f" No target was reached by anybody on {', '.join(nothing)}." if nothing else "")


def _who(verdict: Verdict) -> str:
    """The rivals that were faster, those with most targets first."""
    names = [duel.who for duel in verdict.duels if duel.ratio < 1 / MARGIN]
    return ", ".join(sorted(set(names), key=lambda name: -names.count(name)))


def _generalisation(document: Document, results: PeersResults, groups: list[Group]) -> None:
    """Held-out instances beside those that settings were chosen on, over the functions that both
    have.
    """
    for group in (g for g in groups if g.held_out and g._replace(held_out=False) in groups):
        new, old = (scoring.table(results, g) for g in (group, group._replace(held_out=False)))
        common = set(v.function for v in new.verdicts if v.duels) & set(
            v.function for v in old.verdicts if v.duels
        )
        both = [
            Table(t.group, t.rivals, tuple(v for v in t.verdicts if v.function in common)).speedup
            for t in (new, old)
        ]
        document.text(
            f"d = {group.dim}, sigma = {group.sigma:g}: speed-up {speed(both[0])} on held-out"
            f" instances, {speed(both[1])} on those used for tuning ({len(common)} functions): a"
            f" ratio of {both[0] / both[1]:.2f}."
        )


def _noiseless(document: Document, results: PeersResults, groups: list[Group]) -> None:
    for group in (g for g in groups if g.sigma == 0):
        table = scoring.table(results, group, (BASELINE,))
        if table.verdicts:
            worst = max(table.verdicts, key=lambda v: -v.speedup if v.duels else -math.inf)
            each = ", ".join(
                f"f{v.function} {1 / v.speedup:.2f}" for v in table.verdicts if v.duels
            )
            document.heading(
                f"Without noise: evaluations of phenes over those of {BASELINE} ({group.name})"
            )
            document.text(f"{each}. Most on f{worst.function}: {1 / worst.speedup:.2f}.")


def _functions(document: Document, results: PeersResults, table: Table) -> None:
    document.heading(f"Every function: {table.group.name}")
    document.text(
        f"At each target: evaluations of the best rival / those of {OURS}, and which rival. > :"
        f" only {OURS} reached it; < : only the rival. Over {THETA}: what x is worth to the same"
        " engine."
    )
    beside = scoring.table(results, table.group, (THETA,)).verdicts
    told = {verdict.function: verdict.speedup for verdict in beside}
    ends = ["dropped", f"end: {OURS}", "end: best rival"]
    head = ["function", "verdict", "speed-up", f"over {THETA}", *TARGET_NAMES, *ends]
    rows = [_row(results, table, v, told.get(v.function, math.nan)) for v in table.verdicts]
    document.table(head, rows)


def _row(results: PeersResults, table: Table, verdict: Verdict, told: float) -> list[str]:
    """told: the speed-up over the same engine told theta."""
    cells = [
        " ".join(_duel(duel) for duel in verdict.duels if duel.target == k) or "-"
        for k in range(len(TARGET_NAMES))
    ]
    own = [
        p
        for p in scoring.problems_of(results, table.group)
        if p.function == verdict.function and OURS in results.parts[p]
    ]
    ends = [number(results.final(p, OURS), 2) for p in own]
    best = [
        min((results.final(p, n), n) for n in table.rivals if n in results.parts[p]) for p in own
    ]
    theirs = [f"{number(value, 2)} {name}" for value, name in best]
    name = _name(verdict.function, table.group)
    said = [name, verdict.verdict, speed(verdict.speedup), speed(told), *cells]
    return [*said, str(verdict.unresolved), ", ".join(ends), ", ".join(theirs)]


def _duel(duel: Duel) -> str:
    mark = ""
    if not math.isfinite(duel.best):
        mark = ">"
    elif not math.isfinite(duel.ours):
        mark = "<"
    return f"{mark}{speed(duel.ratio)} {duel.who}".strip()


def _each_peer(document: Document, results: PeersResults, group: Group) -> None:
    """Against one at a time, as a user would choose."""
    present = [
        n
        for n in CONTENDERS
        if n != OURS and any(n in results.parts[p] for p in scoring.problems_of(results, group))
    ]
    rows = []
    for t in (scoring.table(results, group, (name,)) for name in present):
        counts = [str(t.count(what)) for what in (WIN, TIE, LOSS)]
        rows.append([t.rivals[0], *counts, speed(t.speedup), " / ".join(map(str, t.duels))])
    document.text(f"{OURS} against each of the others alone, {group.name}:")
    document.table(["against", "win", "tie", "loss", "speed-up", "targets: win / tie / loss"], rows)


def _overheads(document: Document, results: PeersResults) -> None:
    document.heading("Time of ask and tell for each evaluation")
    document.text("Medians over problems and seeds, on one core each; f is not counted.")
    dims = sorted({p.dim for p in results.problems})
    for dim in dims:
        times = scoring.overheads(results, dim)
        mine = times.get(OURS, math.nan)
        rows = [[n, f"{1e6 * t:.3g} µs", f"{t / mine:.2g}"] for n, t in times.items()]
        document.table([f"d = {dim}", "each evaluation", f"over {OURS}"], rows)


def _name(function: int, group: Group) -> str:
    return problems.bbob(function, group.dim).name


def summary(results: PeersResults) -> dict[str, Any]:
    """What is worth keeping in a few kilobytes of JSON."""
    tables = [scoring.table(results, group) for group in scoring.groups(results)]
    times = {
        dim: scoring.overheads(results, dim) for dim in sorted({p.dim for p in results.problems})
    }
    return {
        "benchmark": "peers",
        "version": results.version,
        "conditions": results.conditions,
        "rivals": [name for name in RIVALS if ran(results, name)],
        "groups": [_summary(results, table) for table in tables],
        "microseconds": {
            f"d{dim}": {name: round(1e6 * t, 2) for name, t in each.items()}
            for dim, each in times.items()
        },
    }


def _summary(results: PeersResults, table: Table) -> dict[str, Any]:
    functions = {}
    for v in table.verdicts:
        said = {"verdict": v.verdict, "speedup": finite(v.speedup), "unresolved": v.unresolved}
        functions[f"f{v.function}"] = said
    against = {
        name: finite(scoring.table(results, table.group, (name,)).speedup) for name in table.rivals
    }
    out = {**table.group._asdict(), **_counts(table), "against": against, "functions": functions}
    out["without f1"] = finite(table.speedup_without(1))
    out[THETA] = finite(scoring.table(results, table.group, (THETA,)).speedup)
    out[EXPECTED.name] = _counts(scoring.table(results, table.group, measure=EXPECTED))
    if table.group.sigma == 0 and BASELINE in table.rivals:
        base = scoring.table(results, table.group, (BASELINE,))
        out["evaluations over cmaes"] = {
            f"f{v.function}": finite(1 / v.speedup) for v in base.verdicts if v.duels
        }
    return out


def _counts(table: Table) -> dict[str, Any]:
    return {
        **{what: table.count(what) for what in (WIN, TIE, LOSS, NONE)},
        "speedup": finite(table.speedup),
    }
