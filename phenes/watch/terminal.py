"""Runs in the terminal: the list, the table of one, and one that is followed."""

from typing import Any

from rich.table import Table
from rich.text import Text

from phenes import _validate
from phenes.store import Store
from phenes.watch import training

LEAST_DRAWS = 2  # at theta itself, from which an estimate is said to rest on them


def runs(store: Store) -> Table:
    """The list of the runs in a file."""
    table = Table(
        "run",
        "of",
        "started",
        "status",
        "seed",
        "parts",
        title=_text(store.path),
        title_justify="left",
    )
    for about in store.runs():
        run = store[about.id]
        cells = (
            about.id,
            about.experiment,
            about.started,
            run.status,
            about.settings.get("seed", ""),
            len(run.keys() - {"now", "state"}),
        )
        table.add_row(*map(_text, cells))
    return table


def _text(value: object) -> Text:
    """What a file says is shown, not interpreted: neither as markup nor by the terminal."""
    return Text(_validate.printable(str(value)))


def one(snapshot: dict[str, Any]) -> Table:
    """What there is to know of a run now."""
    title = _text(f"run {snapshot['id']} of {snapshot['file']}")
    table = Table(show_header=False, title=title, title_justify="left")
    middle = training.table_rows if snapshot["kind"] == "training" else _of_search
    rows = [
        ("status", ", ".join(filter(None, (snapshot["status"], snapshot.get("phase"))))),
        *middle(snapshot),
        ("started", f"{snapshot['started']}, version {snapshot['version']}"),
        *((f"  {name}", str(value)) for name, value in snapshot["settings"].items()),
    ]
    for name, value in rows:
        table.add_row(_text(name), _text(value if len(value) <= 300 else value[:300] + " ..."))
    return table


def _of_search(snapshot: dict[str, Any]) -> list[tuple[str, str]]:
    curve, running = snapshot["curve"], snapshot["status"] == "running"
    return [
        (
            snapshot["what"],
            f"{_number(_last(curve['fun']))} ± {_number(_last(curve['fun_se']), 2)},"
            f" {_basis(snapshot)}",
        ),
        (
            "evaluations",
            f"{snapshot['done']} of {snapshot['budget']} done, {_failed(snapshot)},"
            f" {snapshot['flying']} in flight",
        ),
        *([("time left", duration(snapshot["seconds_left"]))] if running else []),
        ("generations", str(snapshot["generations"])),
        (
            "step / noise",
            f"{_number(_last(curve['step']), 3)} / {_number(_last(curve['noise']), 3)}",
        ),
        ("gain", _gain(curve["gain"])),
        ("recommended theta", _place(snapshot)),
    ]


def _basis(snapshot: dict[str, Any]) -> str:
    """What the estimate rests on."""
    good = snapshot["drawn"] - snapshot["lost"]
    if good < LEAST_DRAWS:
        return "by the model of the search, not verified yet"
    lost = f", {snapshot['lost']} more failed there" if snapshot["lost"] else ""
    return f"verified by {good} evaluations at theta itself{lost}"


def _failed(snapshot: dict[str, Any]) -> str:
    share = snapshot["failed"] / max(snapshot["done"], 1)
    return f"{snapshot['failed']} failed ({share:.1%})" if snapshot["failed"] else "0 failed"


def duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None:
        return "not known"
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"about {seconds / unit:.0f} {name}"
    return f"about {seconds:.0f} seconds"


def _gain(values: list[Any]) -> str:
    if values and values[-1] is None:
        return "unbounded: the search is narrower than the noise by far"
    return _number(_last(values), 3)


def _last(values: list[Any]) -> float | None:
    return values[-1] if values else None


def _number(value: float | None, digits: int = 6) -> str:
    return "not yet known" if value is None else f"{value:.{digits}g}"


def _place(snapshot: dict[str, Any]) -> str:
    if "theta" not in snapshot:
        return _vector(snapshot["mean"])
    return ", ".join(f"{name} = {value}" for name, value in snapshot["theta"].items())


def _vector(values: list[float]) -> str:
    shown = ", ".join(_number(value, 5) for value in values[:12])
    return f"{shown}, ... ({len(values)} coordinates)" if len(values) > 12 else shown
