"""How f is evaluated, in one argument; and the keywords that said it before."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from phenes import _validate

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from phenes.optimizer.options import DaskClient

OLD = ("timeout", "max_attempts", "asynchronous")
# keywords of scipy.optimize.minimize and of others, and what says the same here
ELSEWHERE = {
    "args": "let f know them: lambda x: f(x, ...)",
    "method": "engine= says what asks",
    "jac": "no derivatives are needed",
    "hess": "no derivatives are needed",
    "tol": "target= says when E f is good enough",
    "options": "give budget=, popsize= or verify= themselves",
    "maxiter": "budget= counts evaluations",
    "maxfev": "budget= counts evaluations",
    "n_trials": "budget= counts evaluations",
    "sigma": "it is sigma0=",
    "n_jobs": "it is workers=",
}


class KeywordWarning(UserWarning):
    """A keyword still works, and there is a better place for what it says."""


@dataclass(frozen=True)
class Workers:
    """Where and how evaluations are made.

    Parameters
    ----------
    workers : int, str, Executor or Dask Client, optional
        A number of processes; "dask://host:port" or a Client; "ray"; or any Executor. The run does
        not depend on their number. None: in this process.
    timeout : float, optional
        Seconds for one evaluation, which has failed after that.
    max_attempts : int, optional
        How often a point is evaluated if workers die with it; 1 for experiments that must not be
        made twice: what is lost has then failed.
    asynchronous : bool, optional
        Tell each value as it comes, without waiting for the slowest of a generation; the run then
        depends on the order in which values come.

    Raises
    ------
    ValueError
        If asynchronous is not True or False. The others are looked at when they are used.

    Examples
    --------
    >>> Workers(8, timeout=60).timeout
    60
    """

    workers: int | str | Executor | DaskClient | None = None
    timeout: float | None = None
    max_attempts: int = 3
    asynchronous: bool = False

    def __post_init__(self) -> None:
        _validate.flag("asynchronous", self.asynchronous)


def make_workers(workers: Any, old: Mapping[str, Any], by: str) -> Workers:
    """What `workers=` of the function `by` says, and its old keywords."""
    unknown = [name for name in old if name not in OLD]
    if unknown:
        instead = ELSEWHERE.get(unknown[0])
        advice = "" if instead is None else f": {instead}"
        raise TypeError(f"{by}() got an unexpected keyword argument {unknown[0]!r}{advice}")
    given = workers if isinstance(workers, Workers) else Workers(workers)
    if not old:
        return given
    if isinstance(workers, Workers):
        raise ValueError(f"{next(iter(old))} must be given in Workers(...), got it beside them")
    words = ", ".join(f"{name}={_validate.quote(value)}" for name, value in old.items())
    where = "" if workers is None else f"{_validate.quote(workers)}, "
    verb = "rides" if len(old) == 1 else "ride"
    warnings.warn(
        f"{', '.join(old)} now {verb} in one argument: workers=phenes.Workers({where}{words})",
        KeywordWarning,
        stacklevel=5,
    )
    return replace(given, **old)
