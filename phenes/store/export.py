"""The evaluations of a run as a table for other programs: CSV, NumPy or Parquet."""

import csv
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from phenes.store.run import Run

COLUMNS = ("theta", "x")  # vectors: a column for each coordinate


def export(run: Run, path: str | Path) -> int:
    """Write one row for each evaluation, in order.

    Parameters
    ----------
    run : Run
        The run to export.
    path : str or pathlib.Path
        A .csv, .npz or .parquet file; it is there when it is complete, and not before.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    ValueError
        If the ending is another one, or the folder does not exist.
    """
    path = Path(path)
    write = {".csv": _csv, ".npz": _npz, ".parquet": _parquet}.get(path.suffix)
    if write is None:
        raise ValueError(f"a run can be exported to .csv, .npz or .parquet, got {path.name!r}")
    if not path.parent.is_dir():
        raise ValueError(f"the folder {path.parent} does not exist")
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
    os.close(handle)
    try:
        rows = write(run, Path(temporary))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return rows


def generations(run: Run) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Number and arrays of each complete generation of an optimisation."""
    for key in run:
        if key.isdigit():
            part = run[key]
            if "theta" not in part:
                raise ValueError(
                    f"run {run.about.id} is one of {run.about.experiment!r}: only optimisations are"
                    " tables of evaluations"
                )
            yield int(key), part


def _tables(run: Run) -> Iterator[dict[str, np.ndarray]]:
    """Each generation as columns of equal length."""
    for generation, part in generations(run):
        n = len(part["f"])
        table = {
            "generation": np.full(n, generation),
            "index": part.get("index", np.arange(n)),
            "f": part["f"],
        }
        for name in COLUMNS:
            table |= {f"{name}_{k}": column for k, column in enumerate(part[name].T)}
        yield table | {"error": part.get("error", np.full(n, ""))}


def _csv(run: Run, path: Path) -> int:
    count = 0
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for table in _tables(run):
            if not count:
                writer.writerow(table)
            # repr of a float is exact
            writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
            count += len(table["f"])
    return count


def _whole(run: Run) -> dict[str, np.ndarray]:
    tables = list(_tables(run))
    return (
        {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        if tables
        else {}
    )


def _npz(run: Run, path: Path) -> int:
    """theta and x as matrices."""
    parts = [
        {"generation": np.full(len(part["f"]), k), **{name: part[name] for name in ("f", *COLUMNS)}}
        for k, part in generations(run)
    ]
    whole = (
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        if parts
        else {"f": np.empty(0)}
    )
    np.savez_compressed(path, **whole)  # pyright: ignore[reportArgumentType]
    return len(whole["f"])


def _parquet(run: Run, path: Path) -> int:
    try:
        import pyarrow  # pyright: ignore[reportMissingImports]
        from pyarrow import parquet  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    except ImportError as error:
        raise ValueError(
            "Parquet needs pyarrow (pip install pyarrow); .csv and .npz need nothing"
        ) from error
    table = _whole(run)
    parquet.write_table(pyarrow.table(table), path)  # pyright: ignore[reportUnknownMemberType]
    return len(table.get("f", ()))
