"""The lightest bracket that 99.9 % of the parts survive.

A steel bar, 300 mm long, carries 900 N at its end. Width and height of its section come out of the
mill some tenths of a millimetre off, and are measured. What must hold for each part are limits of
stress and of deflection. Beside it, the lightest bar on paper, whose drawing meets both exactly.
"""

import numpy as np
from scipy.optimize import minimize

import phenes

LENGTH, FORCE = 300.0, 900.0  # mm, N
STEEL = 210e3  # N/mm^2
space = phenes.Space(
    width=phenes.Real(5, 40, unit="mm", noise=0.4), height=phenes.Real(5, 60, unit="mm", noise=0.3)
)


def bracket(width, height):
    """Mass in kg, and how far stress and deflection are above their limits."""
    stress = 6 * FORCE * LENGTH / (width * height**2)
    deflection = 4 * FORCE * LENGTH**3 / (STEEL * width * height**3)
    mass = 7.85e-6 * LENGTH * width * height
    slender = height / width - 3
    return mass, {
        "stress": stress - 120, "deflection": deflection - 0.8, "slender": slender
    }  # fmt: skip


result = phenes.minimize(bracket, space, budget=80, constraints=phenes.chance(0.999), seed=0)
limits = {"type": "ineq", "fun": lambda x: -np.array(list(bracket(*x)[1].values()))}
on_paper = minimize(lambda x: bracket(*x)[0], [20, 30], constraints=limits).x

print(result)
for name, design in {"on paper": on_paper, "phenes": np.asarray(result.x)}.items():
    milled = design + [0.4, 0.3] * np.random.default_rng(1).standard_normal((1_000_000, 2))
    good = np.all([c <= 0 for c in bracket(*milled.T)[1].values()], axis=0)
    print(f"{name}: {100 * good.mean():.2f} % survive at {bracket(*design)[0]:.3f} kg")
