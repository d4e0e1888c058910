"""Types of what users give to `minimize`, `maximize` and `Optimizer`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from numpy.typing import ArrayLike

from phenes.optimizer.answer.result import Result

if TYPE_CHECKING:
    from phenes.covariance import Covariance
    from phenes.optimizer.workers import Workers
    from phenes.protocols import InputLaw


class ScipyBounds(Protocol):
    """The protocol of scipy.optimize.Bounds."""

    @property
    def lb(self) -> Any: ...

    @property
    def ub(self) -> Any: ...


class DaskClient(Protocol):
    """The protocol of distributed.Client."""

    def scheduler_info(self) -> dict[str, Any]: ...


Noise: TypeAlias = "ArrayLike | Covariance | InputLaw | Literal['learn'] | None"
Bounds: TypeAlias = (
    "ScipyBounds | tuple[ArrayLike, ArrayLike] | Sequence[tuple[float | None, float | None]] | None"
)
WorkersLike: TypeAlias = "Workers | int | str | Executor | DaskClient | None"
Callback: TypeAlias = Callable[[Result], Any]
