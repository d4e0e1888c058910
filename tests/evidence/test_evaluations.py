"""Tables of evaluations for other tools."""

import csv

import numpy as np
import pytest

import phenes
from phenes.evidence import Evaluations
from phenes.space import Choice, Real, Space

ROWS = Evaluations(
    np.array([[1.0, 2.0], [3.0, 4.0]]),
    np.array([[1.5, np.nan], [3.5, 4.5]]),
    np.array([0.1, np.nan]),
    np.array(["search", "verify"]),
)
SPACE = Space(width=Real(0, 9, noise=0.1), kind=Choice("A", "B"))


def test_columns_of_vectors_are_numbered():
    columns = ROWS.columns()
    assert list(columns) == ["theta_0", "theta_1", "x_0", "x_1", "f", "phase"]
    assert columns["theta_1"].tolist() == [2.0, 4.0]
    assert Evaluations(*ROWS[:3]).columns()["phase"].tolist() == ["", ""]


def test_columns_of_a_space_have_names():
    named = Evaluations(
        np.array([[1.0, 0, 1]]), np.array([[1.5, 0, 1]]), np.array([0.1]), np.array(["search"])
    ).named(SPACE)
    columns = {name: column.tolist() for name, column in named.columns().items()}
    assert columns == {
        "theta_width": [1.0],
        "theta_kind": ["B"],
        "x_width": [1.5],
        "x_kind": ["B"],
        "f": [0.1],
        "phase": ["search"],
    }


def test_a_file_has_every_number_exactly_and_blanks_for_what_is_unknown(tmp_path):
    third = ROWS._replace(f=np.array([1 / 3, np.nan]))
    third.to_csv(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    assert float(first["f"]) == 1 / 3
    assert first["x_1"] == second["f"] == ""
    assert second["phase"] == "verify"


def test_a_data_frame_has_the_phases_of_a_run():
    pytest.importorskip("pandas")
    opt = phenes.Optimizer(np.ones(2), 0.5, 0.1, budget=40, engine="gp", seed=0, popsize=8)
    while not opt.stop():
        theta = opt.ask()
        opt.tell(theta, np.sum(theta**2, axis=1), realised=theta)
    frame = opt.evaluations.to_pandas()
    assert frame.shape == (40, 6)
    assert frame["f"].tolist() == opt.result.evaluations.f.tolist()
    # at the end of a small budget, eight evaluations verify the answer
    assert (frame["phase"] == "verify").sum() == 8
    assert (frame["phase"][-8:] == "verify").all()
    assert set(frame["phase"]) == {"design", "model", "verify"}  # of the gp engine
