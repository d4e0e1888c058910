"""A lab over several weeks: up to eight batches of twelve, with a file between them. The balances
are read, but for the third; their errors are learnt.
"""

import tempfile
from pathlib import Path

import numpy as np

import phenes

rng = np.random.default_rng(0)
BEST = np.array([2.0, -1.0, 0.5])
COST = 0.001  # of one experiment, in units of the yield
NAMES = ["acid, g", "base, g", "salt, g"]


def lab(theta):
    """What was weighed out instead of theta (the third balance is broken), and the yield that came
    of it.
    """
    x = theta + 0.05 + [0.1, 0.2, 0.1] * rng.standard_normal(theta.shape)
    measured = np.where(np.arange(3) < 2, x, np.nan)
    return measured, 10 - np.sum((x - BEST) ** 2, axis=1)


with tempfile.TemporaryDirectory() as folder:
    file, picture = Path(folder, "lab.phenes"), Path(folder, "model.png")
    opt = phenes.Optimizer(
        x0=np.zeros(3), sigma0=1.0, noise="learn", maximize=True, batch=12, budget=96, seed=0
    )
    while not opt.stop():
        opt.ask()
        opt.plot(NAMES, "yield").savefig(picture)  # where the batch goes, and why
        opt.save(file)

        opt = phenes.Optimizer.load(file)  # a week later
        for part in np.array_split(opt.pending, 3):  # results come in as they are ready
            x, f = lab(part)
            opt.tell(part, f, realised=x)
        advice = opt.suggest_stop(COST)
        print(f"{opt.nfev} experiments: {advice.text}")
        if advice.stop:  # one more batch, which verifies the answer
            opt.budget = min(opt.budget, opt.nfev + opt.batch)

print(opt.result)
