"""Weights, control variate, coverage: laws, by Monte Carlo with fixed seeds and stated standard
errors.
"""

from dataclasses import replace

import numpy as np
import pytest

from phenes import risk
from phenes.evidence.control import _mean_of
from phenes.evidence.estimate import (
    Estimate,
    _reconciled,
    balance_weights,
    estimate,
    fresh_weights,
    shifted_weights,
)
from phenes.evidence.law import gaussian_law, sampled_law
from phenes.evidence.observations import Observations
from phenes.gp.cloud import Cloud
from phenes.gp.fit import choose
from phenes.gp.region import make_region
from phenes.gp.surrogate import Surrogate

STD = 0.3


def quartic(x):
    return np.sum(x**2 + 0.3 * x**4 + 0.5 * x, axis=1)


def truth(theta):
    """E quartic under N(theta, STD^2)."""
    v = STD**2
    return float(
        np.sum(theta**2 + v + 0.3 * (theta**4 + 6 * theta**2 * v + 3 * v**2) + 0.5 * theta)
    )


def seen_by(rng, d, n, fresh, f=quartic, spread=0.6, at=None):
    """n rows of a search around 0, and `fresh` draws at `at`."""
    theta = spread * rng.standard_normal((n, d))
    at = np.zeros(d) if at is None else at
    theta = np.concatenate([theta, np.tile(at, (fresh, 1))])
    x = theta + STD * rng.standard_normal(theta.shape)
    seen = Observations(d)
    seen.add(theta, x, x, f(x))
    return seen


def law_at(theta, rests_on=np.inf):
    return gaussian_law(
        theta,
        np.zeros(theta.size),
        np.full(theta.size, STD**2),
        rests_on,
        scale=np.ones(theta.size),
    )


@pytest.mark.parametrize("fresh", [0, 5])
def test_balance_weights_sum_to_one_in_expectation(fresh):
    rng = np.random.default_rng(0)
    law = law_at(np.full(2, 0.2))
    totals = [
        balance_weights(seen_by(rng, 2, 200, fresh, at=law.theta), law).sum() for _ in range(300)
    ]
    se = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - 1) < 4 * se
    assert se < 0.02


def test_weights_of_draws_elsewhere_recover_the_mean():
    """No draw was made at theta: the weighted mean of the others is E f there."""
    rng, law = np.random.default_rng(1), law_at(np.array([0.3, -0.2]))
    found = []
    for _ in range(300):
        seen = seen_by(rng, 2, 300, 0)
        found.append(float(balance_weights(seen, law) @ seen.f))  # not normalised: exactly unbiased
    assert abs(np.mean(found) - truth(law.theta)) < 4 * np.std(found) / np.sqrt(len(found))


def test_weights_of_draws_beside_theta_recover_the_mean():
    """E[w] = 1 and E[w f] = E f at theta, of the draws at the other place alone."""
    drawn, bias = np.array([0.3, -0.1]), np.array([0.05, 0.2])
    theta = drawn + STD * np.array([0.5, -0.6])
    law = gaussian_law(theta, bias, np.full(2, STD**2), scale=np.ones(2))
    seen = seen_by(np.random.default_rng(3), 2, 50, 0)
    x = drawn + bias + STD * np.random.default_rng(4).standard_normal((40_000, 2))
    seen.add(np.tile(drawn, (len(x), 1)), x, x, quartic(x))
    weights = shifted_weights(seen, law, drawn)
    assert not weights[:50].any()
    own = weights[50:]
    for values, expected in ((own, 1.0), (own * quartic(x), truth(theta + bias))):
        assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(len(x))
    np.testing.assert_allclose(shifted_weights(seen, law_at(drawn), drawn)[50:], 1.0)


def test_rows_that_are_nowhere_near_what_was_intended_have_no_weights():
    """At a stop x is where it is, however far beyond that one aims: ratios of densities overflow.

    Their sum is not near its expectation, so that only draws at theta itself count.
    """
    seen, stop = Observations(1), np.zeros((5, 1))
    seen.add(np.linspace(40.0, 50.0, 5)[:, None], stop, stop, np.ones(5))
    law = gaussian_law(np.zeros(1), np.zeros(1), np.full(1, 0.01), np.inf, scale=np.ones(1))
    assert not balance_weights(seen, law).any()


def test_draws_at_theta_bound_the_weights():
    rng, law = np.random.default_rng(2), law_at(np.full(30, 5.0))
    seen = seen_by(rng, 30, 200, 10, at=law.theta)
    weights = balance_weights(seen, law)
    assert weights.max() <= 0.1 + 1e-12
    np.testing.assert_allclose(weights[seen.at(law.theta)], 0.1)
    # far from all that was intended, nothing is claimed
    assert not balance_weights(seen_by(rng, 30, 200, 0), law).any()


@pytest.mark.parametrize("dim", [1, 3])
def test_the_control_variate_is_unbiased_and_narrower(dim):
    rng, theta = np.random.default_rng(3), np.full(dim, 0.1)
    law = law_at(theta)
    with_it, without = [], []
    for _ in range(400):
        seen = seen_by(rng, dim, 60, 12, at=theta)
        weights = fresh_weights(seen, law)
        with_it.append(estimate(seen, law, 10.0, weights))
        without.append(estimate(seen, law, 10.0, weights, control=False))
    for many in (with_it, without):
        fun = np.array([each.fun for each in many])
        assert abs(fun.mean() - truth(theta)) < 4 * fun.std() / np.sqrt(len(fun))
    assert np.median([each.se for each in with_it]) < 0.7 * np.median([each.se for each in without])


@pytest.mark.parametrize("control", [True, False])
@pytest.mark.parametrize("fresh", [6, 20])
def test_two_standard_errors_cover(fresh, control):
    """Also with few draws: 95 % of 300 is 285 +- 3.8; the term for what was not seen makes it
    more.
    """
    rng, theta = np.random.default_rng(4), np.full(2, 0.1)
    law = law_at(theta)
    covered = 0
    for _ in range(300):
        seen = seen_by(rng, 2, 40, fresh, at=theta)
        found = estimate(seen, law, 10.0, fresh_weights(seen, law), control)
        covered += abs(found.fun - truth(theta)) <= 2 * found.se
    assert covered >= 0.95 * 300 - 3 * 3.8


def test_a_jump_that_no_draw_met_is_covered():
    """Scrap with a probability of 7 %, which most samples of ten do not contain: rows of the search
    have seen it.
    """
    edge = 1.5 * STD

    def scrap(x):
        return np.where(x[:, 0] > edge, 5.0, np.sum(x**2, axis=1))

    sample = np.random.default_rng(0).standard_normal((2_000_000, 2)) * STD
    true = scrap(sample).mean()
    rng, law = np.random.default_rng(5), law_at(np.zeros(2))
    covered = silent = 0
    for _ in range(200):
        seen = seen_by(rng, 2, 40, 10, scrap)
        found = estimate(seen, law, 10.0, fresh_weights(seen, law))
        silent += not (seen.f[seen.at(law.theta)] == 5.0).any()
        covered += abs(found.fun - true) <= 2 * found.se
    assert silent > 60
    assert covered >= 0.95 * 200 - 3 * 3.1


def bowl(x):
    return np.sum(x**2, axis=1)


def met_far_away(f, far):
    """Eight draws and a search at 0, and rows `far` away, beyond the horizon of the draws."""
    rng = np.random.default_rng(3)
    seen = seen_by(rng, 1, 12, 8, f, spread=0.1)
    x = np.full((2, 1), -far) + np.array([[0.0], [-0.2]])
    seen.add(x, x, x, f(x))
    law = law_at(np.zeros(1))
    return estimate(seen, law, 0.0, fresh_weights(seen, law))


@pytest.mark.parametrize("penalty", [lambda x: 40.0, lambda x: 40.0 - 7.1 * x[:, 0]])
def test_a_cliff_that_was_met_far_away_may_begin_near(penalty):
    """What is exact nearby and wrong twelve standard deviations away changes on the way. Whether
    the penalty is a constant, which no model is needed for to notice, or not.
    """

    def f(x):
        return np.where(x[:, 0] > -0.75, bowl(x), penalty(x))

    known, plain = met_far_away(f, 12 * STD), met_far_away(bowl, 12 * STD)
    share = 0.0062  # of the draws, beyond 0.75
    assert abs(known.fun - (STD**2 + share * 40)) < 2 * known.se
    assert known.se < 2
    # answers are compared as before, and what is smooth is known as before
    assert known.unseen < 1e-6
    assert plain.se < 1e-8


@pytest.mark.parametrize(
    "f",
    [
        lambda x: bowl(x) + 0.01 * np.sum(x**4, axis=1),
        lambda x: np.sum(np.cosh(4 * x), axis=1),
    ],
)
def test_smooth_growth_far_away_is_no_cliff(f):
    """What a quadratic misses of other functions grows with the distance: no surprise."""
    near, far = met_far_away(f, 1.5), met_far_away(f, 12 * STD)
    assert far.se < 2 * near.se


def test_equal_draws_are_no_certainty():
    """Ten that pass beside one that failed nearby: not 0 +- 0."""
    seen = Observations(1)
    theta = np.r_[np.zeros(10), 1.0][:, None]
    x = np.r_[np.linspace(-0.3, 0.3, 10), 1.0][:, None]
    seen.add(theta, x, x, np.r_[-np.ones(10), 0.0])
    found = estimate(seen, law_at(np.zeros(1)), 0.0, fresh_weights(seen, law_at(np.zeros(1))))
    assert found.fun == -1
    assert 2 * found.se >= 3 / 10  # rule of three


def test_failures_count_and_are_doubted():
    rng, law = np.random.default_rng(6), law_at(np.zeros(2))
    seen = seen_by(rng, 2, 30, 0)
    x = STD * rng.standard_normal((20, 2))
    f = quartic(x)
    f[:5] = np.nan
    seen.add(np.zeros((20, 2)), x, x, f)
    found = estimate(seen, law, 10.0, fresh_weights(seen, law), control=False)
    assert (found.draws, found.failed, found.share) == (20, 5, 0.25)
    np.testing.assert_allclose(found.fun, (np.nansum(f) + 5 * 10.0) / 20)
    assert 2 * found.se >= found.fun - np.nanmean(f)  # the mean without them is within the interval
    assert found.unseen > 0.2


def test_a_law_that_is_known_by_draws_only():
    """The error of its moments is part of the standard error; the claim is unbiased whatever the
    shape of the law.
    """
    rng = np.random.default_rng(7)

    def noise(n):
        return rng.exponential(STD, (n, 2)) - STD

    def f(x):
        return np.sum(x**2, axis=1)

    found = []
    for _ in range(150):
        theta = np.concatenate([0.5 * rng.standard_normal((40, 2)), np.zeros((10, 2))])
        x = theta + noise(50)
        seen = Observations(2)
        seen.add(theta, x, x, f(x))
        law = sampled_law(np.zeros(2), noise(1000), np.ones(2))
        found.append(estimate(seen, law, 10.0, fresh_weights(seen, law)))
    true = 2 * STD**2
    assert np.mean([abs(each.fun - true) <= 2 * each.se for each in found]) > 0.9
    fun = np.array([each.fun for each in found])
    assert abs(fun.mean() - true) < 4 * fun.std() / np.sqrt(len(fun))
    assert np.median([each.se for each in found]) > 0.5 * np.std(fun)


def test_learnt_moments_are_doubted():
    rng, theta = np.random.default_rng(8), np.zeros(2)
    seen = seen_by(rng, 2, 60, 20, lambda x: np.sum(x**2, axis=1))
    sure, learnt = (
        estimate(seen, law_at(theta, n), 10.0, fresh_weights(seen, law_at(theta)))
        for n in (np.inf, 50)
    )
    assert sure.se < 1e-6
    # E f = tr C, whose standard error by 50 residuals is sqrt(2 d / 50) C
    np.testing.assert_allclose(learnt.se, np.sqrt(2 * 2 / 50) * STD**2, rtol=0.15)


def test_nothing_is_claimed_beyond_what_was_seen():
    """A model that leaves the range of all values is refused."""
    rng, law = np.random.default_rng(9), law_at(np.full(3, 0.1))
    for _ in range(50):
        seen = seen_by(rng, 3, 14, 2, at=law.theta)
        found = estimate(seen, law, 5.0, fresh_weights(seen, law))
        assert seen.lowest <= found.fun <= max(seen.highest, 5.0)


def test_no_draws_no_claim():
    seen = seen_by(np.random.default_rng(0), 2, 10, 0)
    law = law_at(np.zeros(2))
    found = estimate(seen, law, 1.0, fresh_weights(seen, law))
    assert np.isnan(found.fun)
    assert found.se == np.inf


def test_one_draw_and_a_hundredth_show_no_scatter():
    """The mean is made of the first draw, however far off the other one is.

    What the first differs by from the mean is next to nothing, and so was the error, by which an
    answer beat a start that was better.
    """
    law, seen = law_at(np.zeros(2)), Observations(2)
    rows = np.array([[0.0, 0.0], [1.2, 0.0]])
    seen.add(rows, rows, rows, np.array([1.0, 3.0]))

    def error(share):
        return estimate(seen, law, 3.0, np.array([1 - share, share]), control=False).error

    assert error(0.0) == np.inf
    for share in (0.003, 0.05, 0.2):
        assert error(0.5) <= error(share) < 2 * error(0.5)


class TestSurrogate:
    """The model of a search as a control variate."""

    @staticmethod
    def wavy(x):
        """No quadratic explains it, a Gaussian process does."""
        return np.sum(np.sin(3 * x) + 0.2 * x**2, axis=1)

    @staticmethod
    def expected(theta):
        v = STD**2
        return float(np.sum(np.exp(-4.5 * v) * np.sin(3 * theta) + 0.2 * (theta**2 + v)))

    @staticmethod
    def model(seen):
        fitted = choose(Cloud((seen.point + 3) / 6), seen.f, None, 30)
        low, high = np.full(2, -3.0), np.full(2, 3.0)
        return Surrogate(fitted, make_region(np.zeros(2), np.full(2, 3.0), low, high))

    @pytest.mark.tier("runs")
    def test_claims_are_covered_and_narrower(self):
        """60 runs of 50 rows and 6 draws: 2 se cover E f, and are a third of what they were."""
        rng, law = np.random.default_rng(3), law_at(np.array([0.4, -0.3]))
        z, ratio, kinds = [], [], []
        for _ in range(60):
            seen = seen_by(rng, 2, 50, 6, self.wavy, 0.8, law.theta)
            weights = fresh_weights(seen, law)
            plain = estimate(seen, law, 5.0, weights)
            known = estimate(seen, law, 5.0, weights, surrogate=self.model(seen))
            z.append((known.fun - self.expected(law.theta)) / known.se)
            ratio.append(known.se / plain.se)
            kinds.append(known.control)
        assert kinds.count("process") > 50
        assert np.mean(np.abs(z) > 2) <= 0.1
        assert np.median(ratio) < 1 / 3

    @pytest.mark.tier("runs")
    def test_a_jump_is_not_explained_away(self):
        """Near a step that half of the draws cross the interval stays as wide as theirs."""
        rng, law = np.random.default_rng(4), law_at(np.zeros(2))
        off = []
        for _ in range(40):
            seen = seen_by(rng, 2, 40, 6, lambda x: np.where(x[:, 0] > 0.15, 1.0, 0.0), 0.8)
            known = estimate(seen, law, 2.0, fresh_weights(seen, law), surrogate=self.model(seen))
            truth = 1 - 0.6914624612740131  # P(0.3 z > 0.15)
            off.append(abs(known.fun - truth) / known.se)
        assert np.mean(np.array(off) > 2) <= 0.1

    @pytest.mark.parametrize("failed", [True, False], ids=["failures", "values"])
    def test_surprises_beside_the_model_count(self, failed):
        """Rows beyond a wall, which no draw has met: whether they fail or have another value."""
        law = law_at(np.zeros(2))
        rng = np.random.default_rng(5)
        rows = seen_by(rng, 2, 90, 0, self.wavy, 0.2)
        theta = np.concatenate([rows.theta, np.tile(law.theta, (6, 1)), [[0.7, 0.0]] * 4])
        x = np.concatenate([rows.point, 0.1 * rng.standard_normal((6, 2)), [[0.75, 0.0]] * 4])
        x[-4:] += 0.01 * rng.standard_normal((4, 2))
        values = self.wavy(x)
        without = Observations(2)
        without.add(theta[:-4], x[:-4], x[:-4], values[:-4])
        model = self.model(without)
        values[-4:] = np.nan if failed else 9.0
        seen = Observations(2)
        seen.add(theta, x, x, values)
        seen.compare_failures(theta[-1])  # failures have a place
        claims = [
            estimate(each, law, 9.0, fresh_weights(each, law), surrogate=model)
            for each in (without, seen)
        ]
        assert claims[0].control == "process"
        assert claims[1].se > 5 * claims[0].se
        assert claims[1].unseen > 0.1


class TestLocalModel:
    """A quadratic of the search, made before the draws, in 40 coordinates."""

    DIM = 40

    @staticmethod
    def quadratic(x):
        """Turned, with a slope and a level."""
        turn = np.random.default_rng(0).standard_normal((x.shape[1], 6))
        return 3.0 + x @ np.linspace(-1, 1, x.shape[1]) + np.sum((x @ turn) ** 2, axis=1)

    def expected(self, theta, cov):
        turn = np.random.default_rng(0).standard_normal((theta.size, 6))
        return float(self.quadratic(theta[None])[0] + np.trace(turn.T @ cov @ turn))

    @pytest.mark.parametrize("kind", ["variances", "covariance", "one exact"])
    def test_its_mean_is_that_of_the_trace(self, kind):
        rng = np.random.default_rng(1)
        theta, root = rng.standard_normal((2, self.DIM))
        cov = np.abs(root) + 0.1
        if kind == "one exact":
            cov[3] = 0.0
        if kind == "covariance":
            cov = np.diag(cov) + 0.1 * np.outer(root, root)
        law = gaussian_law(theta, np.zeros(self.DIM), cov, scale=np.ones(self.DIM))
        matrix = cov if cov.ndim == 2 else np.diag(cov)
        mean, doubt = _mean_of(self.quadratic, law)
        assert mean == pytest.approx(self.expected(theta, matrix), rel=1e-10)
        assert doubt == 0

    @pytest.mark.parametrize("learnt", [False, True])
    def test_of_a_law_that_is_known_by_draws_the_error_is_theirs(self, learnt):
        theta = np.zeros(self.DIM)
        x = STD * np.random.default_rng(2).standard_normal((400, self.DIM))
        law = law_at(theta, 400) if learnt else sampled_law(theta, x, np.ones(self.DIM))
        mean, doubt = _mean_of(self.quadratic, law)
        assert doubt == pytest.approx(np.std(self.quadratic(x)) / 20, rel=0.2)
        assert abs(mean - self.expected(theta, STD**2 * np.eye(self.DIM))) < 3 * doubt

    def draws(self, seed, f, n=20):
        rng = np.random.default_rng(seed)
        return seen_by(rng, self.DIM, 200, n, f, spread=0.2)

    def known(self, seed, f, model, n=20):
        seen, law = self.draws(seed, f, n), law_at(np.zeros(self.DIM))
        return estimate(seen, law, seen.price(20), fresh_weights(seen, law), local=model)

    def test_a_right_one_leaves_no_error(self):
        truth = self.expected(np.zeros(self.DIM), STD**2 * np.eye(self.DIM))
        known = self.known(3, self.quadratic, self.quadratic)
        assert known.control == "search"
        assert known.fun == pytest.approx(truth, rel=1e-10)
        assert known.se < 1e-8 < self.known(3, self.quadratic, None).se

    @pytest.mark.parametrize("wrong", [0.3, 3.0])
    def test_a_wrong_one_biases_nothing(self, wrong):
        """It may be off anywhere, level and slopes: draws that it has not seen correct it."""

        def model(x):
            return self.quadratic((1 + 0.1 * wrong) * x + wrong * 0.05) - 7

        truth = self.expected(np.zeros(self.DIM), STD**2 * np.eye(self.DIM))
        found = [self.known(seed, self.quadratic, model) for seed in range(200)]
        off = np.array([each.fun - truth for each in found])
        assert abs(off.mean()) < 3 * off.std() / np.sqrt(200)
        assert np.mean(np.abs(off) <= [2 * each.se for each in found]) >= 0.95

    def test_failures_are_not_explained(self):
        def breaks(x):
            return np.where(x[:, 0] > 0.5, np.nan, self.quadratic(x))

        known, plain = (self.known(5, breaks, each, 60) for each in (self.quadratic, None))
        assert known.failed == plain.failed > 0
        assert known.se > 0.3 * plain.se

    def test_where_the_rows_have_a_quadratic_of_their_own_it_is_not_asked(self):
        seen, law = seen_by(np.random.default_rng(0), 3, 100, 20), law_at(np.zeros(3))
        estimate(seen, law, 9.0, fresh_weights(seen, law), local=lambda x: 1 / 0)


def test_no_draw_is_hoped_for_that_is_better_than_all_that_were_made():
    """A quadratic misses a wall by far on both sides; f itself is never below zero."""
    rng = np.random.default_rng(6)
    at = np.full(2, 0.8)

    def wall(x):
        return np.sum(x**2, axis=1) + np.exp(12 * x[:, 0])

    found = []
    for _ in range(20):
        seen = seen_by(rng, 2, 60, 5, f=wall, at=at)
        known = estimate(seen, law_at(at), seen.price(10), fresh_weights(seen, law_at(at)))
        assert known.effective * known.hoped <= known.fun - seen.lowest + 1e-9 * known.fun
        found.append(known.control != "none" and known.hoped > 0)
    assert any(found)


class TestRisks:
    """What draws and a model say of a risk, where the draws show too little."""

    @staticmethod
    def claimed(f, each):
        """From 40 rows around, and 6 draws within half a standard deviation."""
        rng, law = np.random.default_rng(5), law_at(np.zeros(2))
        theta = 0.8 * rng.standard_normal((40, 2))
        x = np.concatenate(
            [theta + STD * rng.standard_normal((40, 2)), 0.1 * rng.uniform(-1, 1, (6, 2))]
        )
        seen = Observations(2)
        seen.add(np.concatenate([theta, np.zeros((6, 2))]), x, x, f(x))
        model = TestSurrogate.model(seen)
        weights = fresh_weights(seen, law)
        return estimate(seen, law, 5.0, weights, surrogate=model, risk=each)

    def test_draws_that_are_all_equal_show_no_spread(self):
        """f is flat in the middle: the model knows of the rest, the draws do not."""
        found = self.claimed(
            lambda x: np.maximum(np.linalg.norm(x, axis=1) - 0.4, 0.0), risk.mean_plus_std(2)
        )
        assert found.control == "process"
        assert found.fun > 0.1

    def test_a_quantile_of_steps_has_no_model(self):
        found = self.claimed(lambda x: np.floor(2 * np.linalg.norm(x, axis=1)), risk.quantile(0.9))
        assert found.control == "none"
        assert np.isinf(found.se)

    def test_what_contradicts_is_within_the_interval(self):
        """A model that is sure of 3, and draws that are sure of 1, leave both possible."""
        draws, model = (
            Estimate(np.zeros(2), fun, se, se, 0.0, 9, 9, 0, 1.0)
            for fun, se in [(1.0, 0.1), (3.0, 0.2)]
        )
        found = _reconciled(draws, [draws, model])
        assert (found.fun, found.se) == (1.0, 1.2)
        agreed = replace(model, fun=1.3)
        assert _reconciled(draws, [draws, agreed]) == draws


def test_of_x_that_have_a_value_failures_cost_nothing():
    """Two draws at theta failed: their price is in the error, unless others know what fails."""
    seen, law = (
        Observations(1),
        gaussian_law(np.zeros(1), np.zeros(1), np.ones(1), scale=np.ones(1)),
    )
    x = np.random.default_rng(0).standard_normal((12, 1))
    f = np.where(np.arange(12) < 2, np.nan, x[:, 0])
    seen.add(np.zeros((12, 1)), x, x, f)
    weights = fresh_weights(seen, law)
    priced, valued = (
        estimate(seen, law, 50.0, weights, control=False, valued=each) for each in (False, True)
    )
    assert priced.se > 5
    assert valued.fun == pytest.approx(x[2:].mean())
    assert valued.se < 1
    assert valued.failed == priced.failed == 2
