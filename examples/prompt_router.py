"""Which prompt for which question? On SIMULATED scores: no language model is called here, none was,
and nothing is said about any.

A question is a vector of 4 numbers (think of its embedding), a prompt has a hidden taste for some
of them, and the score of an answer is a noisy number in [0, 1]. To use it in earnest, replace
`simulated` by a call that asks the model and grades its answer.
"""

import equinox as eqx
import jax
import numpy as np
import optax

import phenes
from phenes import contexts

PROMPTS = ["answer briefly", "think step by step", "quote your sources"]
rng = np.random.default_rng(0)
taste = 1.5 * rng.normal(size=(len(PROMPTS), 4))


def quality(c, k):
    return 1 / (1 + np.exp(-taste[k] @ c))


def simulated(x):
    return float(np.clip(quality(x.context, int(x.answer)) + 0.1 * rng.normal(), 0, 1))


questions = rng.normal(size=(1000, 4))
q0 = contexts.DirichletPolicy(
    contexts.Concentrated(eqx.nn.Linear(4, len(PROMPTS), key=jax.random.key(0)), 10.0),
    contexts.Cases(questions),
)
# some questions are easy for all prompts
baseline = contexts.Baseline(eqx.nn.Linear(4, "scalar", key=jax.random.key(1)), optax.sgd(0.05))
problem = phenes.OIU(contexts.Draw(), simulated)
strategy = contexts.learner(
    problem.p, phenes.estimators.phenotype, baseline, optax.adam(0.02), popsize=20
)
state, info = phenes.run_host(jax.random.key(0), problem, strategy, q0, steps=200)

table = np.array([[quality(c, k) for k in range(len(PROMPTS))] for c in questions])
routed = np.argmax(jax.vmap(state.q.log_answers)(questions.astype(np.float32)), axis=1)
print(f"simulated quality: routed {table[np.arange(1000), routed].mean():.3f}")
print(
    f"best single prompt {table.mean(axis=0).max():.3f}, best possible"
    f" {table.max(axis=1).mean():.3f}"
)
