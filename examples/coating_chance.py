"""An antireflection coating of four layers that 95 % of the runs must meet.

Quarter-wave layers of two materials on glass, each some nanometres off when it is deposited. The
mean reflectance over the visible band should be least, while no single wavelength of a good coating
reflects more than 0.5 %: a chance constraint, with the worst wavelength as its margin.
"""

import numpy as np

import phenes

GLASS, INDICES = 1.52, (1.38, 2.05, 1.70, 2.05)  # from the air inwards
WAVES = np.linspace(450, 650, 21)  # nm
space = phenes.Space({f"layer{k}": phenes.Real(5, 220, unit="nm", noise=1.5) for k in range(4)})


def reflectance(layers):
    """Share of the light that is reflected at each wavelength: the matrix method."""
    field = np.stack([np.ones_like(WAVES), np.full_like(WAVES, GLASS)]).astype(complex)
    for n, thick in zip(INDICES[::-1], list(layers)[::-1], strict=True):
        delta = 2 * np.pi * n * thick / WAVES
        cos, sin = np.cos(delta), 1j * np.sin(delta)
        field = np.stack([cos * field[0] + sin / n * field[1], n * sin * field[0] + cos * field[1]])
    return np.abs((field[0] - field[1]) / (field[0] + field[1])) ** 2


def coating(layers):
    r = 100 * reflectance(layers.values())
    return r.mean(), {"worst wavelength": r.max() - 0.5}


if __name__ == "__main__":
    start = {"layer0": 94, "layer1": 120, "layer2": 76, "layer3": 20}
    wanted = phenes.chance(0.95)
    result = phenes.minimize(coating, space, x0=start, budget=240, constraints=wanted, seed=0)
    print(result)
    rng = np.random.default_rng(1)
    made = np.asarray(result.x) + 1.5 * rng.standard_normal((4000, 4))
    good = np.mean([100 * reflectance(row).max() <= 0.5 for row in made])
    print(f"{100 * good:.1f} % of 4000 simulated coatings meet the limit")
