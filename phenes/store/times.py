"""The time of day in the record."""

import datetime


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
