"""CI fails if a test of `make test` costs more CPU than one may."""

import pytest

from tests import costs


@pytest.mark.parametrize(
    ("ci", "tier", "named"), [("true", None, ["dear"]), ("", None, []), ("true", "laws", [])]
)
def test_dear_tests_fail_in_ci_unless_they_have_a_tier(ci, tier, named, monkeypatch):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(costs.tiers, "CHOSEN", tier)
    monkeypatch.setattr(costs, "_spent", {"dear": costs.MOST + 1, "cheap": costs.MOST - 1})
    assert costs.too_dear() == named


@pytest.fixture
def work():
    before = costs.cpu()
    while costs.cpu() < before + 0.02:
        pass


def test_what_is_prepared_counts(work, request):
    assert [name for name, _ in request.node.user_properties] == ["cpu"]
    assert request.node.user_properties[0][1] >= 0.02


def test_folders():
    assert costs.folder("tests/rl/training/test_loop.py::test_x") == "tests/rl"
    assert costs.folder("lab/tests/bench/speed/test_x.py::test_x") == "lab/tests/bench"
    assert costs.folder("tests/test_x.py::test_x[a/b]") == "tests"
