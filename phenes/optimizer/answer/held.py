"""What an answer says of its constraints: the table, what is wrong, and what is not confirmed."""

from __future__ import annotations

import numpy as np

from phenes._validate import BoolArray, FloatArray
from phenes.constraints import Constraints, Held, Wanted, bounds
from phenes.evidence.standing import Place, Standing

# share of the allowed violations from which on a constraint is at its limit
BINDING = 0.25
# standard deviations from the limit within which a mean is at it
BINDING_MEAN = 0.1


def table(
    wanted: Wanted,
    names: tuple[str, ...],
    place: Place,
    own: FloatArray,
    exact: bool,
    beside: bool = False,
) -> Constraints:
    """The table of an answer.

    own (n, J): constraints of the draws there; or beside it, where they confirm nothing of it.
    """
    by_name = {one.requirement.name: one for one in place.standings}
    joint = None if wanted.joint is None else place.standings[0]
    allowed = None if joint is None else joint.allowed
    rows = [
        _row(name, own[:, k], place.each[k], by_name.get(name), allowed, (exact, beside))
        for k, name in enumerate(names)
    ]
    largest = max((row.mean for row in rows), default=np.nan)
    holds = np.all(own <= 0, axis=1)
    every = _counted("all", holds, largest, exact)
    if joint is not None:
        every = _judged(every, joint, beside)
    else:
        met = all(one.met for one in place.standings)
        every = every._replace(met=met)
    return Constraints(tuple(rows), every, wanted.average)


def _row(
    name: str,
    c: FloatArray,
    violation: float,
    standing: Standing | None,
    allowed: float | None,
    how: tuple[bool, bool],
) -> Held:
    """A constraint; standing: if something is wanted of it alone. allowed: of all together.

    how: exact and beside, as for `table`.
    """
    exact, beside = how
    finite = c[np.isfinite(c)]
    mean = float(finite.mean()) if finite.size else np.nan
    row = _counted(name, c <= 0, mean, exact)._replace(modelled=1 - violation)
    if standing is None:
        binding = allowed is not None and violation >= BINDING * allowed
        return row._replace(binding=bool(binding))
    row = _judged(row, standing, beside)
    if standing.requirement.level is None:
        spread = float(finite.std()) if finite.size else 0.0
        return row._replace(binding=bool(mean > -BINDING_MEAN * spread))
    return row._replace(binding=bool(violation >= BINDING * standing.allowed))


def _counted(name: str, holds: BoolArray, mean: float, exact: bool) -> Held:
    draws, held = holds.size, int(holds.sum())
    share = held / draws if draws else np.nan
    lower = bounds.lower(held, draws) if draws else 0.0
    if exact and draws:  # without noise one evaluation says it
        lower = float(held == draws)
    return Held(name, share, lower, draws, draws - held, mean)


def _judged(row: Held, standing: Standing, beside: bool) -> Held:
    level, counted = standing.requirement.level, 0.0 if beside else row.lower
    confirmed = standing.confirmed or (level is not None and counted >= level)
    return row._replace(
        wanted=level,
        met=standing.met,
        confirmed=confirmed,
        modelled=row.modelled if level is None else 1 - standing.violation,
        needed=0 if level is None else bounds.needed(level),
        bound=standing.bound if level is None else max(1 - standing.bound, counted),
        unresolved=standing.unresolved,
        reached=0 if level is None else standing.reached,
        binding=bool(level is not None and standing.violation >= BINDING * standing.allowed),
    )


def _asked(held: Constraints) -> list[Held]:
    """The rows of which something was asked."""
    # of a single constraint, that all hold says nothing more
    rows = list(held.rows) if held.average or len(held.rows) == 1 else [*held.rows, held.all]
    return [row for row in rows if row.wanted is not None or held.average]


def unmet(held: Constraints) -> str:
    """Which constraint is not met, and by how much; or what is not known of it."""
    worst = [row for row in _asked(held) if not row.met] or [held.all]
    if all(_may_hold(row) for row in worst):
        return "; ".join(_unshown(row, held) for row in worst)
    worst = [row for row in worst if not _may_hold(row)]
    said = "; ".join(_shortfall(row, held) for row in worst)
    meets = "is expected to meet" if all(_not_excluded(row) for row in worst) else "meets"
    return f"no design was found that {meets} the constraints, x violates them least: {said}"


def _may_hold(row: Held) -> bool:
    """Whether what is not met is expected to be, so that only the evidence is too thin."""
    if row.wanted is None:
        return row.mean <= 0
    return row.modelled >= row.wanted and _not_excluded(row)


def _not_excluded(row: Held) -> bool:
    """Whether the draws leave it open that what was asked for is met."""
    if row.wanted is None:
        return False
    counted = bounds.upper(row.draws - row.violated, row.draws) if row.draws else 1.0
    return counted >= row.wanted


def _unshown(row: Held, held: Constraints) -> str:
    """Why what is expected is not claimed, and what would help."""
    draws = "1 fresh draw" if row.draws == 1 else f"{row.draws} fresh draws"
    if row.unresolved:
        names = ", ".join(row.unresolved)
        why = (
            f"no model tells where the limit of {names} is, which jumps for all that is seen: only"
            " draws at x count"
        )
        if row.wanted is None:
            return f"{why}, and {draws} do not show that the mean of {row.name} is at most 0"
        needed = bounds.needed(row.wanted, row.violated)
        return (
            f"{why}. {draws}, of which {row.violated or 'none'} violate"
            f"{'' if row.violated != 1 else 's'}, confirm {row.lower:.4g}, and {row.wanted:g} would"
            f" take {needed} with no more violations: a larger budget, verify={needed} or a margin"
            " in place of pass or fail would help"
        )
    if row.wanted is None:
        return (
            f"it is not sure that the mean of {row.name} is at most 0: it is {row.mean:.3g} over"
            f" {draws}, and the model's error is larger than what it leaves; a larger budget would"
            " help"
        )
    what = "all hold" if row.name == held.all.name else f"{row.name} holds"
    return (
        f"it is not sure that {what} with {row.wanted:g}: by the model it is {row.modelled:.4g},"
        f" with its error, and what may fail nearby, against it {row.bound:.4g}; a larger budget"
        " would help"
    )


def _shortfall(row: Held, held: Constraints) -> str:
    binding = [each for each in held.rows if each.binding] or list(held.rows)
    culprits = ", ".join(f"{each.name} (mean {each.mean:.3g})" for each in binding)
    if row.wanted is None:
        return f"the mean of {row.name} is {row.mean:.4g}, above 0"
    seen = f"{row.draws - row.violated} of {row.draws} draws"
    modelled = f" and {row.modelled:.4g} by the model" if np.isfinite(row.modelled) else ""
    if row.name == held.all.name:
        return f"all hold in {seen}{modelled}, {row.wanted:g} wanted; what binds is {culprits}"
    return (
        f"{row.name} holds in {seen}{modelled}, {row.wanted:g} wanted, its mean is {row.mean:.3g}"
    )


def unconfirmed(held: Constraints) -> list[str]:
    """What counting alone confirms, where that is less than was asked for."""
    said: list[str] = []
    for row in _asked(held):
        if row.confirmed:
            continue
        if row.wanted is None:
            draws = "1 draw" if row.draws == 1 else f"{row.draws} draws"
            said.append(
                f"the mean of {row.name} is {row.mean:.3g} over {draws}, by which alone it is not"
                " sure to be at most 0"
            )
            continue
        what = "P(all hold)" if row.name == held.all.name else f"P({row.name} holds)"
        count = "none" if not row.violated else f"{row.violated}"
        draws = "1 fresh draw" if row.draws == 1 else f"{row.draws} fresh draws"
        said.append(
            f"{what} is {row.modelled:.4g} by the model; {draws}, of which {count}"
            f" violate{'' if row.violated != 1 else 's'}, confirm {row.lower:.4g}, and"
            f" {row.wanted:g} would take {row.needed} draws without a violation"
        )
    reached = [row for row in _asked(held) if row.reached and not row.confirmed]
    if reached:
        row = min(reached, key=lambda row: row.reached)
        said.append(
            f"no failure was met in the {row.reached} evaluations that could show one: up to"
            f" {row.unseen:.1%} of x may fail unseen, and if they do, P is at least"
            f" {row.assured:.4g} only"
        )
    return said
