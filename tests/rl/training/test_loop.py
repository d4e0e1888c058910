"""The one loop, on a problem whose looks and proofs are written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from phenes.rl.curve import Report
from phenes.rl.problems import Advanced
from phenes.rl.training.checkpoint import Checkpoint
from phenes.rl.training.loop import run


class Written:
    """The carry is the number of generations; so is the answer. Chunks are of two generations."""

    chunk = 2

    def __init__(self, looks, proofs=None, mean=0.0, keeps_best=True):
        self.looks, self.proofs, self.mean, self.keeps_best = looks, proofs, mean, keeps_best
        self.asked = []

    def begin(self):
        return 0

    def advance(self, carry, n):
        after = carry + n
        zeros = np.zeros(n)
        report = Report(
            zeros + self.mean, zeros, *(zeros.astype(int) for _ in range(3)), *[zeros] * 2
        )
        return Advanced(after, [report], [(after, self.looks[after])])

    def answer(self, carry):
        return carry

    def prove(self, answer, generation):
        self.asked.append((answer, generation))
        return (self.proofs or self.looks).get(answer, -np.inf)

    def readout(self, answer, carry, curve):
        return SimpleNamespace(answer=answer, carry=carry)

    def close(self):
        pass


def played(problem, generations=6, target=None):
    calls = []
    progress = lambda done, total, curve: calls.append((done, total, curve.generations))  # noqa: E731
    return run(problem, generations, target, Checkpoint(None), progress), calls


def test_the_best_mean_policy_is_kept_not_the_last():
    """Looks of 1, 5 and 2: the second, judged on the same fresh episodes as the last."""
    problem = Written({2: 1.0, 4: 5.0, 6: 2.0})
    out, calls = played(problem)
    assert (out.readout.answer, out.value, out.readout.carry) == (4, 5.0, 6)
    assert problem.asked == [(6, 7), (4, 7)]
    assert calls == [(0, 6, 0), (2, 6, 2), (4, 6, 4), (6, 6, 6)]
    np.testing.assert_array_equal(out.curve.at, [2, 4, 6])
    np.testing.assert_array_equal(out.curve.deterministic, [1, 5, 2])


def test_the_last_one_is_kept_if_it_proves_better_than_it_looked():
    out, _ = played(Written({2: 1.0, 4: 5.0, 6: 2.0}, {4: 1.5, 6: 2.0}))
    assert (out.readout.answer, out.value) == (6, 2.0)


def test_a_last_policy_that_is_the_best_is_proved_once():
    problem = Written({2: 1.0, 4: 2.0, 6: 5.0})
    out, _ = played(problem)
    assert (out.readout.answer, out.value) == (6, 5.0)
    assert problem.asked == [(6, 7)]


def test_a_proof_that_is_not_a_number_counts_as_the_worst():
    out, _ = played(Written({2: 1.0, 4: 5.0, 6: 2.0}, {4: 1.5, 6: np.nan}))
    assert out.readout.answer == 4


def test_a_problem_whose_curve_is_exact_ends_with_its_last_policy():
    out, _ = played(Written({2: 1.0, 4: 5.0, 6: 2.0}, keeps_best=False))
    assert (out.readout.answer, out.value) == (6, 2.0)


def test_a_target_that_is_only_touched_by_a_lucky_look_is_not_solved():
    """A look of 5 at the target, and proofs below it: the run goes on to its end."""
    out, _ = played(Written({2: 5.0, 4: 5.0, 6: 5.0}, {2: 4.0, 4: 4.9, 6: 4.9}), target=5.0)
    assert not out.solved
    assert out.curve.generations == 6


@pytest.mark.parametrize("mean", [0.0, 9.0])
def test_a_target_that_is_proved_ends_the_run(mean):
    """Whether a look or the population called for the proof."""
    look = 9.0 if mean == 0 else 0.0
    problem = Written(dict.fromkeys((2, 4, 6), look), {2: 4.0, 4: 6.0, 6: 6.0}, mean)
    out, _ = played(problem, target=5.0)
    assert out.solved
    assert out.curve.generations == 4
    assert problem.asked[:2] == [(2, 2), (4, 4)]


def test_nobody_asks_for_a_proof_below_the_target():
    problem = Written({2: 1.0, 4: 1.0, 6: 1.0}, {2: 9.0, 4: 9.0, 6: 9.0}, mean=1.0)
    out, _ = played(problem, target=5.0)
    assert not out.solved
    assert problem.asked == [(6, 7)]  # of the end, whatever the target


def test_the_last_chunk_may_be_shorter():
    out, calls = played(Written({2: 1.0, 4: 2.0, 5: 3.0}), generations=5)
    assert out.curve.generations == 5
    assert calls[-1] == (5, 5, 5)
