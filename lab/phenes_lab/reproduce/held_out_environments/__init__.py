"""Environments that the defaults of `phenes train` were not chosen on, beside ES with the same
number of episodes.
"""
