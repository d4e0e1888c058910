"""Contextual optimisation under input uncertainty (the paper's appendix B): a context c comes, an
answer x is given, f(x, c) comes back.

The context rides in theta and in x; its law carries no psi, so problem, estimators, strategy and
loop are those of the rest of the library.

    source = contexts.Cases(rows, labels)                                         # what comes; labels are for f only
    problem = phenes.OIU(contexts.Draw(), contexts.right)                         # f sees x = Answered(context, answer)
    q = contexts.DirichletPolicy(contexts.Concentrated(network, 10.0), source)
    strategy = contexts.learner(problem.p, phenes.estimators.phenotype, contexts.belief, optax.adam(1e-2))
    state, info = phenes.run(key, problem, strategy, q, steps=40_000)
"""

from phenes.contexts.em import em, expected_log_joint, log_likelihood, responsibilities
from phenes.contexts.experts import Hear, Labels, Mixture, Numbers, Said
from phenes.contexts.networks import Concentrated, Constant, Table
from phenes.contexts.policies import DirichletPolicy, Draw, Leaning, NetworkPolicy, flatten
from phenes.contexts.source import Answered, Case, Cases, right, seen
from phenes.contexts.weights import Baseline, Belief, Weighed, as_it_is, belief, learner, within

__all__ = [
    "Answered",
    "Baseline",
    "Belief",
    "Case",
    "Cases",
    "Concentrated",
    "Constant",
    "DirichletPolicy",
    "Draw",
    "Hear",
    "Labels",
    "Leaning",
    "Mixture",
    "NetworkPolicy",
    "Numbers",
    "Said",
    "Table",
    "Weighed",
    "as_it_is",
    "belief",
    "em",
    "expected_log_joint",
    "flatten",
    "learner",
    "log_likelihood",
    "responsibilities",
    "right",
    "seen",
    "within",
]
