"""Ask and tell as labs use it: in parts, in any order, with gaps, and exactly the same after a
break.
"""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import phenes
from phenes import inputs
from phenes.optimizer import NoiseWarning
from phenes.problems.robust import ROBUST

D = 4
CENTRE = np.array([1.0, -2.0, 0.5, 0.0])


def sphere(x):
    return np.sum((x - CENTRE) ** 2, axis=-1)


def lab(rng, theta, std=0.1):
    x = theta + std * rng.standard_normal(theta.shape)
    return x, sphere(x)


def optimizer(**changes):
    return phenes.Optimizer(
        **({"x0": np.zeros(D), "sigma0": 0.5, "noise": 0.1, "budget": 3000, "seed": 1} | changes)
    )


def drive(opt, rng=None, measure=lambda x: x):
    rng = rng or np.random.default_rng(0)
    while not opt.stop():
        theta = opt.ask()
        x, f = lab(rng, theta)
        opt.tell(theta, f, realised=measure(x))
    return opt.result


@pytest.mark.tier("runs")
def test_the_script_of_the_readme_ends_by_itself():
    opt = phenes.Optimizer(
        x0=np.zeros(10), sigma0=0.5, noise=phenes.inputs.GaussianNoise(0.1), popsize=20, seed=0
    )
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = opt.ask()
        assert theta.shape == (20, 10)
        x = theta + 0.1 * rng.standard_normal(theta.shape)
        opt.tell(theta, np.sum((x - 1) ** 2, axis=1), realised=x)
    np.testing.assert_allclose(opt.result.x, 1, atol=1e-3)
    assert opt.result.fun == pytest.approx(0.1, rel=0.02)
    assert opt.result.success
    assert set(opt.stop()) <= {"budget", "converged"}


@pytest.mark.tier("runs")
def test_the_realised_inputs_are_worth_something():
    """Ten seeds each, 1000 evaluations: with x the regret is far below that without.

    Without x it is an ordinary strategy on noisy values.
    """
    with_x = [
        sphere(drive(optimizer(seed=s, budget=1000), np.random.default_rng(s)).x) for s in range(10)
    ]
    without = [
        sphere(drive(optimizer(seed=s, budget=1000), np.random.default_rng(s), lambda x: None).x)
        for s in range(10)
    ]
    assert np.median(with_x) < 0.2 * np.median(without)
    assert np.median(without) < 0.1, "and without it still works"


def test_half_measured_inputs_are_worth_something_too():
    def second_half_only(x):
        return np.where(np.arange(D) < 2, np.nan, x)

    result = drive(optimizer(), measure=second_half_only)
    assert sphere(result.x) < 0.02
    assert result.fun == pytest.approx(0.04, rel=0.3)


def test_bias_and_gain_are_taken_out():
    gain = np.diag([2.0, 1.0, 0.5, 1.0]) + np.triu(np.full((D, D), 0.3), 1)  # not symmetric
    bias = np.array([0.3, 0.0, -0.2, 0.0])
    opt = optimizer(noise=inputs.GaussianNoise(0.1, bias=bias, gain=gain))
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = opt.ask()
        x = theta @ gain.T + bias + 0.1 * rng.standard_normal(theta.shape)
        opt.tell(theta, sphere(x), realised=x)
    np.testing.assert_allclose(gain @ opt.result.x + bias, CENTRE, atol=1e-3)


def test_maximize_is_minimize_of_the_negative():
    low, high = optimizer(budget=600), optimizer(budget=600, maximize=True)
    rng = np.random.default_rng(0)
    while not low.stop():
        theta = low.ask()
        np.testing.assert_array_equal(theta, high.ask())
        x, f = lab(rng, theta)
        low.tell(theta, f, realised=x)
        high.tell(theta, -f, realised=x)
    assert high.result.fun == -low.result.fun
    np.testing.assert_array_equal(high.result.x, low.result.x)
    np.testing.assert_array_equal(high.result.history["fun"], -low.result.history["fun"])


def test_values_in_parts_are_the_same_as_at_once():
    whole, parts = optimizer(popsize=12), optimizer(popsize=12)
    rng = np.random.default_rng(0)
    for _ in range(15):
        theta = whole.ask()
        np.testing.assert_array_equal(theta, parts.ask())
        x, f = lab(rng, theta)
        whole.tell(theta, f, realised=x)
        for rows in (slice(0, 5), slice(5, 6), slice(6, 12)):
            parts.tell(theta[rows], f[rows], realised=x[rows])
    np.testing.assert_array_equal(whole.mean, parts.mean)
    assert whole.nfev == parts.nfev == 180


def test_values_in_any_order():
    """Three generations under way at a time, their values mixed up."""
    opt = optimizer(popsize=12)
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = rng.permutation(np.concatenate([opt.ask() for _ in range(3)]))
        for part in np.array_split(theta, 5):
            x, f = lab(rng, part)
            opt.tell(part, f, realised=x)
    assert sphere(opt.result.x) < 1e-3


def test_a_lab_that_is_late_and_loses_samples():
    """Two generations are always under way, one in ten never comes back."""
    opt = optimizer(popsize=10)
    rng, under_way = np.random.default_rng(0), []
    while not opt.stop():
        under_way.append(opt.ask())
        if len(under_way) < 3:
            continue
        theta = under_way.pop(0)
        theta = theta[rng.random(len(theta)) > 0.1]
        x, f = lab(rng, theta)
        opt.tell(theta, f, realised=x)
    assert sphere(opt.result.x) < 1e-3


def test_samples_nobody_asked_for_are_data():
    """A notebook of old trials around the optimum, told when the search has just begun, is worth
    generations: over ten seeds the model of f is there at once."""
    rng, plain, helped = np.random.default_rng(0), [], []
    for seed in range(10):
        for injects, regrets in ((False, plain), (True, helped)):
            opt = optimizer(seed=seed, popsize=10, x0=CENTRE + 0.5)
            for generation in range(4):
                theta = opt.ask()
                x, f = lab(np.random.default_rng([seed, generation]), theta)
                opt.tell(theta, f, realised=x)
                if injects and generation == 1:
                    old = CENTRE + 0.3 * rng.standard_normal((40, D))
                    x, f = lab(rng, old)
                    opt.tell(old, f, realised=x)
            regrets.append(sphere(opt.mean))
    assert np.median(helped) < 0.5 * np.median(plain)


def test_replays_of_one_theta():
    opt = optimizer(popsize=4)
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = np.repeat(opt.ask(4), 3, axis=0)
        x, f = lab(rng, theta)
        opt.tell(theta, f, realised=x)
    assert sphere(opt.result.x) < 1e-3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_none(bad):
    """A fifth of the evaluations fail, by chance or where x is large; the rest carry on."""
    opt = optimizer()
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = opt.ask()
        x, f = lab(rng, theta)
        f[rng.random(f.size) < 0.2] = bad
        opt.tell(theta, f, realised=x)
    assert sphere(opt.result.x) < 1e-3
    assert np.isfinite(opt.result.fun)
    assert opt.result.failed > 0.1 * opt.nfev


def test_an_experiment_that_only_fails_is_given_up():
    opt = optimizer(budget=10**6)
    while not opt.stop():
        theta = opt.ask()
        opt.tell(theta, np.full(len(theta), np.nan))
    assert set(opt.stop()) == {"failing"}
    assert not opt.result.success
    np.testing.assert_array_equal(opt.result.x, np.zeros(D))


def test_noise_is_learnt():
    opt = optimizer(noise="learn")
    rng = np.random.default_rng(0)
    std, bias = np.array([0.05, 0.1, 0.2, 0.4]), np.array([0.0, 0.3, 0.0, 0.0])
    while not opt.stop():
        theta = opt.ask()
        x = theta + bias + std * rng.standard_normal(theta.shape)
        opt.tell(theta, sphere(x), realised=x)
    learnt = opt.noise
    assert learnt.structure == "diagonal"
    np.testing.assert_allclose(learnt.std, std, rtol=0.1)
    np.testing.assert_allclose(opt.result.x, CENTRE - bias, atol=0.02)
    assert opt.result.fun == pytest.approx(np.sum(std**2), rel=0.1)
    assert "diagonal noise" in str(opt.result)


def test_declared_noise_that_does_not_fit_warns_once():
    opt = optimizer(noise=0.02)
    with pytest.warns(
        NoiseWarning, match=r"standard deviation 0\.(09|1).* declared 0\.02"
    ) as caught:
        drive(opt)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # where tell was called, not where phenes warns


def test_bounds_hold_for_theta_but_not_for_x():
    """The optimum lies outside in two coordinates; the best point is on the box."""
    lower, upper = np.full(D, -1.0), np.full(D, 0.8)
    opt = optimizer(bounds=(lower, upper))
    rng = np.random.default_rng(0)
    outside = False
    while not opt.stop():
        theta = opt.ask()
        assert np.all((theta >= lower) & (theta <= upper))
        x, f = lab(rng, theta)
        outside |= bool(np.any(x > upper))
        opt.tell(theta, f, realised=x)
    assert outside
    np.testing.assert_allclose(opt.result.x, np.clip(CENTRE, lower, upper), atol=0.02)


def test_a_target_is_reached_with_confidence():
    opt = optimizer(target=0.06)  # E f at the optimum is 0.04
    result = drive(opt)
    assert "target" in opt.stop()
    assert sphere(result.x) + 0.04 < 0.06


def test_noise_alone_does_not_stop_the_search():
    """f is pure noise: no generation is better than the last, and only the budget or an honest
    statement of convergence ends it.
    """
    opt = optimizer(noise=0.0, budget=1500)
    rng = np.random.default_rng(0)
    while not opt.stop():
        theta = opt.ask()
        opt.tell(theta, rng.standard_normal(len(theta)), realised=theta)
    assert abs(opt.result.fun) < 4 * opt.result.fun_se + 0.05
    assert np.all(np.isfinite(opt.result.x))


def test_pickled_in_the_middle_it_goes_on_bit_for_bit():
    opt = optimizer(popsize=10)
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta = opt.ask()
        x, f = lab(rng, theta)
        opt.tell(theta[:7], f[:7], realised=x[:7])
    copy = pickle.loads(pickle.dumps(opt))
    for _ in range(60):
        theta = opt.ask()
        np.testing.assert_array_equal(theta, copy.ask())
        x, f = lab(rng, theta)
        for one in (opt, copy):
            one.tell(theta, f, realised=x)
    np.testing.assert_array_equal(opt.result.x, copy.result.x)
    assert opt.result.fun == copy.result.fun


PICKLED = {
    "noise": {"noise": 0.1},
    "exact": {"noise": 0.0},
    "draws": {"noise": inputs.LaplaceNoise(0.07)},
    "risk": {"noise": 0.1, "objective": phenes.risk.cvar(0.9)},
    "constraints": {"noise": 0.1, "constraints": phenes.chance(0.9)},
    "gp": {"noise": inputs.LaplaceNoise(0.07), "engine": "gp"},
    "relay": {"noise": 0.1, "engine": "relay"},
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.tier("runs") if kind in ("gp", "relay") else ())
        for kind in PICKLED
    ],
)
def test_pickled_while_the_answer_is_verified_it_goes_on_bit_for_bit(kind):
    """No part of a run may be a function of a function, which cannot be pickled."""
    opt = phenes.Optimizer(np.zeros(2), 0.5, budget=24, batch=4, **PICKLED[kind])
    rng, copy = np.random.default_rng(0), None
    while not opt.stop():
        theta = opt.ask()
        if copy is not None:
            np.testing.assert_array_equal(theta, copy.ask())
        x = theta + (0.0 if kind == "exact" else 0.1) * rng.standard_normal(theta.shape)
        held = {"constraints": {"a": x[:, 0] - 0.8}} if kind == "constraints" else {}
        for one in (opt, copy) if copy is not None else (opt,):
            one.tell(theta, np.sum((x - 1) ** 2, axis=1), x, **held)
        if copy is None and opt.nfev >= 16:
            opt.ask(4)  # the verification begins, where there is noise
            copy = pickle.loads(pickle.dumps(opt))
    assert kind == "exact" or opt.evaluations.phase[-1] == "verify"
    assert opt.result.fun == copy.result.fun


def test_nothing_told_yet():
    result = optimizer().result
    assert not result.success
    assert result.message == "nothing has been told yet"
    np.testing.assert_array_equal(result.x, np.zeros(D))


events = st.lists(
    st.tuples(
        st.sampled_from(["ask", "tell", "inject", "fail", "blind", "partial"]), st.integers(1, 9)
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(
    events=events,
    dim=st.integers(1, 4),
    seed=st.integers(0, 1000),
    std=st.sampled_from([0.0, 0.01, 1.0]),
)
@example(  # at the noise floor, then nothing is measured any more
    events=[("ask", 1), ("tell", 1), ("tell", 1), ("inject", 2), ("ask", 3), ("blind", 4)],
    dim=1,
    seed=0,
    std=1.0,
)
def test_any_order_of_calls(events, dim, seed, std):
    """Whatever comes in whatever order: theta finite and of the right shape, every evaluation
    counted, the answer finite.
    """
    opt = phenes.Optimizer(
        x0=np.zeros(dim), sigma0=1.0, noise=std, popsize=4, budget=10_000, seed=seed
    )
    rng, asked, told = np.random.default_rng(seed), [np.zeros((1, dim))], 0
    for kind, n in events:
        if kind == "ask":
            theta = opt.ask(n + 1)
            assert theta.shape == (n + 1, dim)
            assert np.all(np.isfinite(theta))
            asked.append(theta)
            continue
        theta = (
            asked[rng.integers(len(asked))][:n]
            if kind != "inject"
            else 3 * rng.standard_normal((n, dim))
        )
        x = theta + std * rng.standard_normal(theta.shape)
        f = np.full(len(x), np.nan) if kind == "fail" else np.sum(x**2, axis=1)
        if kind == "partial":
            x[rng.random(x.shape) < 0.5] = np.nan
        opt.tell(theta, f, realised=None if kind == "blind" else x)
        told += len(f)
    assert opt.nfev == told
    assert np.all(np.isfinite(opt.result.x))
    assert np.all(np.isfinite(opt.ask()))


@pytest.mark.tier("runs")
def test_declared_noise_that_is_not_measured_keeps_the_search_at_its_scale():
    """Only values are told; without that scale the search widens to the ends of the box.

    Median regret 1.35 then.
    """
    problem = next(problem for problem in ROBUST if problem.name == "Hartmann 3")
    low, high = problem.bounds.T
    regrets = []
    for seed in range(9):
        rng = np.random.default_rng([0, seed])
        opt = phenes.Optimizer(
            rng.uniform(low, high),
            0.25,
            problem.sigma,
            bounds=problem.bounds,
            budget=5000,
            seed=seed,
        )
        while not opt.stop():
            theta = opt.ask()
            opt.tell(
                theta, problem.minimised(theta + problem.sigma * rng.standard_normal(theta.shape))
            )
        regrets.append(problem.regret(opt.mean))
    assert np.median(regrets) < 0.3, regrets
    assert np.sum(np.array(regrets) > 0.5) <= 2, regrets


def test_popsize_says_how_many_are_asked():
    opt = optimizer()
    before = optimizer().ask()
    assert opt.popsize == len(before)
    np.testing.assert_array_equal(opt.ask(), before)  # looking at it costs no random numbers
    assert optimizer(popsize=7).popsize == 7


def test_batches_are_counted_also_where_the_search_is_not_updated():
    """By `batches` the draws of x differ, also of those told between two updates."""
    opt = optimizer(popsize=10)
    theta = opt.ask()
    opt.tell(theta[:4], sphere(theta[:4]), realised=theta[:4])
    assert (opt.batches, opt.generation, opt.nfev) == (1, 0, 4)
    opt.tell(theta[4:], sphere(theta[4:]), realised=theta[4:])
    assert (opt.batches, opt.generation, opt.nfev) == (2, 1, 10)
