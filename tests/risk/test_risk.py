"""Risks against closed forms, their linearisations as majorants, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

import phenes
from phenes import risk

RISKS = [
    risk.mean(),
    risk.std(),
    risk.cvar(0.9),
    risk.quantile(0.95),
    risk.mean_plus_std(2.0),
    risk.probability_below(7.0),
]
# f = |x|^2 with x ~ N(m, I) in three coordinates: noncentral chi-square
LAW = stats.ncx2(3, 2.0)


def quantiles(n):
    """Values at equal steps of probability: a sample without chance."""
    return LAW.ppf((np.arange(n) + 0.5) / n)


def closed_form(each):
    if each == risk.mean():
        return LAW.mean()
    if each == risk.std():
        return LAW.std()
    if each == risk.mean_plus_std(2.0):
        return LAW.mean() + 2 * LAW.std()
    if each == risk.probability_below(7.0):
        return LAW.sf(7.0)
    if each == risk.quantile(0.95):
        return LAW.ppf(0.95)
    above = LAW.expect(lambda f: f, lb=LAW.ppf(0.9), ub=np.inf)
    return above / 0.1


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_the_risk_of_a_noncentral_chi_square(each):
    assert each.value(quantiles(20_000)) == pytest.approx(closed_form(each), rel=2e-3)


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_weights_count_like_repeated_values(each):
    f, times = np.array([3.0, 1.0, 8.0, 5.0]), np.array([1, 4, 2, 3])
    assert each.value(f, times / 7.0) == pytest.approx(each.value(np.repeat(f, times)), abs=1e-12)


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_the_linearisation_has_the_risk_as_its_mean(each):
    f = quantiles(1000)
    assert each.reference(f, smooth=False).values(f).mean() == pytest.approx(each.value(f))


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_the_linearisation_is_of_first_order(each):
    """d/de of the risk of (1 - e) P + e Q is E_Q g - E_P g: the influence function.

    Of what a search follows, which is smooth. The 2,000 values leave steps of 1 / 2000.
    """
    f, g = quantiles(2000), each.reference(quantiles(2000)).values
    other = f + 0.3
    smooth = lambda values, w: each.reference(values, w).values(values) @ w / w.sum()  # noqa: E731
    e = 0.02
    both = np.concatenate([f, other])
    w = np.concatenate([np.full(f.size, 1 - e), np.full(f.size, e)])
    moved = (smooth(both, w) - smooth(f, np.ones(f.size))) / e
    assert moved == pytest.approx(g(other).mean() - g(f).mean(), rel=0.06, abs=1e-3)


@pytest.mark.parametrize("each", [risk.cvar(0.9), risk.std(), risk.mean_plus_std(2.0)], ids=str)
def test_the_linearisation_of_these_is_a_majorant(each):
    g = each.reference(quantiles(500), smooth=False).values
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 10.0):
        other = scale * rng.standard_normal(300) ** 3 + scale
        assert g(other).mean() >= each.value(other) - 1e-9


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_a_flat_law_leaves_finite_merits_of_other_values(each):
    g = each.reference(np.ones(50)).values
    assert np.isfinite(g(np.array([-1e6, 1.0, 1e6])) ** 2).all()


@pytest.mark.parametrize("each", RISKS, ids=str)
def test_the_tangent_has_the_derivatives_of_its_value(each):
    f, step = quantiles(40), 1e-6
    _, slopes = each.tangent(f)
    for k in (3, 20, 37, 38):
        up, down = f.copy(), f.copy()
        up[k] += step
        down[k] -= step
        moved = (each.tangent(up)[0] - each.tangent(down)[0]) / (2 * step)
        # the blur of a limit follows the spread of f, which the slopes leave out
        assert slopes[k] == pytest.approx(
            moved, rel=1e-5, abs=2e-3 if "below" in str(each) else 1e-8
        )


def test_tangents_of_many_samples_are_those_of_each():
    f = np.random.default_rng(1).standard_normal((3, 16))
    for each in RISKS:
        value, slopes = each.tangent(f)
        for k in range(3):
            assert value[k] == pytest.approx(each.tangent(f[k])[0])
            assert slopes[k] == pytest.approx(each.tangent(f[k])[1])


def test_intervals_hold_whatever_the_law_is():
    """95 % of 400 intervals from 80 draws cover, up to three standard errors of 400."""
    rng = np.random.default_rng(0)
    f = LAW.rvs((400, 80), random_state=rng)
    least = 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)
    for each in (risk.quantile(0.95), risk.probability_below(7.0)):
        ends = np.array([each.bounds(row) for row in f])
        inside = (ends[:, 0] <= closed_form(each)) & (closed_form(each) <= ends[:, 1])
        assert inside.mean() >= least
        assert np.isfinite(ends).all()
    assert risk.quantile(0.95).bounds(f[0, :30])[1] == np.inf  # none of 30 need be above


def test_text_and_data_are_read_back():
    for each in RISKS:
        assert risk.parse(str(each)) == each
        assert risk.from_described(each.described()) == each
    assert risk.parse(" std ") == risk.std()
    assert risk.as_risk(risk.std) == risk.std()
    assert risk.as_risk(None) == risk.as_risk(risk.mean) == risk.mean()


def test_the_other_tail():
    assert risk.quantile(0.95).label(-1) == "5 % quantile of f(x)"
    assert risk.mean_plus_std(2).label(-1) == "E f(x) - 2 std"
    assert risk.probability_below(3).minimised(-1.0) == risk.probability_below(-3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: risk.cvar(1.5), "level of a CVaR must be between 0 and 1, got 1.5"),
        (lambda: risk.quantile(0), "level of a quantile must be between 0 and 1, got 0"),
        (lambda: risk.quantile("x"), "level of a quantile must be"),
        (lambda: risk.mean_plus_std(-1), "k of mean_plus_std must not be negative, got -1"),
        (lambda: risk.probability_below(np.nan), "limit of probability_below must be"),
        (lambda: risk.as_risk("cvar"), "objective must be a risk, such as"),
        (lambda: risk.as_risk(risk.cvar), "objective needs a number"),
        (lambda: risk.parse("cvar"), "objective must be one of"),
        (lambda: risk.parse("cvar(high)"), "objective must have a number in it"),
        (lambda: risk.parse("var(0.9)"), "objective must be one of"),
        (lambda: risk.from_described({"name": "cvar", "limit": 3}), "has other parameters"),
        (
            lambda: phenes.minimize(lambda x: 1 / 0, [0.0], 1.0, 0.1, objective=0.9),
            "objective must be a risk",
        ),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_a_parabola_is_tightened_to_the_law_that_its_mean_says():
    """E f and E g(f) say variance and risk, wherever g was made."""
    rng = np.random.default_rng(0)
    f = 3.0 + 2.0 * rng.standard_normal(4000)
    for each in (risk.mean_plus_std(2.0), risk.std()):
        off = each.reference(f[:12] + 0.5)
        value = float(np.mean(off.values(f)))
        assert value > each.value(f) + 1e-3
        tight = off.tightened(float(f.mean()), value)
        assert tight is not None
        assert np.mean(tight.values(f)) == pytest.approx(each.value(f), abs=1e-9)
    assert risk.cvar(0.9).reference(f).tightened(3.0, 5.0) is None
    assert risk.mean_plus_std(0.0).reference(f).tightened(3.0, 3.0) is None


@pytest.mark.parametrize("each", [risk.std(), risk.mean_plus_std(2.0)], ids=str)
@pytest.mark.parametrize("times", [0.0, 0.01, 0.5, 1.0, 3.0, 100.0])
def test_of_a_spread_the_variance_is_what_is_linear(each, times):
    """A law that is wider by any factor has the risk that its E g(f) says, g from elsewhere."""
    f = quantiles(1000)
    reference = each.reference(f, smooth=False)
    other = f.mean() + times * (f - f.mean())
    expected = reference.values(other).mean()
    # a root of what rounding leaves of a variance of zero
    assert reference.risk_of(expected) == pytest.approx(each.value(other), abs=1e-6)


@pytest.mark.parametrize("each", [risk.mean(), risk.cvar(0.9), risk.quantile(0.9)], ids=str)
def test_other_risks_are_what_their_linearisation_says(each):
    assert each.reference(quantiles(100), smooth=False).risk_of(1.5) == 1.5
