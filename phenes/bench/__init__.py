"""Benchmarks: what the estimators buy (`estimators`) and what a generation costs beside its peers (`generation`).

Both have `Settings` (with `Settings.quick()`), `run(settings, progress) -> rows`, `table(rows)` for people, `as_json(rows)` for machines.
"""
