"""Ten kills or so of workers and programs; `phenes bench survive` makes it 200."""

import numpy as np
import pytest

from phenes.bench import survive
from phenes.bench.survive import engines


@pytest.mark.parametrize(("where", "kills"), [("loky", 4), ("dask", 3), ("ray", 2)])
def test_a_run_survives(where, kills):
    if not engines.there(where):
        pytest.skip(f"{where} is not installed: pip install 'phenes[{where}]'")
    rounds = survive.run(survive.Settings(kills=kills, engines=(where,), budget=60, seed=3))
    assert sum(r.of_workers + r.of_program for r in rounds) >= kills
    for r in rounds:
        assert r.same, "the same final state as undisturbed"
        assert (r.lost, r.doubled, r.repeated) == (0, 0, 0)
    assert survive.as_json(rounds)["survived"]
    assert survive.table(rounds).row_count == 1


def test_the_judge_sees_what_was_evaluated_again(tmp_path):
    from phenes.bench.survive import program, rounds

    path, log = tmp_path / "run.db", tmp_path / "log"
    program.solve(1, 48, str(log), checkpoint=path)
    lines = rounds._lines(log)
    fine = rounds._judge(rounds.Round("loky", 1), path, lines, 48)
    assert fine.survived
    points = {line.split()[1] for line in lines}
    assert rounds._judge(rounds.Round("loky", 1, kept=[(len(lines), points)]), path, [*lines, lines[0]], 48).repeated == 1
    other = rounds._judge(rounds.Round("loky", 1), path, lines, 60)
    assert np.array_equal(other.same, True), "a longer budget goes on from the record"


def test_misuse():
    with pytest.raises(ValueError, match=r"engines must be of loky, dask, ray, got spark"):
        survive.Settings(engines=("spark",))
