"""Front: what it prints, draws, saves and reads."""

import csv
import json

import numpy as np
import pytest

import phenes
from phenes.evidence.evaluations import Evaluations
from phenes.pareto import Axis, Front


def made(**changes):
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((6, 2))
    known = {
        "vectors": np.array([[0.1, 1.0], [0.2, 2.0]]),
        "values": np.array([[1.0, 5.0], [2.0, 4.0]]),
        "errors": np.array([[0.1, np.inf], [0.2, 0.3]]),
        "draws": np.array([4, 5]),
        "failing": np.array([0, 1]),
        "axes": (
            Axis("E f(x)", "mean()", False, (-np.inf, np.inf)),
            Axis("std of f(x)", "std()", False, (0.0, np.inf)),
        ),
        "beaten": {"vectors": theta[:1], "values": theta[:1], "errors": theta[:1]},
        "nfev": 6,
        "message": "2 designs",
        "evaluations": Evaluations(
            theta,
            theta + 0.1,
            np.array([1.0, np.nan, 3, 4, 5, 6]),
            np.array(["design"] * 6),
            further={"f2": np.arange(6.0)},
        ),
    }
    return Front(**(known | changes))


def test_a_front_is_read_as_it_was_saved(tmp_path):
    before = made()
    before.save(tmp_path / "front.json")
    json.loads((tmp_path / "front.json").read_text(), parse_constant=pytest.fail)
    after = Front.load(tmp_path / "front.json")
    for name in ("vectors", "values", "errors", "draws", "failing"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    assert after.axes == before.axes
    assert str(after) == str(before)
    assert np.array_equal(after.beaten["values"], before.beaten["values"])
    for name, column in before.evaluations.columns().items():
        same = after.evaluations.columns()[name]
        assert np.array_equal(same, column, equal_nan=column.dtype.kind == "f")


def test_names_and_units_are_saved_too(tmp_path):
    space = phenes.Space(width=phenes.Real(0, 1, unit="mm"), feed=phenes.Log(1, 100))
    before = made(space=space, evaluations=made().evaluations.named(space))
    before.save(tmp_path / "front.json")
    assert str(Front.load(tmp_path / "front.json")) == str(before)
    assert "0.1 mm" in str(before)
    assert before.thetas[0]["feed"] == pytest.approx(np.e)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "phenes front", "version": 9}'])
def test_other_files_are_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match=r"must be a file that Front\.save wrote"):
        Front.load(tmp_path / "other.json")


def test_the_table_says_what_each_design_rests_on(tmp_path):
    text = str(made())
    assert "4, 1 failed" in text
    assert "1 ± 0.2" in text
    assert "± two standard errors" in text
    assert "<th>std of f(x)</th>" in made()._repr_html_()
    made().to_csv(tmp_path / "front.csv")
    rows = list(csv.reader((tmp_path / "front.csv").read_text().splitlines()))
    assert rows[0][:4] == ["theta_0", "theta_1", "E f(x)", "se of E f(x)"]
    assert [float(cell) for cell in rows[2][:3]] == [0.2, 2.0, 2.0]


def test_a_design_without_an_error_is_not_verified_and_intervals_stay_in_their_range():
    assert made().verified.tolist() == [False, True]
    low, high = made(errors=np.full((2, 2), 9.0)).intervals[0, 1]
    assert (low, high) == (0.0, 23.0)


def test_the_hypervolume_is_in_the_users_units():
    assert made().hypervolume([3.0, 6.0]) == pytest.approx(1 + 2)
    axes = (made().axes[0], made().axes[1]._replace(maximised=True))
    turned = made(axes=axes, values=np.array([[1.0, -5.0], [2.0, -4.0]]))
    assert turned.hypervolume([3.0, -6.0]) == pytest.approx(1 + 2)
    with pytest.raises(ValueError, match="reference"):
        made().hypervolume([1.0])
    with pytest.raises(ValueError, match="reference"):
        made().hypervolume([1.0, np.nan])


def test_the_picture_has_the_front_and_each_parameter():
    figure = made().plot()
    left, *right = figure.get_axes()
    assert left.get_xlabel() == "E f(x)   (less is better)"
    assert len(right) == 2
    assert {text.get_text() for text in left.get_legend().get_texts()} == {
        "verified by fresh draws, with 95 % intervals",
        "not verified",
        "beaten, by its draws",
    }
    low, high = right[0].get_ylim()
    theta = np.asarray(made().evaluations.theta)
    assert low < theta[:, 0].min()
    assert high > theta[:, 0].max()
