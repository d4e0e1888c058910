"""Which parts of the E24 and E12 series for a low-pass filter of 1 kHz, if parts have tolerances?

Resistors and capacitors come in steps: what is intended is a number of the series, a whole number.
What is soldered in is up to 1 % off for resistors and 10 % for capacitors, and is measured. 150
filters are built; beside them, the best on paper of all 1.3 million, for whom f is a formula.
"""

import numpy as np

import phenes

E24 = np.array([10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91])  # fmt: skip  # noqa: E501
OHM = np.concatenate([100 * E24, 1000 * E24])  # 1 to 91 kOhm
FARAD = np.concatenate([1e-10 * E24[::2], 1e-9 * E24[::2]])  # E12: 1 to 82 nF
# tolerances are two standard deviations; 24 or 12 steps are a factor of 10
STEPS = np.array([0.01 * 24, 0.01 * 24, 0.10 * 12, 0.10 * 12]) / np.log(10) / 2
R, C = phenes.Integer(0, OHM.size - 1), phenes.Integer(0, FARAD.size - 1)
space = phenes.Space(r1=R, r2=R, c1=C, c2=C, noise=STEPS)


def part(number, series, steps):
    """The part of this number, as far off as what lies between two numbers says."""
    nominal = np.clip(np.rint(number), 0, series.size - 1).astype(int)
    return series[nominal] * 10 ** ((number - nominal) / steps)


def loss(r1, r2, c1, c2):
    """A Sallen-Key stage: how far it is from 1 kHz and Q = 0.707; below 1 it is good."""
    r1, r2 = part(r1, OHM, 24), part(r2, OHM, 24)
    c1, c2 = part(c1, FARAD, 12), part(c2, FARAD, 12)
    root = np.sqrt(r1 * r2 * c1 * c2)
    f0, q = 1 / (2 * np.pi * root), root / (c2 * (r1 + r2))
    return (np.log(f0 / 1000) / 0.07) ** 2 + (np.log(q / 0.707) / 0.07) ** 2


result = phenes.minimize(loss, space, budget=150, seed=0)
grid = np.meshgrid(*(np.arange(n) for n in (48, 48, 24, 24)), indexing="ij")
on_paper = [axis.flat[np.argmin(loss(*grid))] for axis in grid]

print(result)
for name, design in {"on paper": on_paper, "phenes": np.asarray(result.x)}.items():
    built = design + STEPS * np.random.default_rng(1).standard_normal((100_000, 4))
    good = 100 * np.mean(loss(*built.T) < 1)
    print(f"{name}: {good:.1f} % of the filters built are good")
