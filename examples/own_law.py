"""An input law of your own, known by `sample` and `log_prob` alone: a machine whose error grows
with the setting and has heavy tails.

Without a marginal there is no exact phenotype score; `information_mix` needs none, and is unbiased
all the same.
"""

import jax
import jax.numpy as jnp
import optax

import phenes


def scale(theta):
    return 0.2 + 0.1 * jnp.abs(theta)


def sample(key, theta):
    return theta + scale(theta) * jax.random.logistic(key, theta.shape)


def log_prob(x, theta):
    return jnp.sum(jax.scipy.stats.logistic.logpdf(x, theta, scale(theta)))


problem = phenes.OIU(p=phenes.inputs.Law(sample, log_prob), f=lambda x: -jnp.sum(jnp.abs(x - 1.0)))
q0 = phenes.search.IsotropicGaussian(mean=jnp.zeros(5), std=0.1)

for name, estimator in {
    "ES": phenes.estimators.genotype,
    "information mix": phenes.estimators.information_mix(),
}.items():
    strategy = phenes.es(
        problem.p, estimator, phenes.weightings.standardise, optax.sgd(1.0), popsize=50, std=0.1
    )
    run = jax.jit(
        jax.vmap(lambda k, s=strategy: phenes.run(k, problem, s, q0, steps=300)[0].q.mean)
    )
    means = run(jax.random.split(jax.random.key(0), 20))
    print(
        f"{name}: mean aim {jnp.mean(means):.2f}, spread over seeds"
        f" {jnp.mean(jnp.std(means, axis=0)):.3f}"
    )
