"""Any Python function, one x at a time: here NumPy, and a measurement that sometimes fails. A
failure is counted, and survived.
"""

import jax
import numpy as np
import optax

import phenes

random = np.random.default_rng(0)


def measure(x):
    if random.random() < 0.05:
        raise RuntimeError("the part broke")
    return -np.sum((x - 1.0) ** 2)


def stop_when_good(state, batch, info):
    return info.f_mean > -0.4  # the noise alone costs 5 * 0.2**2 = 0.2


problem = phenes.OIU(p=phenes.inputs.GaussianNoise(0.2), f=measure)
strategy = phenes.es(
    problem.p,
    phenes.estimators.phenotype,
    phenes.weightings.standardise,
    optax.sgd(0.5),
    popsize=40,
    std=0.2,
)
q0 = phenes.search.IsotropicGaussian(mean=np.zeros(5), std=0.2)
state, info = phenes.run_host(
    jax.random.key(0), problem, strategy, q0, steps=200, callback=stop_when_good
)

print(f"aim at {np.round(state.q.mean, 2)} after {state.generation} generations")
print(f"{info.failed.sum()} of {40 * state.generation} measurements failed")
