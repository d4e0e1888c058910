"""A mirror of 33 layers whose two sources deposit at rates that are off by half a per cent, the
same for all layers of a material.

The nominal design meets its specification exactly, on paper. The errors are declared as a
covariance matrix, of low rank for the most part.
"""

import sys
from pathlib import Path

import phenes
from phenes.problems.engineering import COATING_SHARED as COATING

result = phenes.maximize(
    COATING, COATING.x0, COATING.sigma0, COATING.noise, vectorized=True, budget=8000, seed=0
)

for name, theta in {"nominal": COATING.nominal, "phenes": result.x}.items():
    found = COATING.assess(theta)
    print(
        f"{name}: E f = {found.mean:.3f}, 95 % of the mirrors are better than {-found.p95:.2f}, on"
        f" paper {COATING(theta):.3f}"
    )

if len(sys.argv) > 1:  # python mirror_coating.py coating.png
    from phenes.plots import save

    try:
        from phenes_lab.plots import engineering
    except ModuleNotFoundError:
        print("No picture without the laboratory: pip install -e ./lab in a clone of phenes.")
    else:
        save(
            engineering.spectra({"nominal": COATING.nominal, "phenes": result.x}, COATING),
            Path(sys.argv[1]),
        )
