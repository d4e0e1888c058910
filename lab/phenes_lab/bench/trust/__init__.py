"""Can the answer be trusted? Functions that jump, fail, are flat, have no bottom, and smooth ones
as controls.

For every run it is asked whether E f at the answer lies within the claim, whether the answer is
worse than the start, whether it fails, whether the claim is impossible, whether success was said of
what is wrong, and whether the budget was kept.

rows = run(TrustSettings(problems=("beam",), seeds=3), Path("out/trust"), resume=True).results
"""
