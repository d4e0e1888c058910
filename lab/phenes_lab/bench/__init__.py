"""Benchmarks, side by side in one run: what the estimators buy (`estimators`), what a generation
costs (`generation`), how the optimiser stands beside others on BBOB with noisy inputs (`peers`) and
on published problems (`robust`), how soon it starts (`start`).

All but `peers`, which has a room and a store of its own, have `Settings` (with `Settings.quick()`),
`run(settings, progress) -> rows`, `table(rows)` for people and `as_json(rows)` for machines.
"""
