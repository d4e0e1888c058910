"""Learners with one interface: start, advance by some rounds, answer. One round is one context, one
answer, one f.

First the methods of the library; then what others do with the same features: Banditron and
epsilon-greedy on the same feedback, logistic regression that is told all labels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jaxtyping import Array, Float, PRNGKeyArray

import phenes
from phenes import contexts, estimators, metric, search
from phenes.contexts import Answer, is_correct
from phenes_lab.reproduce.contexts.data import Split

MEMORY = 0.999  # of the running information of the mix: a generation is a single round here
POPSIZE = 10  # rounds in a generation, where it is not one


class Task(NamedTuple):
    """The problem as a learner knows it: the source of contexts, and the sizes."""

    source: contexts.Cases
    features: int
    labels: int
    total: float  # sum of alpha of Dirichlet policies
    experts: int  # in a mixture


class Learner(NamedTuple):
    """start(key) -> state; advance(key, state, rounds) -> (state, mean f of these rounds);
    scores(state, c) -> [labels].

    gate(state, c): log-probabilities of the experts, of those that have some.
    """

    start: Callable[[PRNGKeyArray], Any]
    advance: Callable[[PRNGKeyArray, Any, int], tuple[Any, Float[Array, ""]]]
    scores: Callable[[Any, Any], Float[Array, " labels"]]
    gate: Callable[[Any, Any], Float[Array, " experts"]] | None = None


Point = dict[str, Any]
Build = Callable[[Task, Point], Learner]


def zeros(network: Any) -> Any:
    """All weights 0: every answer as likely as any other."""
    return jax.tree.map(
        lambda leaf: jnp.zeros_like(leaf) if eqx.is_inexact_array(leaf) else leaf, network
    )


def linear(features: int, outputs: Any) -> eqx.nn.Linear:
    return zeros(eqx.nn.Linear(features, outputs, use_bias=False, key=jax.random.key(0)))


def going_on(
    problem: phenes.OIU, strategy: phenes.Strategy, popsize: int
) -> Callable[[PRNGKeyArray, Any, int], Any]:
    """The loop of the library, taken up where it was left."""

    def advance(key, state, rounds):
        state, info = phenes.run(key, problem, strategy, state, rounds // popsize)
        return state, jnp.mean(info.f_mean)

    return advance


def dirichlet(estimator: Any, weights: Callable[[Task, Point], Any], width: int = 0) -> Build:
    """A Dirichlet policy behind a linear map of the features, or behind one hidden layer of `width`
    units.
    """

    def build(task: Task, at: Point) -> Learner:
        problem = phenes.OIU(contexts.Draw(), contexts.is_correct)
        strategy = contexts.learner(problem.p, estimator, weights(task, at), optax.sgd(at["rate"]))

        def start(key):
            network = (
                eqx.nn.MLP(task.features, task.labels, width, 1, key=key)
                if width
                else linear(task.features, task.labels)
            )
            return contexts.DirichletPolicy(contexts.Concentrated(network, task.total), task.source)

        return Learner(
            lambda key: strategy.init(start(key)),
            going_on(problem, strategy, 1),
            lambda state, c: state.q.log_answers(c),
        )

    return build


def by_belief(task: Task, at: Point) -> Any:
    return contexts.Belief(at["doubt"]) if "doubt" in at else contexts.belief


def minus_mean(task: Task, at: Point) -> Any:
    """f minus its running mean: the gradient of E f itself."""
    return contexts.Baseline(contexts.Constant(jnp.asarray(1 / task.labels)), optax.sgd(0.01))


def minus_expected(task: Task, at: Point) -> Any:
    """f minus what a linear model expects in this context."""
    return contexts.Baseline(linear(task.features, "scalar"), optax.sgd(0.01))


def over_weights(estimator: Callable[[int], Any]) -> Build:
    """Gaussian search over the weights of the linear map, by the mean; the estimator is made for
    their number.
    """

    def build(task: Task, at: Point) -> Learner:
        theta, logits = contexts.flatten(linear(task.features, task.labels))
        problem = phenes.OIU(contexts.NetworkPolicy(logits, task.source), contexts.is_correct)
        weighed = contexts.Weighed(estimator(theta.size), by_belief(task, at))
        optimiser = optax.sgd(at["rate"])
        strategy = phenes.es(
            problem.p,
            weighed,
            contexts.raw,
            optimiser,
            POPSIZE,
            metric=metric.plain,
            std=at["sigma"],
        )
        q = search.IsotropicGaussian(theta, 1.0)
        scores = lambda state, c: logits(state.q.mean, c)  # noqa: E731
        return Learner(lambda key: strategy.init(q), going_on(problem, strategy, POPSIZE), scores)

    return build


def mix() -> Any:
    return estimators.information_mix(memory=MEMORY)


def mix_of_weights(size: int) -> Any:
    """With a guess at the information to start from: without one the first step is the genotype's,
    which throws the weights far off.
    """
    return estimators.information_mix(order=1, info=jnp.full(size, 0.1))


def some_mixture(task: Task, key: PRNGKeyArray) -> contexts.Mixture:
    """A linear gate and linear experts, small and random: experts that start equal would stay
    so.
    """
    keys = jax.random.split(key, task.experts + 1)
    network = lambda outputs, key: eqx.nn.Linear(task.features, outputs, use_bias=False, key=key)  # noqa: E731
    experts = [contexts.Labels(network(task.labels, k)) for k in keys[1:]]
    return contexts.Mixture(network(task.experts, keys[0]), experts, task.source)


def mixture(estimator: Any, weights: Callable[[Task, Point], Any]) -> Build:
    """Gate and experts learnt together from what was heard."""

    def build(task: Task, at: Point) -> Learner:
        problem = phenes.OIU(contexts.HiddenExpert(), contexts.is_correct)
        strategy = contexts.learner(
            problem.p, estimator, weights(task, at), optax.adam(at["rate"]), POPSIZE
        )
        return Learner(
            lambda key: strategy.init(some_mixture(task, key)),
            going_on(problem, strategy, POPSIZE),
            lambda state, c: state.q.log_answers(c),
            lambda state, c: state.q.log_gate(c),
        )

    return build


def told(task: Task, at: Point) -> Learner:
    """EM for the same mixtures, with all labels in every sweep: a sweep for each measurement,
    however many rounds lie between.
    """
    rows = task.source.rows
    data = contexts.Answer(rows.c, rows.hidden.astype(jnp.int32))

    def advance(key, q, rounds):
        return contexts.em(q, data, optax.adam(at["rate"]), sweeps=1, steps=4)[0], jnp.ones(())

    return Learner(
        lambda key: some_mixture(task, key),
        advance,
        lambda q, c: q.log_answers(c),
        lambda q, c: q.log_gate(c),
    )


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
