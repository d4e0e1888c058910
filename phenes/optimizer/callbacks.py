"""Observers of a run: the user's callback, the progress bar, the list of error messages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Self

from phenes.optimizer.answer.result import Result
from phenes.optimizer.optimizer import Optimizer
from phenes.optimizer.records.evaluations import Row
from phenes.risk import mean

if TYPE_CHECKING:
    from phenes.optimizer.options import Callback

ERRORS = 3  # distinct messages that are kept


class Listener:
    """errors: distinct messages of failed evaluations, in order.

    lacking: how many had a value, and not the constraints that were expected; said: the first.
    """

    def __init__(self, opt: Optimizer, callback: Callback | None, progress: bool):
        self.opt, self.callback = opt, callback
        self.errors: dict[str, None] = {}
        self.lacking, self.said = 0, ""
        self.bar = _bar(progress, opt)

    def __enter__(self) -> Self:
        self.show = self.bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.bar.__exit__(*error)

    def seen(self, rows: list[Row]) -> None:
        """Evaluations have arrived; on a resume, also the stored ones."""
        for row in rows:
            if row.error and len(self.errors) < ERRORS:
                self.errors[row.error] = None
            self.lacking += row.lacks
            self.said = self.said or (row.error if row.lacks else "")

    def message(self, text: str) -> str:
        """The message of a result, with what it cannot know: what f returned."""
        if not self.lacking:
            return text
        count = "1 evaluation counts" if self.lacking == 1 else f"{self.lacking} evaluations count"
        return f"{text}; {count} as violating the constraints: {self.said}"

    def moved(self) -> bool:
        """The search was updated; True ends the run."""
        self.show(self.opt)
        return self.callback is not None and _wants_to_stop(self.callback, self.opt.result)


def _wants_to_stop(callback: Callback, result: Result) -> bool:
    try:
        return callback(result) is True
    except StopIteration:  # as in SciPy
        return True


@contextlib.contextmanager
def _bar(wanted: bool, opt: Optimizer) -> Generator[Callable[[Optimizer], None]]:
    """A line with the estimate of E f and the time left of the budget."""
    if not wanted:
        yield lambda opt: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=opt.budget)

        what = "E f" if opt.objective == mean() else str(opt.objective)

        def show(opt: Optimizer) -> None:
            fun, se = opt.estimate
            bar.update(
                task, completed=opt.nfev, description=f"{what} = {fun:.5g} ± {se:.1g}  {opt.phase}"
            )

        yield show
