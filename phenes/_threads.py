"""One thread of linear algebra: small matrices are slower with more, and results depend on them."""

# threadpoolctl ships no stubs
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


@functools.cache
def _controller() -> Any:
    """Finding the libraries that are loaded takes milliseconds: once."""
    return ThreadpoolController()


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """`function` with one thread of BLAS, whatever the environment says.

    On a busy machine two threads that wait for each other at every product of small matrices took
    a hundred times as long.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return call
