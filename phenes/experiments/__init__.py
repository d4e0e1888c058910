"""Experiments: a frozen dataclass of settings, then run -> results -> table and figure. A figure
never runs an experiment again.
"""
