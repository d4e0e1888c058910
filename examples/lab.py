"""A lab that weighs what it really put in: ask and tell, results in parts, one coordinate that
nobody measured, noise that is learnt.
"""

import numpy as np

import phenes

rng = np.random.default_rng(0)
BEST = np.array([2.0, -1.0, 0.5])


def lab(theta):
    """What was weighed out instead of theta (the third balance is broken), and the yield that came
    of it.
    """
    x = theta + 0.05 + [0.1, 0.2, 0.1] * rng.standard_normal(theta.shape)
    measured = np.where(np.arange(3) < 2, x, np.nan)
    return measured, 10 - np.sum((x - BEST) ** 2, axis=1)


opt = phenes.Optimizer(
    x0=np.zeros(3), sigma0=1.0, noise="learn", maximize=True, popsize=12, budget=1200, seed=0
)
while not opt.stop():
    theta = opt.ask()
    for part in np.array_split(theta, 3):  # three batches a day
        x, f = lab(part)
        opt.tell(part, f, realised=x)

print(opt.result)
