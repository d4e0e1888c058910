"""Angle and speed of a launch past two planets to a third. The bearing is off by 3 degrees: a
swing-by that is perfect on paper is none.
"""

import sys
from pathlib import Path

import phenes
from phenes.problems.engineering import LAUNCH

result = phenes.maximize(
    LAUNCH,
    LAUNCH.x0,
    LAUNCH.sigma0,
    LAUNCH.noise,
    bounds=LAUNCH.bounds,
    vectorized=True,
    budget=120,
    seed=0,
)

for name, theta in {"nominal": LAUNCH.nominal, "phenes": result.x}.items():
    found = LAUNCH.assess(theta, 4000)
    print(
        f"{name}: {theta[0]:.1f} degrees at speed {theta[1]:.2f}: E f = {found.mean:.3f},"
        f" {100 * found.share:.0f} % arrive"
    )

if len(sys.argv) > 1:  # python gravity_assist.py launch.png
    from phenes.plots import save

    try:
        from phenes_lab.plots import engineering
    except ModuleNotFoundError:
        print("No picture without the laboratory: pip install -e ./lab in a clone of phenes.")
    else:
        save(
            engineering.trajectories({"nominal": LAUNCH.nominal, "phenes": result.x}),
            Path(sys.argv[1]),
        )
