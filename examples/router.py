"""A router over black boxes: requests come in, one of three experts is asked, and all that comes
back is a score.

The experts are plain Python functions that nobody can differentiate. The router learns which of
them to ask for what.
"""

import equinox as eqx
import jax
import numpy as np
import optax

import phenes
from phenes import contexts

EXPERTS = [
    lambda c: float(c[0] > 0.3),  # each is right in its own part of the square
    lambda c: float(c[0] < -0.3),
    lambda c: float(abs(c[0]) <= 0.3),
]


def score(x):
    return EXPERTS[int(x.answer)](x.context)


requests = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
network = eqx.nn.MLP(2, len(EXPERTS), 16, 1, key=jax.random.key(0))
q0 = contexts.DirichletPolicy(contexts.Concentrated(network, 10.0), contexts.Cases(requests))

problem = phenes.OIU(contexts.Draw(), score)
strategy = contexts.learner(
    problem.p, phenes.estimators.phenotype, contexts.belief, optax.adam(0.02), popsize=20
)
state, info = phenes.run_host(jax.random.key(0), problem, strategy, q0, steps=150)

fresh = np.random.default_rng(1).uniform(-1, 1, size=(1000, 2)).astype(np.float32)
asked = np.argmax(jax.vmap(state.q.log_answers)(fresh), axis=1)
print(
    f"score of the first 20 requests {info.f_mean[0]:.2f}, of the last 200"
    f" {info.f_mean[-10:].mean():.2f}"
)
print(f"on new requests {np.mean([EXPERTS[k](c) for k, c in zip(asked, fresh, strict=True)]):.2f}")
