"""Which nominal values for a filter whose parts have 15 % tolerance? 2000 filters are built and
measured; each passes the test or fails.

The minimax design has the largest margins on paper. What counts is how many of those that are built
pass: E f is the yield.
"""

import sys
from pathlib import Path

import phenes
from phenes.problems.engineering import FILTER

result = phenes.maximize(
    FILTER, FILTER.x0, FILTER.sigma0, FILTER.noise, vectorized=True, budget=2000, seed=0
)

for name, theta in {"minimax": FILTER.nominal, "phenes": result.x}.items():
    l1, c, l2 = FILTER.design(theta)
    print(
        f"{name}: L1 = {l1:.3f}, C = {c:.3f}, L2 = {l2:.3f}: {100 * FILTER.assess(theta).share:.1f}"
        " % pass"
    )

if len(sys.argv) > 1:  # python filter_yield.py filter.png
    from phenes.plots import save

    try:
        from phenes_lab.plots import engineering
    except ModuleNotFoundError:
        print("No picture without the laboratory: pip install -e ./lab in a clone of phenes.")
    else:
        save(
            engineering.response({"minimax": FILTER.nominal, "phenes": result.x}), Path(sys.argv[1])
        )
