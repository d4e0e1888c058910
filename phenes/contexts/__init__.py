"""Contextual optimisation under input uncertainty (the paper's appendix B).

A context c comes, an answer x is given, f(x, c) comes back. The context rides in theta and in x;
its law carries no psi, so problem, estimators, strategy and loop are those of the whole library::

    source = contexts.Cases(rows, labels)              # what comes; labels are for f only
    problem = phenes.OIU(contexts.Draw(), contexts.is_correct)   # f sees Answer(context, answer)
    q = contexts.DirichletPolicy(contexts.Concentrated(network, 10.0), source)
    strategy = contexts.learner(
        problem.p, phenes.estimators.phenotype, contexts.belief, optax.adam(1e-2)
    )
    state, info = phenes.run(key, problem, strategy, q, steps=40_000)
"""

import warnings
from typing import Any

from phenes.contexts.em import em, expected_log_joint, log_likelihood, responsibilities
from phenes.contexts.experts import (
    ExpertAnswer,
    ExpertMarginal,
    ExpertPosterior,
    HiddenExpert,
    Labels,
    Mixture,
    Numbers,
)
from phenes.contexts.networks import Concentrated, Constant, Table
from phenes.contexts.policies import AnswerLogits, DirichletPolicy, Draw, NetworkPolicy, flatten
from phenes.contexts.source import Answer, Case, Cases, is_correct, visible
from phenes.contexts.weights import Baseline, Belief, Weighed, belief, learner, per_context, raw

__all__ = [
    "Answer",
    "AnswerLogits",
    "Baseline",
    "Belief",
    "Case",
    "Cases",
    "Concentrated",
    "Constant",
    "DirichletPolicy",
    "Draw",
    "ExpertAnswer",
    "ExpertMarginal",
    "ExpertPosterior",
    "HiddenExpert",
    "Labels",
    "Mixture",
    "NetworkPolicy",
    "Numbers",
    "Table",
    "Weighed",
    "belief",
    "em",
    "expected_log_joint",
    "flatten",
    "is_correct",
    "learner",
    "log_likelihood",
    "per_context",
    "raw",
    "responsibilities",
    "visible",
]

# what these were called before; the old names are going to disappear
_RENAMED = {
    "Answered": "Answer",
    "Hear": "HiddenExpert",
    "Leaning": "AnswerLogits",
    "Said": "ExpertAnswer",
    "as_it_is": "raw",
    "right": "is_correct",
    "seen": "visible",
    "within": "per_context",
}


def __getattr__(name: str) -> Any:
    """The old names, with a warning."""
    if name not in _RENAMED:
        raise AttributeError(f"module 'phenes.contexts' has no attribute {name!r}")
    new = _RENAMED[name]
    message = f"phenes.contexts.{name} is now called phenes.contexts.{new}"
    warnings.warn(message, DeprecationWarning, stacklevel=2)
    return globals()[new]
