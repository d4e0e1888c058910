"""Holes between regimes: the functions, the rule, and all from settings to report in small."""

import json

import numpy as np
import pytest
from phenes_lab import driver
from phenes_lab.bench.regimes import REGIMES
from phenes_lab.bench.regimes.functions import FUNCTIONS
from phenes_lab.bench.regimes.results import SOLVED, Cell, holes
from phenes_lab.bench.regimes.settings import RegimesSettings
from phenes_lab.bench.regimes.tables import MARK, incomplete, table


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_regret_is_that_of_the_expectation(name):
    """By antithetic draws, whose error is far below the tolerance; at the optimum it is 0."""
    function, noise = FUNCTIONS[name], 0.1
    rng = np.random.default_rng(0)
    z = noise * rng.standard_normal((40_000, 3))
    z = np.concatenate([z, -z])
    theta = np.array([0.4, -0.3, 0.2])
    difference = function.f(theta + z) - function.f(z)
    error = difference.std() / np.sqrt(len(z))
    assert abs(difference.mean() - function.regret(theta, noise)) < 4 * error
    assert function.regret(np.zeros(3), noise) == 0
    starts = rng.uniform(-1, 1, (200, 3))
    assert min(function.regret(each, noise) for each in starts) > 0


def grid(values, dims=(10, 20, 40, 80), each=(20,)):
    """Cells by dimension (and budget) with these regrets."""
    cells = np.reshape(values, (len(dims), len(each)))
    return {
        (d, n): Cell(np.array([cells[j, k]]), np.ones(1))
        for j, d in enumerate(dims)
        for k, n in enumerate(each)
    }


def found(values, **options):
    return [(hole.dim, hole.each, hole.along) for hole in holes("f", grid(values, **options))]


def test_a_cell_worse_than_both_of_its_neighbours_is_a_hole():
    assert found([1e-3, 1e-3, 4e-3, 1e-3]) == [(40, 20, "dimension")]
    assert found([1e-3, 1e-3, 2e-3, 1e-3]) == []


def test_harder_problems_in_more_dimensions_are_no_holes():
    assert found([1e-6, 1e-4, 1e-2, 1.0]) == []
    # the last is worse than the way there suggests
    assert found([1e-3, 1e-3, 1e-3, 4e-3]) == [(80, 20, "dimension")]
    assert found([4e-3, 1e-3, 1e-3, 1e-3]) == [(10, 20, "dimension")]


def test_what_is_solved_is_solved():
    assert found([1e-15, 1e-15, SOLVED, 1e-15]) == []


def test_more_evaluations_must_not_be_worse():
    values = [[1e-2, 1e-3], [1e-2, 4e-2], [1e-2, 1e-1]]
    options = {"dims": (10, 20, 40), "each": (10, 30)}
    assert (20, 30, "budget") in found(values, **options)
    assert all(along == "budget" for _, _, along in found(values, **options))


@pytest.mark.tier("lab")
def test_from_settings_to_report(tmp_path):
    settings = RegimesSettings(("ellipsoid",), dims=(12, 14, 16), each=(5,), seeds=1)
    outcome = driver.run(REGIMES, settings, tmp_path, processes=1)
    assert set(outcome.results.cells["ellipsoid"]) == {(12, 5), (14, 5), (16, 5)}
    said = json.loads((tmp_path / "summary.json").read_text())
    assert set(said["regret"]["ellipsoid"]) == {"12/5", "14/5", "16/5"}
    assert (tmp_path / "regimes.png").exists()
    assert "| 14 |" in (tmp_path / "report.md").read_text()
    assert table(outcome.results).row_count == 3
    assert MARK not in (tmp_path / "report.md").read_text()
    assert incomplete(outcome.results) == ""
    del outcome.results.cells["ellipsoid"][14, 5]
    assert incomplete(outcome.results) == "d = 14, 5 d: 0"


@pytest.mark.parametrize("wrong", [{"dims": (1,)}, {"each": ()}, {"problems": ("sphere",)}])
def test_bad_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RegimesSettings(**wrong)
