"""The evaluations of a run for other programs."""

import csv
import importlib.util

import numpy as np
import pytest

import phenes
from phenes.store import Store, export


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.db"

    def f(x):
        if x[0] > 1.8:
            raise ArithmeticError('too far, "really"')
        return float(np.sum(x**2))

    phenes.minimize(f, np.full(3, 1.5), 0.5, 0.1, budget=60, seed=4, checkpoint=path)
    with Store(path, create=False) as store:
        yield store.last("minimize")


def test_csv(run, tmp_path):
    assert export(run, tmp_path / "run.csv") == 60
    with open(tmp_path / "run.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 60
    assert list(rows[0]) == [
        "generation",
        "index",
        "f",
        "theta_0",
        "theta_1",
        "theta_2",
        "x_0",
        "x_1",
        "x_2",
        "error",
    ]
    for row in rows:
        x = np.array([float(row[f"x_{k}"]) for k in range(3)])
        assert float(row["f"]) == float(np.sum(x**2)) or (
            np.isnan(float(row["f"])) and "too far" in row["error"]
        )


def test_numpy(run, tmp_path):
    assert export(run, tmp_path / "run.npz") == 60
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        assert file["theta"].shape == file["x"].shape == (60, 3)
        good = np.isfinite(file["f"])
        np.testing.assert_allclose(
            file["f"][good], np.sum(file["x"][good] ** 2, axis=1), rtol=1e-14
        )


def test_parquet(run, tmp_path):
    if importlib.util.find_spec("pyarrow") is None:
        with pytest.raises(ValueError, match="Parquet needs pyarrow"):
            export(run, tmp_path / "run.parquet")
    else:
        assert export(run, tmp_path / "run.parquet") == 60
    assert not list(tmp_path.glob("tmp*"))


def test_misuse(run, tmp_path):
    with pytest.raises(ValueError, match=r"exported to \.csv, \.npz or \.parquet, got 'run\.xls'"):
        export(run, tmp_path / "run.xls")
    with pytest.raises(ValueError, match="does not exist"):
        export(run, tmp_path / "no" / "run.csv")
    with Store(tmp_path / "other.db") as store:
        other = store.begin("bbob", {})
        other.add("0", {"gap": np.zeros(3)}, 0.0)
        with pytest.raises(ValueError, match="only optimisations are tables"):
            export(other, tmp_path / "run.csv")
