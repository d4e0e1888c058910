"""Whole learners of tables from their parts, for `phenes.run`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

from phenes import estimators, metric, weightings
from phenes.batch import Batch
from phenes.loop import OIU
from phenes.protocols import Estimator, Family, LearningEstimator, SearchLaw
from phenes.rl.tabular import moves
from phenes.rl.tabular.baselines import reward_to_go
from phenes.rl.tabular.law import Episodes, Urns, softmax, total, without_theta
from phenes.rl.tabular.memory import remembered
from phenes.rl.tabular.moves import Move, Number
from phenes.rl.tabular.table import Table
from phenes.search import Dirichlet, IsotropicGaussian
from phenes.strategy import State, Strategy, es, generation_keys

POPSIZE = 100
RATE = 1.2  # learning rate of `scored`, in the units of `moves.kept`
# standard deviation of the first logits: the reading of the paper's N(0, 0.01) that reproduces its
# results
START = 0.01


class Learner(NamedTuple):
    """A whole learner: what `phenes.run` needs, and how to read a policy from the search law.

    Parameters
    ----------
    problem : OIU or Urns
        What is maximised.
    strategy : Strategy
        How.
    start : callable
        key -> q0.
    policy : callable
        q -> preferences [S, A], of which the largest of a row is the action to take.
    """

    problem: Any  # an OIU, or Urns in its place
    strategy: Strategy
    start: Callable[[PRNGKeyArray], SearchLaw]
    policy: Callable[[Family], Float[Array, "s a"]]


def default(table: Table, popsize: int = POPSIZE) -> Learner:
    """What `train` uses for tables, on all of them.

    Dirichlet policies with sum alpha = A kept, moved by what all episodes so far have shown
    (`remembered`).

    Parameters
    ----------
    table : Table
        The environment.
    popsize : int
        Episodes in a generation.

    Returns
    -------
    Learner
        For `phenes.run`.
    """
    concentration = float(table.actions)
    move = moves.towards(concentration, 1.0)
    return dirichlet(table.limited(horizon(table)), popsize, concentration, move, remembered())


def scored(table: Table, popsize: int = POPSIZE) -> Learner:
    """The exact phenotype score with reward-to-go, and no memory but a baseline.

    alpha = 1 at first and sum alpha kept, natural gradient in log alpha. Rewards are discounted
    over two step limits: where nothing else decides, sooner is better, and a greedy policy cannot
    dawdle.

    Parameters
    ----------
    table : Table
        The environment.
    popsize : int
        Episodes in a generation.

    Returns
    -------
    Learner
        For `phenes.run`.
    """
    limit = horizon(table)
    concentration = float(table.actions)
    estimator = reward_to_go(discount=1 - 0.5 / limit)
    return dirichlet(
        table.limited(limit), popsize, concentration, moves.kept(concentration, RATE), estimator
    )


def horizon(table: Table) -> int:
    """The step limit of the table; without one, ten times the number of states.

    Enough to reach any state, and to detect episodes that do not end.
    """
    return 10 * table.states if table.limit is None else table.limit


def dirichlet(
    table: Table,
    popsize: int,
    concentration: Number,
    move: Move,
    estimator: Estimator | LearningEstimator = estimators.phenotype,
    drawn: bool = False,
) -> Learner:
    """Dirichlet policies from alpha = concentration / A on.

    Parameters
    ----------
    table : Table
        The environment.
    popsize : int
        Episodes in a generation.
    concentration : float
        Sum of alpha of each state at first.
    move : Move
        How alpha moves, one of `tabular.moves`.
    estimator : Estimator
        Estimator of the gradient.
    drawn : bool
        Draw theta of each individual, which estimators other than the phenotype one look at; else
        episodes come from urns, with the same law.

    Returns
    -------
    Learner
        For `phenes.run`.
    """
    record = isinstance(estimator, LearningEstimator)
    p = Episodes(table, record=record)
    strategy = es(
        p,
        estimator,
        weightings.standardise,
        optax.sgd(move.rate),
        popsize,
        metric=move.metric,
        move=move.move,
    )
    q0 = Dirichlet(jnp.full((table.states, table.actions), concentration / table.actions))
    problem = OIU(p, total) if drawn else Urns(table, popsize, record)
    ready = drawn_together(strategy, popsize) if drawn else without_theta(strategy)
    return Learner(problem, ready, lambda key: q0, lambda q: q.mean)


def gaussian(
    table: Table,
    popsize: int,
    sigma: Number,
    rate: Number,
    estimator: Estimator | LearningEstimator = estimators.genotype,
    policy: Callable[..., Array] = softmax,
    mirrored: bool = False,
    far: float = START,
) -> Learner:
    """Logits [S A] with Gaussian search of a fixed spread around the mean, plain gradient.

    Parameters
    ----------
    table : Table
        The environment.
    popsize : int
        Episodes in a generation.
    sigma : float
        The spread.
    rate : float
        Learning rate of plain gradient ascent.
    estimator : Estimator
        Estimator of the gradient.
    policy : callable
        Reads the logits: `softmax` or `greedy`.
    mirrored : bool
        Draw pairs.
    far : float
        Standard deviation of the first mean.

    Returns
    -------
    Learner
        For `phenes.run`.
    """
    p, shape = Episodes(table, policy), (table.states, table.actions)
    strategy = es(
        p,
        estimator,
        weightings.standardise,
        optax.sgd(rate),
        popsize,
        metric=metric.plain,
        std=sigma,  # pyright: ignore[reportArgumentType]  # it may be traced
        mirrored=mirrored,
    )

    def start(key: PRNGKeyArray) -> IsotropicGaussian:
        return IsotropicGaussian(
            far * jax.random.normal(jax.random.fold_in(key, popsize), (shape[0] * shape[1],)), sigma
        )

    return Learner(OIU(p, total), strategy, start, lambda q: q.mean.reshape(shape))


def log_gamma(key: PRNGKeyArray, alpha: Float[Array, "*s"], n: int) -> Float[Array, "n *s"]:
    """Logarithms of Gamma(alpha) variates, [n, ...], in single precision.

    Below alpha = .01 the variates themselves underflow.
    """
    shape = (n, *alpha.shape)
    small = alpha.astype(jnp.float32)[None]
    d = small + 2 / 3
    c = 1 / jnp.sqrt(9 * d)

    def propose(carry):
        t, log_v, waiting = carry
        normal, uniform = jax.random.split(jax.random.fold_in(key, t))
        x = jax.random.normal(normal, shape, jnp.float32)
        root = 1 + c * x
        new = 3 * jnp.log(jnp.maximum(root, jnp.finfo(jnp.float32).tiny))
        log_u = jnp.log1p(-jax.random.uniform(uniform, shape, jnp.float32))
        fits = (root > 0) & (log_u < 0.5 * x * x + d * (1 - jnp.exp(new) + new))
        return t + 1, jnp.where(waiting & fits, new, log_v), waiting & ~fits

    start = (jnp.int32(1), jnp.zeros(shape, jnp.float32), jnp.ones(shape, bool))
    log_v = lax.while_loop(lambda carry: jnp.any(carry[2]), propose, start)[1]
    log_u = jnp.log1p(-jax.random.uniform(jax.random.fold_in(key, 0), shape, jnp.float32))
    return jnp.log(d) + log_v + log_u / small


def log_dirichlet(key: PRNGKeyArray, alpha: Float[Array, "*s k"], n: int) -> Float[Array, "n *s k"]:
    """Log-probabilities of n policies."""
    return jax.nn.log_softmax(log_gamma(key, alpha, n).astype(alpha.dtype), axis=-1)


def drawn_together(strategy: Strategy, popsize: int) -> Strategy:
    """The strategy with theta from `log_dirichlet`. For estimators that do not look at xi."""

    def ask(key: PRNGKeyArray, state: State) -> Batch:
        keys = generation_keys(key, state.generation)
        return Batch(theta=log_dirichlet(keys.theta, state.q.alpha, popsize), key=keys.estimator)

    return strategy._replace(ask=ask)
