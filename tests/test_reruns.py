"""CI fails if more than a few tests had to be run again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import reruns

FLAKY = """
import pytest
seen = set()
@pytest.mark.flaky(reruns=1)
@pytest.mark.parametrize("n", range(3))
def test_second_try(n):
    if n not in seen:
        seen.add(n)
        raise AssertionError
"""


def test_three_fail_in_ci(tmp_path):
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    plugins = ("-p", "tests.reruns", "-p", "pytest_rerunfailures")
    own = {"CI": "true", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-c", os.devnull, tmp_path],
        env=os.environ | own | {"PYTHONPATH": str(Path(__file__).parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "3 passed, 3 rerun" in done.stdout
    assert "3 tests were run again, and CI allows 2: " in done.stdout


@pytest.mark.parametrize(
    ("n", "ci", "fails"), [(3, "true", True), (2, "true", False), (3, "", False)]
)
def test_two_do_not_and_neither_do_three_at_home(n, ci, fails, monkeypatch):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(reruns, "_again", {str(k) for k in range(n)})
    assert reruns.too_many() == fails
