"""The table of transitions: all there are, and no other."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from phenes.adaptive.phases import (
    TRANSITIONS,
    End,
    Enter,
    Phase,
    Return,
    Revert,
    Stay,
    Step,
    Widen,
    after,
)
from tests.adaptive.problems import descent

DECISIONS = {
    Stay: Stay(),
    Step: Step(None, None),
    Revert: Revert("", None),
    Return: Return("", np.zeros(1)),
    Widen: Widen("", 0.0),
    Enter: Enter(""),
    End: End(""),
}
MOTIONLESS = (Stay, Step, Revert, Widen)
# from what: by an Enter, by an End, by a Return; None: there is no such transition
TABLE = {
    Phase.SEARCH: (Phase.REFINE, Phase.ENDED, Phase.SEARCH),
    Phase.REFINE: (None, Phase.SETTLED, Phase.SEARCH),
    Phase.SETTLED: (None, Phase.SETTLED, Phase.ENDED),
    Phase.ENDED: (Phase.SETTLED, Phase.ENDED, Phase.ENDED),
}


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize(("column", "kind"), list(enumerate([Enter, End, Return])))
def test_every_transition_and_no_other(phase, column, kind):
    expected = TABLE[phase][column]
    if expected is None:
        with pytest.raises(ValueError, match=f"no {kind.__name__} from {phase.name}"):
            after(phase, DECISIONS[kind])
    else:
        assert after(phase, DECISIONS[kind]) is expected


@pytest.mark.parametrize(("phase", "kind"), list(itertools.product(Phase, MOTIONLESS)))
def test_other_decisions_change_no_phase(phase, kind):
    assert after(phase, DECISIONS[kind]) is phase


def test_the_table_has_these_rows_only():
    rows = sum(to is not None for line in TABLE.values() for to in line)
    assert len(TRANSITIONS) == rows == 10


def test_a_phase_answers_two_questions():
    assert [phase for phase in Phase if phase.refines] == [Phase.REFINE, Phase.SETTLED]
    assert [phase for phase in Phase if phase.over] == [Phase.SETTLED, Phase.ENDED]


@pytest.mark.parametrize(("start", "kind"), list(TRANSITIONS))
def test_a_descent_follows_the_table(start, kind):
    one = descent(np.ones(2))
    one.state.archive.add(np.zeros((1, 2)), np.zeros(1))
    one.state.phase = start
    decision = Return("why", np.zeros(2)) if kind is Return else kind("why")
    assert one._apply((decision,))
    assert one.state.phase is TRANSITIONS[start, kind]
    assert one._events.take() == {"why": 1}


def test_the_page_has_the_table():
    page = (Path(__file__).parents[2] / "docs" / "adaptive.md").read_text()
    rows = re.findall(r"^\| ([A-Z]+) \| (\w+) \| ([A-Z]+) \| ", page, re.MULTILINE)
    shown = {(start, kind, end) for start, kind, end in rows}
    assert len(shown) == len(rows)
    assert shown == {(a.name, kind.__name__, b.name) for (a, kind), b in TRANSITIONS.items()}
