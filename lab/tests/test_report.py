"""Statistics that are SciPy's, numbers as text and as JSON, and one document in two formats."""

import json
import math

import numpy as np
import pytest
import scipy.stats
from phenes_lab import report


class TestStatistics:
    def test_welch_is_that_of_scipy(self):
        random = np.random.default_rng(0)
        for shift, scale, n in ((0.0, 1.0, 10), (1.0, 3.0, 5), (5.0, 0.1, 10), (0.3, 2.0, 2)):
            a, b = random.normal(size=10), random.normal(shift, scale, size=n)
            ours, theirs = report.difference(a, b), scipy.stats.ttest_ind(b, a, equal_var=False)
            assert ours.z == pytest.approx(theirs.statistic, rel=1e-12)
            assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)

    def test_sign_test_is_that_of_scipy(self):
        for wins, losses in ((20, 4), (12, 12), (0, 6), (24, 0)):
            assert report.sign_test(wins, losses) == pytest.approx(
                scipy.stats.binomtest(wins, wins + losses).pvalue, rel=1e-12
            )

    def test_without_spread(self):
        assert report.difference(np.ones(3), np.ones(3)).p == 1
        assert report.difference(np.ones(3), np.zeros(3)).z == -np.inf
        assert np.isnan(report.difference(np.ones(1), np.zeros(1)).z)

    def test_huge_values(self):
        huge = np.array([1e200, 2e200, 3e200])
        assert report.mean_se(huge)[1] == pytest.approx(1e200 / np.sqrt(3))
        assert report.difference(huge, 2 * huge).z == pytest.approx(
            report.difference(huge / 1e200, huge / 5e199).z
        )

    def test_numbers_as_text(self):
        assert report.plus_minus(1.23456, 0.0123) == "1.235 ± 0.012"
        assert report.plus_minus(12345.6, 123.4) == "12346 ± 123"
        assert report.plus_minus(1e12, np.nan) == "1e+12 ± -"
        assert report.number(np.inf) == "infinite"

    def test_numbers_as_json(self):
        row = report.Claim("a", "b", "c", "d")
        values = {"x": np.array([1.0, math.nan]), "y": (math.inf, np.int64(3)), 2: row}
        plain = report.plain(values)
        assert plain == {"x": [1.0, None], "y": ["inf", 3], "2": vars(row)}
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert report.finite(1.23456789) == 1.235
        assert report.finite(math.inf) is None

    def test_quadrature_was_right(self):
        """Two-sided p by an integral, as these reports had it before they asked SciPy."""
        node, weight = np.polynomial.legendre.leggauss(96)
        node, weight = (node + 1) / 2, weight / 2
        tail = lambda b, v: b * ((weight * 4 * node**3) @ np.sin(b * node**4) ** (v - 1))  # noqa: E731
        for t, v in ((0.3, 1.2), (-2.5, 7.9), (12.0, 18.0)):
            p = tail(math.atan2(math.sqrt(v), abs(t)), v) / tail(math.pi / 2, v)
            assert report.student_p(t, v) == pytest.approx(p, rel=1e-9)


class TestVerdicts:
    def test_fewer_than_three_seeds_test_nothing(self):
        for seeds, word in ((1, report.UNTESTED), (2, report.UNTESTED), (3, report.HOLDS)):
            assert report.verdict(True, True, seeds=seeds) == word
        assert report.verdict(False, True, seeds=3) == report.PARTLY
        assert report.verdict(False, False, seeds=math.inf) == report.FAILS

    def test_clear_is_by_welch_and_not_by_z(self):
        """The same z of 2.6: nothing with 3 values on each side, p = .06, and clear with 10."""
        for n, clear in ((3, False), (10, True)):
            spread = np.linspace(-1, 1, n)
            se = np.std(spread, ddof=1) * np.sqrt(2 / n)
            for sign in (-1, 1):
                d = report.difference(spread, spread + sign * 2.6 * se)
                assert d.z == pytest.approx(sign * 2.6)
                assert (d.below, d.above) == (clear and sign < 0, clear and sign > 0)

    def test_two_values_are_never_clear(self):
        d = report.difference(np.array([0.0, 1e-9]), np.array([1.0, 1.0 + 1e-9]))
        assert d.p < 1e-6
        assert not d.above
        assert report.difference(np.zeros(3), np.ones(3)).above

    def test_at_the_level(self):
        """p on either side of .05."""
        for p, clear in ((0.049, True), (0.051, False)):
            d = report.Difference(-1.0, 1.0, -1.0, p, 10)
            assert (d.below, d.above) == (clear, False)

    def test_holm_is_that_of_its_definition(self):
        """.05 / 3, .05 / 2, .05: the first that fails ends it."""
        assert report.holm([0.02, 0.016, 0.2]) == [True, True, False]
        assert report.holm([0.026, 0.016, 0.001]) == [True, True, True]
        assert report.holm([0.026, 0.017, 0.03]) == [False, False, False]
        assert report.holm([0.06]) == [False]
        assert report.holm([math.nan, 0.01]) == [False, True]
        assert report.holm([]) == []


def test_document_escapes_what_html_and_markdown_would_read(tmp_path):
    document = report.Document("a < b")
    document.table(["x"], [["1 | 2 < 3"], [report.HOLDS]])
    markdown, page = (path.read_text() for path in document.write(tmp_path))
    assert "1 \\| 2 < 3" in markdown
    assert "1 | 2 &lt; 3" in page
    assert 'class="holds"' in page


def test_rows_of_the_terminal():
    table = report.rich_table(("a", "b"), [["x", "1"], None, ["y", "2"]], "title")
    assert table.row_count == 2
    assert [column.justify for column in table.columns] == ["left", "right"]


def test_rows_of_a_group_have_its_name_once():
    lines = report.grouped(["a1", "a2", "b1"], lambda row: row[0], lambda row: [row[1]])
    assert lines == [None, ["a", "1"], ["", "2"], None, ["b", "1"]]


def test_a_picture_that_was_not_drawn_is_not_shown(tmp_path):
    (tmp_path / "there.png").touch()
    document = report.Document("x")
    document.drawn(tmp_path, "there.png", "first")
    document.drawn(tmp_path, "absent.png", "second")
    assert document.markdown == ["![first](there.png)"]
