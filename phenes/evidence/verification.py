"""The end of a run: a race between the proposal of the search and its closest rivals, then fresh draws at the winner.

A few draws at the proposal come first. If they leave no doubt, all others go there too. Else the two best-ranked other places race against it,
and the start gets draws enough to be compared with. Rows belong to a candidate by their theta, so that they may come in any order.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from phenes.evidence.estimate import Estimate

FIRST_SHARE, FIRST_LEAST = 0.25, 6  # draws at the proposal before anything is decided: share of the reserve, and at least
ROUND_SHARE, ROUND_LEAST = 0.2, 3  # draws for each entrant in a round of the race: share of what is left, and at least
RACE_SHARE = 0.5  # of the reserve that a race may use
START_DRAWS, START_SHARE = 8, 0.25  # draws at the start when there is doubt: up to, and share of what is left at most
LEAST_EACH = 4  # draws for each entrant below which there is no race
RIVALS = 2


@dataclass
class Verification:
    """Hands out theta (`ask`) and is told when rows have arrived (`advance`).

    evidence(theta): what is known at a theta now. rivals(estimate): theta worth a race against the proposal, best first.
    """

    start: np.ndarray
    proposal: np.ndarray
    reserve: int
    evidence: Callable[[np.ndarray], Estimate]
    rivals: Callable[[Estimate], list[np.ndarray]]
    stage: str = "confirm"  # then "race", "start", "settle", "done"
    spent: int = 0
    entrants: list[np.ndarray] = field(default_factory=list)
    wanted: list[tuple[np.ndarray, int]] = field(default_factory=list)  # theta and draws that the stage still waits for
    issued: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.entrants = [self.proposal]
        self._want([(self.proposal, max(FIRST_LEAST, round(FIRST_SHARE * self.reserve)))])

    @property
    def left(self) -> int:
        return max(self.reserve - self.spent, 0)

    @property
    def done(self) -> bool:
        return self.stage == "done"

    def ask(self, n: int) -> np.ndarray:
        """n theta to draw at: what the stage waits for, then more of the same."""
        rows: list[np.ndarray] = []
        while len(rows) < n:
            open_ = [k for k, (_, count) in enumerate(self.wanted) if self.issued[k] < count]
            if not open_:  # handed out and not told yet, or never told
                self.issued = [0] * len(self.wanted)
                open_ = list(range(len(self.wanted)))
            k = min(open_, key=lambda k: self.issued[k] / max(self.wanted[k][1], 1))
            self.issued[k] += 1
            rows.append(self.wanted[k][0])
        return np.array(rows)

    def told(self, theta: np.ndarray) -> None:
        """Rows have arrived; those that the stage waits for bring it to its end."""
        self.spent += len(theta)
        for k, (at, count) in enumerate(self.wanted):
            came = int(np.all(theta == at, axis=1).sum())
            self.wanted[k] = (at, count - came)
            self.issued[k] = max(self.issued[k] - came, 0)
        if self.left == 0:
            self.stage = "done"
        while self.stage != "done" and all(count <= 0 for _, count in self.wanted):
            getattr(self, f"_after_{self.stage}")()

    def _want(self, wanted: list[tuple[np.ndarray, int]]) -> None:
        """As far as there is budget, evenly."""
        total = sum(count for _, count in wanted)
        share = min(1.0, self.left / total) if total else 0.0
        self.wanted = [(theta, max(int(count * share), 1)) for theta, count in wanted]
        self.issued = [0] * len(wanted)

    def _after_confirm(self) -> None:
        first = self.evidence(self.proposal)
        others = self.rivals(first)
        doubt = bool(others) or not surely_beats(first, self.evidence(self.start))
        if not doubt:
            return self._settle()
        room = self.left // LEAST_EACH - 1
        self.entrants += others[: max(min(RIVALS, room), 0)]
        self._round() if len(self.entrants) > 1 else self._test_start()

    def _round(self) -> None:
        self.stage = "race"
        each = max(ROUND_LEAST, round(ROUND_SHARE * self.left / len(self.entrants)))
        self._want([(theta, each) for theta in self.entrants])

    def _after_race(self) -> None:
        known = [self.evidence(theta) for theta in self.entrants]
        best = min(known, key=lambda each: each.upper)
        self.entrants = [each.theta for each in known if each is best or not surely_beats(best, each)]
        if len(self.entrants) > 1 and self.spent < RACE_SHARE * self.reserve:
            self._round()
        else:
            self._test_start()

    def _test_start(self) -> None:
        self.stage = "start"
        lacking = min(START_DRAWS - self.evidence(self.start).draws, int(START_SHARE * self.left))
        if lacking <= 0:
            return self._settle()
        self._want([(self.start, lacking)])

    def _after_start(self) -> None:
        self._settle()

    def _settle(self) -> None:
        """All that is left goes to the most promising."""
        self.stage = "settle"
        known = [self.evidence(theta) for theta in self.entrants]
        best = min(known, key=lambda each: each.fun + each.error + each.unseen / 2 if np.isfinite(each.fun) else np.inf)
        start = self.evidence(self.start)
        if not np.isfinite(best.fun) or surely_beats(start, best):
            best = start
        self._want([(best.theta, self.left)])

    def _after_settle(self) -> None:
        self.stage = "done"


@dataclass
class Repeats:
    """Without noise: the mean of the search once, which may be better than any sample, then the best point again and again."""

    proposal: np.ndarray
    reserve: int
    best: Callable[[], np.ndarray]
    spent: int = 0
    asked: int = 0

    @property
    def left(self) -> int:
        return max(self.reserve - self.spent, 0)

    @property
    def done(self) -> bool:
        return self.left == 0

    def ask(self, n: int) -> np.ndarray:
        rows = [self.proposal if self.asked + k == 0 else self.best() for k in range(n)]
        # the winner is known once the mean was told: until then nothing else is handed out, unless nobody tells
        rows = rows[:1] if self.asked == 0 else rows
        self.asked += len(rows)
        return np.array(rows)

    def told(self, theta: np.ndarray) -> None:
        self.spent += len(theta)


def surely_beats(a: Estimate, b: Estimate) -> bool:
    """Is E f lower at a, by one joint standard error and though the next draw at a were as bad as the worst that is near?"""
    if not np.isfinite(a.fun):
        return False
    if not np.isfinite(b.fun):
        return True
    spread = np.nanmax([a.spread, b.spread, 0.0])
    return a.fun + a.unseen + spread * math.sqrt(1 / max(a.effective, 1) + 1 / max(b.effective, 1)) < b.fun


def decide(known: list[Estimate], start: Estimate) -> Estimate:
    """The candidate with the lowest upper bound among those that surely beat the start and have half as many draws as the favourite."""
    able = [each for each in known if each.draws and surely_beats(each, start)]
    if not able:
        return start
    most = max(each.effective for each in able)
    return min((each for each in able if each.effective >= most / 2), key=lambda each: each.upper)
