"""Progress of a run that goes on in this program: words, and below them a bar and the time left."""

import contextlib
from collections.abc import Callable, Generator, Iterable
from typing import Any


@contextlib.contextmanager
def bar(title: str) -> Generator[Callable[[int, int, str], None]]:
    """Yield show(done, total, text); it is on stderr, since stdout is for results."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    said = Text(title)

    class Both(Progress):
        """In one row the bar would cut the text short."""

        def get_renderables(self) -> Iterable[Any]:
            yield said
            yield self.make_tasks_table(self.tasks)

    columns = (BarColumn(), TextColumn("{task.percentage:>3.0f} %, left"), TimeRemainingColumn())
    with Both(*columns, console=Console(stderr=True)) as both:
        task = both.add_task("", total=None)

        def show(done: int, total: int, text: str) -> None:
            said.plain = text
            both.update(task, completed=done, total=total)

        yield show
