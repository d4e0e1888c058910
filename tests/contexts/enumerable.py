"""Problems so small that every context, expert and answer can be listed: expectations are sums, and
autodiff of them is the truth.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from phenes import contexts
from phenes.batch import Batch
from phenes.contexts import Answer, ExpertAnswer
from phenes.diagnostics import individual_scores
from tests.laws.statistics import once

C, K, Y = 3, 2, 3  # contexts, experts, answers
ROWS = jnp.asarray(np.random.default_rng(0).normal(size=(C, 2)))
WORTH = jnp.asarray(np.random.default_rng(1).normal(size=(C, Y)))  # f(c, x): any numbers
RIGHT = jnp.asarray(np.eye(Y)[[2, 0, 1]])  # f(c, x) in {0, 1}, one answer right in each context


def table_policy(seed=0, total=None):
    """A Dirichlet table: contexts are 0, 1, 2."""
    rows = contexts.Table(np.random.default_rng(seed).normal(size=(C, Y)))
    return contexts.DirichletPolicy(
        contexts.Concentrated(rows, total) if total else rows, contexts.Cases(np.arange(C))
    )


def network_policy(seed=0):
    network = eqx.nn.MLP(2, Y, 4, 1, key=jax.random.key(seed))
    return contexts.DirichletPolicy(network, contexts.Cases(ROWS))


def mixture(seed=0):
    keys = jax.random.split(jax.random.key(seed), K + 1)
    experts = [
        contexts.Labels(eqx.nn.Linear(2, Y, key=keys[1])),
        contexts.Labels(eqx.nn.MLP(2, Y, 3, 1, key=keys[2])),
    ]
    return contexts.Mixture(eqx.nn.Linear(2, K, key=keys[0]), experts, contexts.Cases(ROWS))


def listed(source, *sizes):
    """All contexts of `source` with all combinations of further indices: the rows, and one index
    array for each of `sizes`.
    """
    index = jnp.indices((source.size, *sizes)).reshape(1 + len(sizes), -1)
    return jax.tree.map(lambda leaf: leaf[index[0]], source.rows), index


def all_answers(q):
    """x of every (context, answer), with its probability and the index of its context."""
    rows, (c, y) = listed(q.contexts, Y)
    x = Answer(rows, y)
    return x, jnp.exp(jax.vmap(q.log_answers)(rows)[jnp.arange(y.size), y]) / C, c


def all_said(q):
    """theta of every (context, expert, answer) of a mixture, with its probability, and the index of
    its context.
    """
    rows, (c, k, y) = listed(q.contexts, K, Y)
    theta = ExpertAnswer(rows, k, y)
    return theta, jnp.exp(jax.vmap(q.log_prob)(theta)) / C, c


def expected(q, worth):
    """F(psi) = E_c sum_x P(x | c) f(c, x)."""
    return jnp.sum(jnp.exp(jax.vmap(q.log_answers)(q.contexts.rows)) * worth) / C


def flat(g):
    return np.asarray(ravel_pytree(eqx.filter(g, eqx.is_inexact_array))[0])


def exact(q, worth):
    """The gradient of the exact expected value by automatic differentiation."""
    return flat(once(eqx.filter_grad(expected))(q, worth))


def mean_estimate(estimator, p, q, batch, probability, f):
    """E[f times the score]: the population holds everything there is, weighed by how likely it
    is.
    """
    return flat(
        once(lambda q, batch, w: estimator(p, q, batch, w))(q, batch, f.size * probability * f)
    )


def batch_of(x, theta=None):
    return Batch(theta=theta, x=x)


def scores(estimator, p, q, batch):
    """The score of each individual alone, in one compilation."""
    return once(lambda q, batch: individual_scores(estimator, p, q, batch))(q, batch)
