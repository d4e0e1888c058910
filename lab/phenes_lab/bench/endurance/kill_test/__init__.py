"""Runs under fire: workers and the program itself are killed at random moments, and started again.

Each round is one run of `minimize`. Afterwards: the same final state as undisturbed, to the last
bit; each evaluation in the record once; nothing that was in the record at a kill evaluated again.
"""
