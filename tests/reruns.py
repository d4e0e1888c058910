"""Tests that were run again: named in the summary (-rR), and in CI at most a few of them.

A race that fails with probability p is seen with p^2 when a failure is tried once more. One that
needs many second tries is therefore a fault of the tests or of what they test.
"""

import os

import pytest

MOST = 2  # tests that CI may run again

_again: set[str] = set()


def pytest_runtest_logreport(report):
    if report.outcome == "rerun":
        _again.add(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if too_many():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if too_many():
        names = ", ".join(sorted(_again))
        terminalreporter.write_line(
            f"{len(_again)} tests were run again, and CI allows {MOST}: {names}", red=True
        )


def too_many():
    return os.environ.get("CI") == "true" and len(_again) > MOST
