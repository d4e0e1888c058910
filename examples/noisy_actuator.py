"""Feedback gains for a pendulum whose actuator gets them wrong: from the gains of the textbook to
those that expect errors.

The best gains are known here, from a Riccati equation with a term for the errors; phenes is told
nothing of it and only sees costs.
"""

import sys
from pathlib import Path

import phenes
from phenes.problems.engineering import REGULATOR
from phenes.problems.engineering.regulator import expected_cost

result = phenes.maximize(
    REGULATOR,
    REGULATOR.x0,
    REGULATOR.sigma0,
    REGULATOR.noise,
    vectorized=True,
    budget=10_000,
    seed=0,
)

designs = {
    "textbook": REGULATOR.nominal,
    "phenes": result.x,
    "Riccati with errors": REGULATOR.optimum,
}
for name, theta in designs.items():
    print(
        f"{name}: expected cost {expected_cost(theta):.2f},"
        f" {100 * REGULATOR.assess(theta).share:.0f} % within the limit"
    )

if len(sys.argv) > 1:  # python noisy_actuator.py regulator.png
    from phenes.plots import save

    try:
        from phenes_lab.plots import engineering
    except ModuleNotFoundError:
        print("No picture without the laboratory: pip install -e ./lab in a clone of phenes.")
    else:
        save(engineering.motions(designs), Path(sys.argv[1]))
