"""Everything exported has a docstring that tools read: numpydoc, with every parameter in it."""

import re
from typing import NamedTuple

import pytest

from tests import docstrings


def test_nothing_is_missing():
    lacking = [docstrings.missing(name, value) for name, value in docstrings.exported()]
    assert [each for found in lacking for each in found] == []


def test_much_is_looked_at():
    names = {name for name, _ in docstrings.exported()}
    assert len(names) > 150
    assert {"phenes.minimize", "phenes.contexts.Mixture", "phenes.problems.bbob"} <= names


def nothing(a): ...


def short(a: int) -> int:
    """Twice a."""


def other_names(a: int) -> int:
    """Twice a.

    Parameters
    ----------
    b : int
        The number.

    Returns
    -------
    int
    """


def two_lines(a: int) -> None:
    """Twice a, which is
    a number.

    Parameters
    ----------
    a : int
        The number.
    """


class Methods:
    """Of a class, the methods too."""

    def sample(self, key): ...

    def double(self, a): ...


class Record(NamedTuple):
    a: int


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (nothing, ["x has no docstring"]),
        (short, ["x does not describe a", "x does not say what it returns"]),
        (other_names, ["x does not describe a"]),
        (two_lines, ["x has no summary of one line"]),
        (Record, ["x has no docstring"]),
    ],
)
def test_what_is_missing_is_noticed(value, said):
    assert docstrings.missing("x", value) == said


def test_methods_are_looked_at_but_for_those_of_the_protocols(monkeypatch):
    monkeypatch.setattr(Methods, "__module__", "phenes.made_up")
    assert docstrings.missing("x", Methods) == ["x.double has no docstring"]


def test_a_good_docstring_lacks_nothing():
    def good(a: int, b: int, *rest: int) -> int:
        """Twice a.

        Parameters
        ----------
        a, b : int
            The numbers.
        *rest : int
            More of them.

        Returns
        -------
        int
            The double.
        """
        return 2 * a

    assert docstrings.missing("x", good) == []
    assert re.search(r"^Parameters\n-", docstrings.inspect.getdoc(good), re.MULTILINE)
