"""phenes inside other tools: `phenes.integrations.optuna` is a sampler for Optuna.

Each module needs the package that it is named after, and is imported by its own name.
"""
