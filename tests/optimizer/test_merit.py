"""What a search minimises in place of f: it follows the law of f, and nothing told is lost."""

import numpy as np

from phenes import risk
from phenes.adaptive import Adaptive
from phenes.evidence.law import gaussian_law
from phenes.evidence.observations import Observations
from phenes.optimizer.merit import Merit


def observed(centre, n, seed=0):
    """Rows drawn at one theta, with f = |x|^2."""
    seen, rng = Observations(2), np.random.default_rng(seed)
    theta = np.tile(centre, (n, 1))
    x = theta + 0.1 * rng.standard_normal((n, 2))
    seen.add(theta, x, x, np.sum(x**2, axis=1))
    return seen, gaussian_law(centre, np.zeros(2), np.full(2, 0.01), scale=np.ones(2))


def test_the_mean_leaves_values_alone():
    merit = Merit(risk.mean())
    seen, law = observed(np.ones(2), 50)
    assert merit.plain
    assert not merit.update(seen, law)
    assert np.array_equal(merit.values(seen.f), seen.f)


def test_the_threshold_is_that_of_the_law_where_the_search_is():
    merit = Merit(risk.cvar(0.9))
    seen, law = observed(np.ones(2), 400)
    assert merit.update(seen, law)
    assert abs(merit.values(seen.f).mean() - merit.risk.value(seen.f)) < 1e-9
    order = np.argsort(seen.f)
    assert np.all(np.diff(merit.values(seen.f[order])) > 0)  # values keep their order
    assert not merit.update(seen, law)  # nothing new


def test_failures_stay_failures():
    merit = Merit(risk.probability_below(1.0))
    seen, law = observed(np.ones(2), 60)
    merit.update(seen, law)
    assert np.isnan(merit.values(np.array([np.nan]))).all()


def test_a_merit_that_moves_gives_every_row_its_new_value():
    factor = [1.0]
    search = Adaptive(
        np.ones(2),
        np.ones(2),
        np.zeros(2),
        rng=np.random.default_rng(0),
        merit=lambda f: factor[0] * f,
    )
    told = []
    for _ in range(5):
        theta = search.ask()
        f = np.sum(theta**2, axis=1)
        f[0] = np.nan
        told.append(f)
        search.tell(theta, theta, f)
    factor[0] = -3.0
    search.revalue()
    f = np.concatenate(told)
    assert np.array_equal(search.incumbent.state.archive.raw(f.size), -3.0 * f, equal_nan=True)


def test_rows_of_more_than_one_number_can_be_told():
    search = Adaptive(
        np.ones(2),
        np.ones(2),
        np.zeros(2),
        rng=np.random.default_rng(0),
        merit=lambda rows: rows[:, 0] + np.maximum(rows[:, 1], 0.0),
    )
    plain = Adaptive(np.ones(2), np.ones(2), np.zeros(2), rng=np.random.default_rng(0))
    for _ in range(10):
        theta, same = search.ask(), plain.ask()
        assert np.array_equal(theta, same)
        value, limit = np.sum(theta**2, axis=1), theta[:, 0] - 0.5
        search.tell(theta, theta, np.stack([value, limit], axis=1))
        plain.tell(same, same, value + np.maximum(limit, 0.0))
    assert search.evaluations == plain.evaluations
