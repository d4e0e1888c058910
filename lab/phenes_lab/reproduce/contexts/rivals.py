"""What others do with the same features: Banditron and epsilon-greedy on the same feedback,
logistic regression that is told all labels.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from phenes.contexts import Answer, is_correct
from phenes_lab.reproduce.contexts.data import Split
from phenes_lab.reproduce.contexts.learners import Learner, Point, Task


def _by_round(task: Task, act: Any, update: Any) -> Learner:
    """A matrix of weights [labels, features], changed after every round. act(W, c) ->
    log-probabilities of the answers.
    """

    def one(W, key):
        where, which = jax.random.split(key)
        context = task.source(where)
        log_probs = act(W, context.c)
        answer = jax.random.categorical(which, log_probs)
        f = is_correct(Answer(context, answer))
        return W + update(W, context.c, answer, f, log_probs)[:, None] * context.c[None], f

    def advance(key, state, rounds):
        W, t = state
        W, f = lax.scan(one, W, jax.random.split(jax.random.fold_in(key, t), rounds))
        return (W, t + 1), jnp.mean(f)

    start = lambda key: (  # noqa: E731
        jnp.zeros((task.labels, task.features)),
        jnp.zeros((), jnp.int32),
    )
    return Learner(start, advance, lambda state, c: state[0] @ c)


def _greedy(task: Task, W: Any, c: Any, epsilon: Any) -> Any:
    """The best answer, and with probability epsilon any."""
    best = jax.nn.one_hot(jnp.argmax(W @ c), task.labels)
    return jnp.log((1 - epsilon) * best + epsilon / task.labels)


def banditron(task: Task, at: Point) -> Learner:
    """Kakade, Shalev-Shwartz and Tewari 2008: the perceptron's step, its first half f/P(x) e_x
    without bias from what was tried.
    """

    def update(W, c, answer, f, log_probs):
        e = lambda k: jax.nn.one_hot(k, task.labels)  # noqa: E731
        return f * jnp.exp(-log_probs[answer]) * e(answer) - e(jnp.argmax(W @ c))

    return _by_round(task, lambda W, c: _greedy(task, W, c, at["gamma"]), update)


def epsilon_greedy(task: Task, at: Point) -> Learner:
    """A logistic regression of f for each answer, learnt where the answer was tried."""

    def update(W, c, answer, f, log_probs):
        return (
            at["rate"] * (f - jax.nn.sigmoid(W[answer] @ c)) * jax.nn.one_hot(answer, task.labels)
        )

    return _by_round(task, lambda W, c: _greedy(task, W, c, at["epsilon"]), update)


def logistic(split: Split, points: list[Point], rounds: np.ndarray, seed: int) -> np.ndarray:
    """Test accuracy [points, seeds, rounds] of scikit-learn's logistic regression, told the label
    in each of the rounds so far.
    """
    from sklearn.linear_model import LogisticRegression

    out = np.full((len(points), len(split.train_y), len(rounds)), np.nan)
    for k, (c, y) in enumerate(zip(split.train_c, split.train_y, strict=True)):
        drawn = np.random.default_rng([seed, k]).integers(len(y), size=rounds[-1])
        for j, t in enumerate(rounds):
            # a row that came often counts often; the constant among the features is the bias
            rows, often = np.unique(drawn[:t], return_counts=True)
            for i, at in enumerate(points):
                model = LogisticRegression(C=at["C"], fit_intercept=False, max_iter=5000, tol=1e-3)
                out[i, k, j] = model.fit(c[rows], y[rows], sample_weight=often).score(
                    split.test_c[k], split.test_y[k]
                )
    return out
