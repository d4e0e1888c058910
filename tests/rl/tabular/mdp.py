"""A small problem of which every episode can be written down, and so the exact gradient of E f for
every search law.
"""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm

from phenes.inputs.counts import DirichletMultinomial
from phenes.rl.tabular import Table, state_values

# states are met again, rewards come on the way and at the end, episodes end by themselves and by
# the limit
TABLE = Table(
    [
        [
            [(0.7, 0, 0.3, False), (0.3, 1, -0.5, False)],
            [(0.6, 1, 0.0, False), (0.4, 2, 0.4, False)],
        ],
        [[(1.0, 0, 0.2, False)], [(0.5, 2, 1.0, False), (0.5, 1, -1.0, True)]],
        [[(0.8, 2, -0.2, False), (0.2, 0, 2.0, True)], [(1.0, 1, 0.6, False)]],
    ],
    [0.6, 0.4, 0.0],
    limit=4,
    name="small",
)


class Enumerated(NamedTuple):
    """All episodes: how often each action was taken [x, S, A], the return, and the probability of
    the environment's part.
    """

    counts: jax.Array
    total: jax.Array
    chance: jax.Array


def enumerate_episodes(table=TABLE):
    follow, chance, reward, ends = table.next, table.probability, table.reward, table.ends
    done, open_ = (
        [],
        [
            (s, np.zeros(follow.shape[:2]), 0.0, p)
            for s, p in enumerate(np.asarray(table.start))
            if p > 0
        ],
    )
    for _ in range(table.limit):
        later = []
        for (s, counts, total, p), a, k in itertools.product(
            open_, range(table.actions), range(table.outcomes)
        ):
            if chance[s, a, k] == 0:
                continue
            more = counts.copy()
            more[s, a] += 1
            episode = (follow[s, a, k], more, total + reward[s, a, k], p * chance[s, a, k])
            (done if ends[s, a, k] else later).append(episode)
        open_ = later
    _, counts, total, p = zip(*(done + open_), strict=True)
    return Enumerated(jnp.asarray(np.array(counts)), jnp.asarray(total), jnp.asarray(p))


EPISODES = enumerate_episodes()


def expected_return(log_policy):
    """E f of one policy [S, A]."""
    likelihood = jnp.exp(jnp.sum(EPISODES.counts * log_policy[None], axis=(1, 2)))
    return jnp.sum(EPISODES.chance * likelihood * EPISODES.total)


def dirichlet_objective(log_alpha):
    """E f under P_psi, by summing over episodes."""
    likelihood = jnp.exp(jax.vmap(DirichletMultinomial(log_alpha).log_prob)(EPISODES.counts))
    return jnp.sum(EPISODES.chance * likelihood * EPISODES.total)


def softmax_objective(mean, sigma, nodes=24):
    """E f under logits ~ N(mean, sigma^2): two actions, so only the three differences matter, each
    by Gauss-Hermite quadrature.
    """
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight = jnp.asarray(weight / weight.sum())
    grid = jnp.stack(
        jnp.meshgrid(*[jnp.asarray(x)] * TABLE.states, indexing="ij"), axis=-1
    ).reshape(-1, TABLE.states)
    weights = jnp.prod(
        jnp.stack(jnp.meshgrid(*[weight] * TABLE.states, indexing="ij"), axis=-1).reshape(
            -1, TABLE.states
        ),
        axis=1,
    )
    logits = mean.reshape(TABLE.states, 2)
    difference = (logits[:, 1] - logits[:, 0])[None] + np.sqrt(2) * sigma * grid
    log_policies = jnp.stack(
        [jax.nn.log_sigmoid(-difference), jax.nn.log_sigmoid(difference)], axis=-1
    )
    return weights @ jax.lax.map(expected_return, log_policies, batch_size=2048)


def greedy_objective(mean, sigma):
    """E f when each individual plays its best actions: a mixture of the eight deterministic
    policies.
    """
    logits = mean.reshape(TABLE.states, 2)
    second = norm.cdf((logits[:, 1] - logits[:, 0]) / (np.sqrt(2) * sigma))
    out = jnp.zeros(())
    for actions in itertools.product(range(2), repeat=TABLE.states):
        chance = jnp.prod(
            jnp.stack([second[s] if a else 1 - second[s] for s, a in enumerate(actions)])
        )
        out += chance * (TABLE.start @ state_values(TABLE, jnp.asarray(actions), TABLE.limit))
    return out
