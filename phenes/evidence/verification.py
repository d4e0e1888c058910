"""The end of a run: a race between the proposal of the search and its closest rivals.

The winner has fresh draws by then. Draws are made in rounds, each where the evidence is best by
then. A failure or a jump at the leader lets another lead; the start gets draws while it is not
surely beaten and they would tell. Rows belong to a candidate by their theta, so that they may come
in any order.
"""

# SciPy ships no stubs
# pyright: reportMissingTypeStubs=false

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from phenes._validate import FloatArray
from phenes.evidence.estimate import SINGLE, Estimate
from phenes.evidence.retreat import Retreat, affordable

ROUND_SHARE, ROUND_LEAST = 0.125, 2  # draws in a round: share of the reserve, and at least
TRIAL = 3  # draws at a rival of which too little is known for an estimate
START_LEAST = 4  # draws at the start, if it may win, that estimate its spread
WELL_KNOWN = 8  # draws from which on estimates decide where intervals overlap
START_SHARE = 0.3  # largest share of the reserve for draws at the start
LEAST_EACH = 4  # draws that a candidate needs to be recommended instead of the start
RIVALS = 3
# share of the reserve in which the proposal may still improve
IMPROVING = 0.4
PROBES = 0.3  # largest share of the reserve that is aimed at what no evaluation has met
LEAST_DRAWS = 5  # draws that an answer needs to be called verified
MOST_FAILING = 0.5  # share of the draws at an answer that may fail
# errors of a model by which it must know the start to be worse; with one, an answer on a yield
# (`stack` of `phenes bench trust`) was worse than the start
MODEL_ERRORS = 2.0
# failures at the proposal from which on it is asked whether fewer fail on the way back: their share
# is known to half of itself then
SURELY_FAILS = 4
ONE_SIDED = 0.8413  # probability below one standard deviation of a normal


class _Spending:
    """What is left of a reserve of evaluations."""

    reserve: int
    spent: int

    @property
    def left(self) -> int:
        """Evaluations that may still be spent."""
        return max(self.reserve - self.spent, 0)

    @property
    def done(self) -> bool:
        """Whether the reserve is spent."""
        return self.left == 0


@dataclass
class Verification(_Spending):
    """Hands out theta (`ask`) and is told when rows have arrived (`told`).

    Parameters
    ----------
    start : ndarray, shape (d,)
        Where the search began: the answer has to beat it.
    proposal : ndarray, shape (d,)
        The answer of the search.
    reserve : int
        Evaluations that may be spent.
    evidence : callable
        theta -> `Estimate`: what is known there now.
    rivals : callable
        (leader, entrants) -> other theta that may be better than the leader, best first.
    improve : callable
        theta -> what the search proposes by now, if that is better; None if not.
    modelled : callable
        () -> `Estimate` of E f at the start by the model of the search, None if it has none. One
        draw at the start says little of it; a model of all rows says more.
    others : list of ndarray, shape (d,)
        Other answers that the search had to offer.
    admissible : callable
        Estimates -> those of them that may be recommended: that meet the constraints, or if none
        does, the one that violates them least. All, if there are no constraints.
    probe : callable
        theta -> where to aim an evaluation at a part of its law that none has met; None if that is
        small. What is claimed of a tail there would be the word of a model alone.
    backward : callable
        (theta, n) -> n places between theta and the start, nearest first; none where failures say
        nothing of theta.
    needed : int
        Draws that show what is claimed without a model; with so many, none of them is aimed.
    spent, entrants, wanted, at_start, feared : int, list, tuple, int, float
        The state of the race: draws made, theta that take part, theta and draws that the round
        waits for, draws made at the start, and the worst that was thought of a leader.
    retreat : Retreat or None
        Places on the way back from a proposal that was seen to fail.
    probes, aims, handed_out : int, bool, bool
        Evaluations that were aimed; whether the round waits for one, and whether it was given.
    """

    start: FloatArray
    proposal: FloatArray
    reserve: int
    evidence: Callable[[FloatArray], Estimate]
    rivals: Callable[[Estimate, list[FloatArray]], list[FloatArray]]
    improve: Callable[[FloatArray], FloatArray | None] = lambda theta: None
    modelled: Callable[[], Estimate | None] = lambda: None
    others: list[FloatArray] = field(default_factory=list[FloatArray])
    admissible: Callable[[list[Estimate]], list[Estimate]] = lambda known: known
    probe: Callable[[FloatArray], FloatArray | None] = lambda theta: None
    backward: Callable[[FloatArray, int], list[FloatArray]] = lambda theta, n: []
    needed: int = 0
    spent: int = 0
    entrants: list[FloatArray] = field(default_factory=list[FloatArray])
    # theta and draws that the round still waits for
    wanted: tuple[FloatArray, int] = (np.empty(0), 0)
    at_start: int = 0  # draws made at the start
    # the largest upper bound of a leader so far: new rivals are sought when it is exceeded
    feared: float = -np.inf
    retreat: Retreat | None = None
    probes: int = 0
    aims: bool = False  # whether the round waits for an evaluation that was aimed
    handed_out: bool = False  # whether `ask` has given it

    def __post_init__(self) -> None:
        self.entrants = [self.proposal, *self.others]
        self._round()

    def ask(self, n: int) -> FloatArray:
        """Say where to draw next: at the theta that the round waits for.

        Parameters
        ----------
        n : int
            How many theta; if more than the round waits for, more of the same, or of the proposal
            where one was aimed beside it.

        Returns
        -------
        ndarray, shape (n, d)
        """
        if self.retreat is not None and self.retreat.left:
            return self.retreat.ask(n, self.evidence)
        rows = np.tile(self.wanted[0], (n, 1))
        if self.aims:
            rows[0 if self.handed_out else 1 :] = self.proposal
            self.handed_out = True
        return rows

    def told(self, theta: FloatArray) -> None:
        """Rows have arrived; those that the round waits for bring it to its end.

        Parameters
        ----------
        theta : ndarray, shape (n, d)
            Where they were drawn.
        """
        self.spent += len(theta)
        at, count = self.wanted
        self.at_start += int(np.all(theta == self.start, axis=1).sum())
        self.wanted = (at, count - int(np.all(theta == at, axis=1).sum()))
        if self.wanted[1] <= 0 and not self.done:
            self._round()

    def _round(self) -> None:
        """Where the next draws go.

        To the start or to an unknown rival if that may change the answer, else to the leader.
        """
        step = min(max(ROUND_LEAST, round(ROUND_SHARE * self.reserve)), self.left)
        improved = self._improved()
        self.aims, self.handed_out = self._probed(), False
        if self.aims:
            return
        if improved:
            self.wanted = (self.proposal, step)
            return
        if self._retreats():
            return
        known = [self.evidence(theta) for theta in self.entrants]
        leader = self._leading(known)
        if len(self.entrants) <= RIVALS and leader.upper > self.feared:
            self.feared = leader.upper
            new = self.rivals(leader, self.entrants)[: RIVALS + 1 - len(self.entrants)]
            self.entrants += new
            known += [self.evidence(theta) for theta in new]
            leader = self._leading(known)
        unknown = [each for each in known if not np.isfinite(each.fun) and each.draws == 0]
        start = self.evidence(self.start)
        best = self.admissible([leader, start])
        if start is best[0]:  # it alone meets the constraints
            self.wanted = (self.start, step)
        elif (
            leader.draws >= TRIAL
            and any(each is start for each in best)
            and self._start_may_tell(leader, start)
        ):
            self.wanted = (self.start, min(max(ROUND_LEAST, step // 2), self.left))
        elif (
            unknown
            and (leader.draws >= TRIAL or not np.isfinite(leader.fun))
            and self.left > 2 * TRIAL
        ):
            self.wanted = (unknown[0].theta, TRIAL)
        else:
            self.wanted = (leader.theta, step)

    def _leading(self, known: list[Estimate]) -> Estimate:
        """The leader among those who can still get the draws that an answer needs.

        Places that are as good as one another would share the last draws, and none had enough of
        them to be recommended.
        """
        able = [each for each in known if each.draws + self.left >= LEAST_DRAWS]
        return _leader(self.admissible(able or known), _index)

    def _improved(self) -> bool:
        """Whether the search, which has learnt from the first draws, proposes a better place.

        It is asked only as long as enough draws are left for what it proposes.
        """
        shows = self.needed if self.reserve >= self.needed else 0
        if not self.spent or self.left < max(LEAST_DRAWS, (1 - IMPROVING) * self.reserve, shows):
            return False
        better = self.improve(self.proposal)
        if better is None:
            return False
        self.proposal = better
        self.entrants.insert(0, better)
        return True

    def _retreats(self) -> bool:
        """Whether the next draws are made on the way back from a proposal that fails.

        The place that is left in the end takes part in the race.
        """
        if self.retreat is None:
            places = self._back()
            if not places:
                return False
            self.retreat = Retreat(places)
        missing = self.retreat.next(self.evidence) if self.left > LEAST_DRAWS else None
        if missing is not None:
            self.wanted = missing
            return True
        self.entrants += self.retreat.left[:1]
        self.retreat.left = []
        return False

    def _back(self) -> list[FloatArray]:
        """Places on the way back, if the proposal was surely seen to fail while it was early."""
        count = affordable(self.reserve)
        if not count or 2 * self.left < self.reserve:
            return []
        fails = self.evidence(self.proposal).failed >= SURELY_FAILS
        return self.backward(self.proposal, count) if fails else []

    @property
    def contenders(self) -> list[FloatArray]:
        """All theta that were drawn at to be compared."""
        return self.entrants + (self.retreat.places if self.retreat is not None else [])

    def _probed(self) -> bool:
        """Whether the next evaluation is aimed at what none has met of the law at the proposal.

        The first ones are: the search learns from them, and may propose another place.
        """
        if self.probes >= self._most_probes or self.left <= LEAST_DRAWS:
            return False
        theta = self.probe(self.proposal)
        if theta is None:
            return False
        self.probes += 1
        self.wanted = (theta, 1)
        return True

    @property
    def _most_probes(self) -> float:
        """Evaluations that may be aimed: of draws that show a tail by themselves, none."""
        most = PROBES * self.reserve
        return min(most, self.reserve - self.needed) if self.reserve >= self.needed else most

    def _start_may_tell(self, leader: Estimate, start: Estimate) -> bool:
        """Whether the start is the one whose E f is not known well enough to be beaten."""
        if self.at_start + ROUND_LEAST > START_SHARE * self.reserve:
            return False
        if surely_beats(leader, start) or expected_to_beat(leader, self.modelled()):
            return False
        if leader.draws + self.left - ROUND_LEAST < LEAST_DRAWS:  # the claim needs them
            return False
        return start.draws < START_LEAST or _blur(start, leader) > _blur(leader, start)


def _leader(known: list[Estimate], value: Callable[[Estimate], float]) -> Estimate:
    """The estimate of least value, if it beats the first by two standard errors; else the first.

    The first is what the search proposes. What evaluations cannot tell apart the model of the
    search often can.
    """
    best = min(known, key=value)
    return (
        best
        if value(best) + 2 * best.error < value(known[0]) or not np.isfinite(value(known[0]))
        else known[0]
    )


def _index(known: Estimate) -> float:
    """The index by which the leader is chosen: E f, its error, and half of the unseen risk."""
    return known.fun + known.error + known.unseen / 2 if np.isfinite(known.fun) else np.inf


def _blur(known: Estimate, other: Estimate) -> float:
    """Standard error with the small-sample quantile of one standard deviation.

    A single draw is taken to spread like those of the other; or as a model says, which counts for
    several errors of the model.
    """
    alone = not np.isfinite(known.spread)
    if alone and not np.isfinite(other.spread):
        return np.inf
    spare = (other if alone else known).effective - 1
    spread = other.spread if alone else known.spread
    errors = MODEL_ERRORS if not alone and known.effective <= SINGLE else 1.0
    return (
        errors
        * float(special.stdtrit(max(spare, 1.0), ONE_SIDED))
        * spread
        / math.sqrt(max(known.effective, 1.0))
    )


@dataclass
class Repeats(_Spending):
    """The verification without noise: the mean of the search once, then the best point again.

    The mean may be better than any sample.
    """

    proposal: FloatArray
    reserve: int
    best: Callable[[], FloatArray]
    spent: int = 0
    asked: int = 0
    entrants: list[FloatArray] = field(default_factory=list[FloatArray])

    @property
    def contenders(self) -> list[FloatArray]:
        """None: what is exact needs no comparison by draws."""
        return self.entrants

    def ask(self, n: int) -> FloatArray:
        rows = [self.proposal if self.asked + k == 0 else self.best() for k in range(n)]
        # the best point is known once the mean was told: until then only the mean is asked, except
        # if the caller asks again without telling
        rows = rows[:1] if self.asked == 0 else rows
        self.asked += len(rows)
        return np.array(rows)

    def told(self, theta: FloatArray) -> None:
        self.spent += len(theta)


def surely_beats(a: Estimate, b: Estimate) -> bool:
    """Whether E f is lower at a by one joint standard error, whatever the next draw shows.

    That is, even if the next draw at a is as bad, and the next draw at b as good, as any value seen
    nearby.
    """
    if not np.isfinite(a.fun):
        return False
    if not np.isfinite(b.fun):
        return True
    return a.fun + a.unseen + math.hypot(_blur(a, b), _blur(b, a)) < b.fun - b.hoped


def beats(a: Estimate, b: Estimate) -> bool:
    """Whether a surely beats b or, where both are well known, has the lower pessimistic E f.

    The pessimistic value is the one after one more draw as bad as the worst value seen nearby. Of
    two places with the same values none is better, though one has more draws.
    """
    known = min(a.draws, b.draws) >= WELL_KNOWN and a.fun != b.fun
    return surely_beats(a, b) or (known and a.fun + a.unseen < b.fun + b.unseen)


def expected_to_beat(a: Estimate, modelled: Estimate | None) -> bool:
    """Whether a beats the start as the model of the search knows it, by two errors of the model.

    Where f jumps, models are too sure of themselves: what may be hoped for at the start counts as
    well. Not where evaluations at a failed: what that costs is nothing that a model knows.
    """
    if modelled is None or a.failed or not np.isfinite(a.fun):
        return False
    error = math.hypot(_blur(a, modelled), MODEL_ERRORS * modelled.error)
    return a.fun + a.unseen + error < modelled.fun - modelled.hoped


def decide(known: list[Estimate], start: Estimate, modelled: Estimate | None = None) -> Estimate:
    """The candidate with the lowest upper bound among those that beat the start.

    Candidates must also fail in at most half of their draws, and have at least half as many draws
    as any other. known: what the search proposed last comes first. start: one of which nothing is
    known is beaten by any. modelled: the start by the model of the search.
    """
    works = [each for each in known if each.share <= MOST_FAILING]
    most = max((each.draws for each in works), default=0)
    able = [
        each
        for each in works
        if each.draws >= max(most / 2, LEAST_EACH)
        and (beats(each, start) or expected_to_beat(each, modelled))
    ]
    return _leader(able, lambda each: each.upper) if able else start


def carries(chosen: Estimate, here: Estimate) -> bool:
    """Whether the draws at the chosen place speak for a better one nearby.

    The last draws teach the search, too. Where they are few it knows a better place after them, of
    which they say nearly as much. Its evidence must be better, surprises included, and worth as
    many draws as any answer needs; draws that failed stay where they were made.
    """
    better = here.fun + here.unseen < chosen.fun + chosen.unseen
    return bool(few(chosen) and here.effective >= LEAST_DRAWS and better)


def few(chosen: Estimate) -> bool:
    """Whether so few draws were made there that the answer may be beside them."""
    return LEAST_DRAWS <= chosen.draws <= WELL_KNOWN and not chosen.failed
