"""What is searched: spaces and vectors, and what is refused before anything is evaluated."""

import re

import numpy as np
import pytest

import phenes
from phenes import Integer, Log, Real, Space
from phenes.optimizer.setup import encode_told, make_setup

SPACE = Space(width=Real(50, 300, unit="mm", noise=4.0), feed=Log(1, 100))


def test_a_vector_is_taken_as_it_is():
    for given in (([1.0, 2.0], 0.5, 0.1, None, None), (None, 0.5, 0.1, [1.0, 2.0], None)):
        setup = make_setup(*given)
        assert setup.x0.tolist() == [1.0, 2.0]
        assert setup.sigma0.tolist() == [0.5, 0.5]
        assert setup.noise == 0.1
        assert setup.space is None
        assert setup.lattice is None


def test_a_space_says_it_all():
    setup = make_setup(SPACE, None, None, {"width": 100}, None)
    assert setup.x0.tolist() == [100.0, pytest.approx(np.log(10))]
    assert setup.sigma0.tolist() == [62.5, pytest.approx(np.log(100) / 4)]
    assert setup.noise.tolist() == [4.0, 0.0]
    assert setup.lattice is None
    assert make_setup(Space(n=Integer(0, 3)), None, None, None, None).lattice is not None


def test_noise_beside_a_space_is_one_law_for_all():
    cov = [[0.04, 0.01], [0.01, 0.02]]
    setup = make_setup(Space(a=Real(0, 1), b=Real(0, 1)), None, cov, None, None)
    assert setup.noise.tolist() == cov


NONE = np.empty((0, 2))


def test_what_was_told_is_encoded():
    theta, x = encode_told(
        SPACE,
        [{"width": 100, "feed": 1.0}, {"width": 200, "feed": 100.0}],
        [{"width": 101.0}, None],
        NONE,
    )
    assert theta.tolist() == [[100.0, 0.0], [200.0, np.log(100)]]
    assert x is not None
    assert x[0].tolist() == [101.0, 0.0]
    assert np.isnan(x[1, 0])
    assert x[1, 1] == np.log(100)
    assert encode_told(SPACE, {"width": 100, "feed": 1.0}, None, NONE)[1] is None


def test_what_was_handed_out_comes_back_as_it_was():
    """log(exp(t)) is not always t: such draws were not known again, nor counted at the answer."""
    logs = np.random.default_rng(0).uniform(0, 7, 200)
    pending = np.stack([np.full(200, 100.0), logs], axis=1)
    named = [dict(SPACE.decode(row)) for row in pending]
    assert np.any(np.log([each["feed"] for each in named]) != logs)
    theta, _ = encode_told(SPACE, named, None, pending)
    np.testing.assert_array_equal(theta, pending)
    twins = np.array([[100.0, 1.0], [100.0, 1.0 + 1e-15]])
    theta, _ = encode_told(SPACE, [dict(SPACE.decode(row)) for row in twins], None, twins)
    assert sorted(theta.tolist()) == twins.tolist()
    other, _ = encode_told(SPACE, [{"width": 100.0, "feed": 2.0}], None, pending)
    assert other.tolist() == [[100.0, np.log(2.0)]]


def test_draws_told_by_name_verify_the_answer():
    space = Space(width=Real(50, 300, noise=4.0), feed=Log(1e-3, 10, noise=0.05))
    rng = np.random.default_rng(3)
    opt = phenes.Optimizer(space, budget=30, seed=3)
    while not opt.stop():
        theta = opt.ask(2)
        made = [each | {"width": each["width"] + 4 * rng.standard_normal()} for each in theta]
        f = [((each["width"] - 210) / 50) ** 2 + np.log(each["feed"]) ** 2 for each in made]
        opt.tell(theta, f, realised=made)
        assert not len(opt.pending)
    assert opt.result.verified >= 5
    left = opt.verify(3)
    opt.withdraw(left)
    assert not len(opt.pending)


def never(**_):
    raise AssertionError("nothing may be evaluated")


WRONG = {
    "nothing": (dict(space=None, x0=None), "the parameters of f must say what they may be"),
    "a mapping": (dict(space={"a": 1}), "a space or x0 must say what is searched"),
    "a class": (dict(space=Space), "a space or x0 must say what is searched"),
    "no sigma0": (dict(space=[0.0, 0.0]), "sigma0 must be given with x0"),
    "both": (dict(space=[0.0], x0=[0.0], sigma0=1.0), "x0 must be given once, or beside a Space"),
    "sigma0": (dict(space=SPACE, sigma0=0.5), "sigma0 must not be given with a space"),
    "bounds": (dict(space=SPACE, bounds=(0, 1)), "bounds must not be given with a space"),
    "noise twice": (dict(space=SPACE, noise=0.1), "noise must be given once, in the space or"),
    "noise as wide as the box": (
        dict(space=[0.0, 0.0], sigma0=1.0, noise=[0.1, 3.0], bounds=(-1, 1)),
        "noise must be smaller than the range of 2 between the bounds of coordinate 1, got 3",
    ),
    "infinite noise": (
        dict(space=[0.0, 0.0], sigma0=1.0, noise=[0.1, np.inf]),
        "noise must be finite, got [0.1 inf]",
    ),
    "x0": (dict(space=SPACE, x0=[1.0, 2.0]), "x0 must be a mapping of names to values"),
    "x0 unknown": (dict(space=SPACE, x0={"w": 1}), "x0 must be by the names width, feed, got 'w'"),
    "x0 outside": (dict(space=SPACE, x0={"width": 1}), "x0 must lie within the space"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_bad_input_is_one_sentence_and_nothing_is_evaluated(given, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        phenes.minimize(never, **given)


def test_what_is_told_must_be_points_of_the_space():
    opt = phenes.Optimizer(SPACE)
    good = {"width": 100, "feed": 1.0}
    for theta, f, realised, said in (
        ({"width": 100}, 0.0, None, "a point must have all of width, feed, got no feed"),
        (good | {"turns": 3}, 0.0, None, "a point must be by the names width, feed, got 'turns'"),
        (good, 0.0, [good, good], "realised must have one point for each of the 1 theta, got 2"),
        (good, 0.0, {"turns": 3}, "a realised point must be by the names width, feed"),
        (good, [0.0, 1.0], None, "f must have one value for each of the 1 theta"),
        (good | {"width": None}, 0.0, None, "theta must be finite"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            opt.tell(theta, f, realised)
    assert opt.nfev == 0


@pytest.mark.parametrize(
    ("engine", "budget"),
    [pytest.param("gp", 40, marks=pytest.mark.tier("runs")), ("adaptive", 800)],
)
def test_exact_coordinates_beside_noisy_ones(engine, budget):
    """E f = 2 * 0.1^2 at the optimum, and x = theta in the second coordinate."""
    result = phenes.minimize(
        lambda x: np.sum((x - 0.3) ** 2),
        np.ones(3),
        0.5,
        noise=[0.1, 0, 0.1],
        budget=budget,
        engine=engine,
    )
    off = np.sum((result.x - 0.3) ** 2)
    assert off < 1e-3
    assert result.success, result.message
    assert result.interval[0] <= 0.02 + off <= result.interval[1]
    rows = result.evaluations
    assert np.array_equal(rows.x[:, 1], rows.theta[:, 1])
    assert np.std(rows.x[:, 0] - rows.theta[:, 0]) > 0.05
