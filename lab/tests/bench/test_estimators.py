"""The variance benchmark: theory and measurement agree, and a wrong theory would be noticed."""

import io
import json

import numpy as np
import pytest
from phenes_lab.bench import estimators
from phenes_lab.bench.estimators import EstimatorsRow, EstimatorsSettings, Ratio, cells, measure
from phenes_lab.bench.estimators.rows import relative_bias
from rich.console import Console

TINY = EstimatorsSettings(
    dims=(3,), ratios=(0.5,), samples=16_000, full_dim=None, noise_dim=None, auxiliaries=8
)


@pytest.fixture(scope="module")
def rows() -> list[EstimatorsRow]:
    return estimators.run(TINY)


def by_name(rows: list[EstimatorsRow]) -> dict[str, EstimatorsRow]:
    return {row.estimator: row for row in rows}


def only(cell: cells.Cell, name: str) -> cells.Cell:
    """The cell with one estimator, and the one it is compared with."""
    return cell._replace(
        plain={"phenotype": cell.plain["phenotype"], name: cell.plain[name]}, pairs={}
    )


@pytest.mark.tier("lab")
def test_theory_agrees_with_measurement(rows):
    """Within 4 standard errors, wherever theory says anything (the key is fixed)."""
    checked = {row.estimator: row.agrees for row in rows if row.agrees is not None}
    assert checked == {
        "genotype": True,
        "reparameterised": True,
        "information_mix": True,
        "information_mix, curvature": True,
    }


@pytest.mark.tier("lab")
def test_theory_is_what_the_formulas_say(rows):
    c, row = 0.5, by_name(rows)
    assert (row["genotype"].score_mean.theory, row["genotype"].score_spread.theory) == (
        1 + c,
        (1 + c) ** 2,
    )
    assert row["reparameterised"].score_mean.theory == 1 + 1 / c
    assert row["information_mix"].score_mean.theory == 1.0


@pytest.mark.tier("lab")
def test_a_wrong_theory_is_noticed(rows):
    """The standard errors are small enough to tell 1 + C/S from 5 % more."""
    measured = by_name(rows)["genotype"].score_mean
    assert measured.agrees
    assert not Ratio(measured.value, measured.se, 1.05 * measured.theory).agrees
    assert Ratio(measured.value, measured.se).agrees is None


@pytest.mark.parametrize(
    ("value", "agrees"), [(1.39, True), (1.41, False), (0.61, True), (0.59, False)]
)
def test_agrees_means_four_standard_errors(value, agrees):
    assert Ratio(value, 0.1, 1.0).agrees is agrees


def test_exact_ratios_forgive_rounding_only():
    assert Ratio(1 + 1e-15, 0.0, 1.0).agrees
    assert not Ratio(1 + 1e-6, 0.0, 1.0).agrees


@pytest.mark.tier("lab")
def test_row_agrees_only_if_all_its_parts_do(rows):
    row = by_name(rows)["genotype"]
    wrong = Ratio(row.score_spread.value, row.score_spread.se, 2 * row.score_spread.theory)
    assert not EstimatorsRow(**{**row.__dict__, "score_spread": wrong}).agrees


@pytest.mark.tier("lab")
def test_the_order_of_variances(rows):
    """phenotype <= exchangeable <= genotype in the second moment of the score."""
    row = by_name(rows)
    for part in ("score_mean", "score_spread"):
        joint, coordinates, geno = (
            getattr(row[e], part) for e in ("exchangeable", "exchangeable_coordinates", "genotype")
        )
        assert 1 < coordinates.value < geno.value
        assert 1 < joint.value < geno.value
        assert joint.value - 1 > 4 * joint.se


@pytest.mark.tier("lab")
def test_unbiased_estimators_show_no_bias(rows):
    for row in rows:
        for bias in (row.bias_mean, row.bias_spread):
            assert row.biased or bias.value <= 4 * bias.se + 1e-9, row.estimator


def test_relative_bias_by_hand():
    """|E g - E reference|^2 / |E reference|^2, less what the variance of the means adds."""
    reference = np.full((2, 3), 2.0)
    assert relative_bias(reference + 1.0, reference) == pytest.approx(0.25)
    # a mean of 0 in each coordinate, of two values with variance 2: -3 * 2 / 2 of 12
    wavering = reference + np.array([[1.0], [-1.0]])
    assert relative_bias(wavering, reference) == pytest.approx(-0.25)


@pytest.mark.tier("lab")
def test_bias_is_seen_where_there_is_one(monkeypatch):
    """Laplace noise: the linear guess at the posterior misses the spread by far more than its
    standard error.
    """
    cell = next(cell for cell in cells.cells_of_other_laws(2, {}) if cell.noise == "Laplace")
    monkeypatch.setattr(cells, "cells_of", lambda settings: [only(cell, "biased_linear")])
    row = by_name(estimators.run(TINY))["biased_linear"]
    assert row.biased
    assert row.bias_spread.value > 4 * row.bias_spread.se
    assert row.agrees is None


@pytest.mark.tier("lab")
def test_full_covariance_cell_keeps_the_isotropic_ratios(monkeypatch):
    monkeypatch.setattr(
        cells, "cells_of", lambda settings: [only(cells.full_cell(3, 0.5, {}), "genotype")]
    )
    assert by_name(estimators.run(TINY))["genotype"].agrees


@pytest.mark.tier("lab")
def test_json_round_trips(rows):
    data = estimators.as_json(rows)
    assert json.loads(json.dumps(data)) == data
    assert data["checked"] == data["agreed"] == 4
    assert {row["estimator"] for row in data["rows"]} == set(by_name(rows))


@pytest.mark.tier("lab")
def test_table_shows_every_row(rows):
    console = Console(width=250, record=True, file=io.StringIO())
    console.print(estimators.table(rows))
    text = console.export_text()
    assert all(row.estimator in text for row in rows)
    assert "[1.5]" in text
    assert "biased_linear (biased)" in text


@pytest.mark.tier("lab")
def test_progress_counts_cells(monkeypatch):
    seen = []
    monkeypatch.setattr(
        cells, "cells_of", lambda settings: [cells.isotropic_cell(3, c, {}) for c in (0.5, 1.0)]
    )
    estimators.run(TINY, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.tier("lab")
def test_one_compilation_serves_all_ratios(monkeypatch):
    monkeypatch.setattr(
        cells, "cells_of", lambda settings: [cells.isotropic_cell(3, c, {}) for c in (0.25, 0.75)]
    )
    before = measure.measured._cached._cache_size()
    estimators.run(TINY)
    # plain, auxiliary (none here), pairs
    assert measure.measured._cached._cache_size() - before <= 3


@pytest.mark.parametrize("wrong", [{"samples": 100}, {"dims": (0,)}, {"ratios": (-1.0,)}])
def test_misuse_is_a_value_error(wrong):
    with pytest.raises(ValueError, match="must be"):
        EstimatorsSettings(**wrong)
