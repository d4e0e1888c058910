"""Random problems: drawn the same for the same seed, judged by values that tell good from bad."""

import numpy as np
import pytest
from phenes_lab.bench import fuzz

SETTINGS = fuzz.FuzzSettings(problems=3, draws=500)


@pytest.mark.parametrize("law", fuzz.LAWS)
def test_every_law_realises_what_it_says(law):
    problem = fuzz.draw(SETTINGS, 5)._replace(law=law, noise=0.1)
    x = fuzz.realiser(problem, fuzz.law_of(problem))(
        np.tile(problem.x0, (2000, 1)), np.random.default_rng(0)
    )
    off = x - problem.x0
    assert np.abs(off.mean(0)).max() < 0.1
    assert (off.std() == 0) == (law == "none")


def test_problems_differ_and_return():
    one, other, again = fuzz.draw(SETTINGS, 1), fuzz.draw(SETTINGS, 2), fuzz.draw(SETTINGS, 1)
    np.testing.assert_array_equal(one.root, again.root)
    assert one[:4] == again[:4]
    assert one.sigma0 != other.sigma0


@pytest.mark.parametrize("shape", fuzz.SHAPES)
def test_every_shape_has_its_least_value_at_the_centre(shape):
    problem = fuzz.draw(SETTINGS, 3)._replace(shape=shape)
    around = problem.centre + np.random.default_rng(0).normal(size=(200, problem.dim))
    assert (fuzz.value(problem, around) >= fuzz.value(problem, problem.centre[None])).all()


class TestVerdict:
    """A search that stays, one that gets there, one that runs away, one that returns nothing."""

    def verdict(self, x, fun=1.0):
        problem = fuzz.draw(SETTINGS, 4)._replace(shape="quadratic", law="number", noise=0.1)
        problem = problem._replace(x0=problem.centre + 3.0)
        of = {
            "start": problem.x0,
            "centre": problem.centre,
            "away": problem.centre + 1e5,
            "nan": problem.x0 * np.nan,
        }[x]
        answer = type("Answer", (), {"x": of, "fun": fun, "fun_se": 0.1, "success": True})
        return fuzz._verdict(
            SETTINGS, problem, fuzz.realiser(problem, fuzz.law_of(problem)), answer
        )

    def test_good_ends_are_neither(self):
        for x in ("start", "centre"):
            row = self.verdict(x)
            assert not row.diverged
            assert not row.worse
        assert self.verdict("centre").gain > 1

    def test_claims_are_held_against_the_truth(self):
        true = fuzz.value(
            fuzz.draw(SETTINGS, 4)._replace(shape="quadratic"), fuzz.draw(SETTINGS, 4).centre[None]
        )[0]
        assert self.verdict("centre", fun=true + 0.1).covered
        far = self.verdict("centre", fun=true + 10.0)
        assert far.wrong
        assert not far.covered

    def test_bad_ends_are_seen(self):
        assert self.verdict("away").diverged
        assert self.verdict("away").worse
        assert self.verdict("nan").diverged
        assert self.verdict("centre", fun=np.nan).diverged


@pytest.mark.tier("lab")
def test_a_few_from_end_to_end(inline):
    rows = fuzz.run(fuzz.FuzzSettings(problems=4, draws=500))
    assert [row.problem for row in rows] == [0, 1, 2, 3]
    said = fuzz.as_json(rows)
    assert (said["benchmark"], said["problems"], said["diverged"]) == ("wild", 4, 0)
    assert fuzz.table(rows).row_count == len(fuzz.LAWS) + 1
