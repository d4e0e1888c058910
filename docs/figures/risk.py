"""f at the answer for the mean and at that for the worst tenth."""

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import phenes
from phenes.plots import STYLE

NOISE, DRAWS = 0.3, 40_000


def ledge(x: np.ndarray) -> np.ndarray:
    over = np.maximum(x[..., 0] - 0.5, 0.0)
    return np.sum((x - 0.5) ** 2, axis=-1) + 20 * over**2 + 4 * over


def figure() -> Figure:
    draws = NOISE * np.random.default_rng(0).standard_normal((DRAWS, 2))
    tail = phenes.risk.cvar(0.9)
    with matplotlib.rc_context(STYLE):
        out, axes = plt.subplots(1, 2, figsize=(7.5, 2.8), sharey=True, layout="constrained")
        for ax, objective in zip(axes, (phenes.risk.mean(), tail), strict=True):
            options = {"bounds": (-2, 2), "budget": 80, "seed": 0, "objective": objective}
            result = phenes.minimize(ledge, [0.0, 0.0], 1.0, NOISE, **options)
            f = ledge(result.x + draws)
            worst = np.quantile(f, 0.9)
            bins = np.linspace(0, 4, 60)
            ax.hist(f[f <= worst], bins, color="#9db8d9")
            ax.hist(f[f > worst], bins, color="#c8553d", label="the worst tenth")
            ax.axvline(f.mean(), color="black", linewidth=1, label=f"mean {f.mean():.2f}")
            ax.axvline(
                tail.value(f),
                color="#c8553d",
                linestyle="--",
                label=f"CVaR 90 % {tail.value(f):.2f}",
            )
            aim = f"theta = ({result.x[0]:.2f}, {result.x[1]:.2f})"
            ax.set(title=f"least {result.what}: {aim}", xlabel="f(x)", yticks=[])
            ax.legend(frameon=False)
    return out
