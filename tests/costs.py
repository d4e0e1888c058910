"""What each test costs, in seconds of CPU: those of its process and of the ones it waited for.

Seconds on the clock depend on who else is at work, these hardly. The summary names the folders and
the dearest tests. In CI one of `make test` beyond MOST is a failure: it is made cheaper (smaller
shapes, a program or a run that several tests share) or gets a tier (tests/tiers.py).
"""

import collections
import os
import resource

import pytest

from tests import tiers

MOST = 60.0  # what a test prepares for others in its file is counted with the first that asks
NAMED = int(os.environ.get("PHENES_COSTS", "12"))  # tests in the summary

_spent: dict[str, float] = {}


def cpu() -> float:
    """Seconds of CPU so far."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, whose))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    before = cpu()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu", cpu() - before))


pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


def pytest_runtest_logreport(report):
    """Every report has what was spent until then; the last one is kept."""
    _spent[report.nodeid] = sum(s for name, s in report.user_properties if name == "cpu")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if too_dear():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    by_folder = collections.Counter()
    for test, seconds in _spent.items():
        by_folder[folder(test)] += seconds
    whole = ", ".join(f"{name} {seconds:.0f}" for name, seconds in by_folder.most_common())
    terminalreporter.write_line(f"seconds of CPU, {sum(_spent.values()):.0f} in all: {whole}")
    for test, seconds in sorted(_spent.items(), key=lambda pair: -pair[1])[:NAMED]:
        terminalreporter.write_line(f"{seconds:6.1f}  {test}")
    for test in too_dear():
        terminalreporter.write_line(
            f"{test} took {_spent[test]:.1f} seconds of CPU, and CI allows {MOST:g}", red=True
        )


def folder(test: str) -> str:
    """`tests/rl` of `tests/rl/training/test_loop.py::test_x`, `tests` of `tests/test_x.py::...`."""
    parts = test.partition("::")[0].split("/")[:-1]
    return "/".join(parts[: 3 if parts[:1] == ["lab"] else 2])


def too_dear() -> list[str]:
    """Tests beyond MOST, in CI; those of a tier may take longer."""
    if os.environ.get("CI") != "true" or tiers.CHOSEN:
        return []
    return sorted(test for test, seconds in _spent.items() if seconds > MOST)
