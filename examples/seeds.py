"""Any estimator, any weighting, any optax optimiser, compiled, on ten seeds at once: ES against
PAES.
"""

import jax
import jax.numpy as jnp
import optax

import phenes

# what is aimed at with an error of 0.3; the best E f is at the origin, -10 * 0.3**2
problem = phenes.OIU(p=phenes.inputs.GaussianNoise(0.3), f=lambda x: -jnp.sum(x**2))
q0 = phenes.search.IsotropicGaussian(mean=jnp.ones(10), std=0.1)
keys = jax.random.split(jax.random.key(0), 10)

for name, estimator in {
    "ES": phenes.estimators.genotype,
    "PAES": phenes.estimators.phenotype,
}.items():
    strategy = phenes.es(
        problem.p, estimator, phenes.weightings.standardise, optax.sgd(1.0), popsize=100, std=0.1
    )
    state, info = jax.jit(jax.vmap(lambda k, s=strategy: phenes.run(k, problem, s, q0, steps=300)))(
        keys
    )
    distance = jnp.linalg.norm(state.q.mean, axis=1)
    print(
        f"{name}: distance from the optimum {jnp.median(distance):.3f} (median of {len(keys)}"
        " seeds)"
    )
