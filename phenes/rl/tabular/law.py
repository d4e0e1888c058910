"""p_theta(x) for episodes: the policy theta acts in the table; f(x) is the return.

Probabilities are those of the actions; the environment's own part does not depend on theta and is
left out, as scores do.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phenes import _validate
from phenes._trees import replace
from phenes.batch import Batch
from phenes.inputs.counts import DirichletMultinomial, Multinomial
from phenes.rl.tabular.playing import Episode, play
from phenes.rl.tabular.table import Table
from phenes.search.dirichlet import Dirichlet
from phenes.strategy import Info, State, Strategy, generation_keys

COUNTS = Multinomial()  # the law of the counts, whatever led to the states
LONG = 1000  # steps, beyond which a table of counts by their size is too much


def softmax(theta: Float[Array, "*d"], shape: tuple[int, int]) -> Float[Array, "s a"]:
    """Log-probabilities from logits.

    What is normalised already (theta of Dirichlet search) stays as it is.

    Parameters
    ----------
    theta : array, shape (S, A) or (S A,)
        The logits.
    shape : tuple of int
        (S, A).

    Returns
    -------
    array, shape (S, A)
        Log-probabilities.
    """
    return jax.nn.log_softmax(theta.reshape(shape), axis=-1)


def greedy(theta: Float[Array, "*d"], shape: tuple[int, int]) -> Float[Array, "s a"]:
    """The best action for certain, the first of equals.

    Not smooth in theta: for `estimators.genotype` only.

    Parameters
    ----------
    theta : array, shape (S, A) or (S A,)
        Preferences.
    shape : tuple of int
        (S, A).

    Returns
    -------
    array, shape (S, A)
        Log-probabilities.
    """
    best = jnp.argmax(theta.reshape(shape), axis=-1)
    return jnp.log(jax.nn.one_hot(best, shape[1], dtype=theta.dtype))


class Episodes(eqx.Module):
    """p_theta(x) of episodes in a table.

    Parameters
    ----------
    table : Table
        The environment.
    policy : callable
        (theta, (S, A)) -> log-probabilities [S, A]: reads theta of Dirichlet search [S, A], or
        logits [S A] of Gaussian search.
    record : bool
        Keep the steps in x, for `reward_to_go`.

    Raises
    ------
    ValueError
        If the table is none, or the policy cannot be called.
    """

    table: Table
    policy: Callable[[Array, tuple[int, int]], Array] = eqx.field(static=True)
    record: bool = eqx.field(static=True)

    def __init__(
        self,
        table: Table,
        policy: Callable[[Array, tuple[int, int]], Array] = softmax,
        record: bool = False,
    ):
        if not isinstance(table, Table):
            raise ValueError(
                f"table must be a Table, such as tabular.load('FrozenLake-v1').table, got {table!r}"
            )
        self.table, self.policy, self.record = (
            table,
            _validate.function("policy", policy, "tabular.softmax"),
            record,
        )

    def log_policy(self, theta: Float[Array, "*d"]) -> Float[Array, "s a"]:
        """Log-probabilities of the actions.

        Parameters
        ----------
        theta : array, shape (S, A) or (S A,)
            The policy.

        Returns
        -------
        array, shape (S, A)
            One row for each state.
        """
        return self.policy(theta, (self.table.states, self.table.actions))

    def sample(self, key: PRNGKeyArray, theta: Float[Array, "*d"]) -> Episode:
        return jax.tree.map(lambda leaf: leaf[0], self.sample_all(key, theta[None]))

    def sample_all(self, key: PRNGKeyArray, theta: Float[Array, "n *d"]) -> Episode:
        return play(self.table, key, jnp.exp(jax.vmap(self.log_policy)(theta)), record=self.record)

    def log_prob(self, x: Episode, theta: Float[Array, "*d"]) -> Float[Array, ""]:
        return COUNTS.log_prob(x.counts, self.log_policy(theta))

    def theta_score(self, x: Episode, theta: Float[Array, "n *d"]) -> Float[Array, "n *d"]:
        """j(a, s) - j(s) pi_theta(a | s), at theta_i, not at the mean.

        Eq. reparameterized-gradient-estimator-example (errata 16, 17).
        """
        if self.policy is not softmax:
            return jax.vmap(jax.grad(self.log_prob, argnums=1))(x, theta)
        visits = jnp.sum(x.counts, axis=-1, keepdims=True)
        return (x.counts - visits * jnp.exp(jax.vmap(self.log_policy)(theta))).reshape(theta.shape)

    def marginal(self, q: Dirichlet) -> "UrnEpisodes":
        _validate.family(self, q, Dirichlet)
        return UrnEpisodes(q.log_alpha)

    def posterior(self, q: Dirichlet, x: Episode) -> Dirichlet:
        return COUNTS.posterior(q, x.counts)

    def marginal_score(self, q: Dirichlet, x: Episode, w: Float[Array, " n"]) -> Dirichlet:
        """The phenotype score in log alpha (errata 22, 24).

        Eq. full-gradient-estimator-for-reinforcement-learning-...
        """
        _validate.family(self, q, Dirichlet)
        if self.table.limit is None or self.table.limit > LONG:
            return COUNTS.marginal_score(q, x.counts, w)
        alpha = q.alpha
        own = _harmonic(alpha, x.counts, w, self.table.limit)
        row = _harmonic(jnp.sum(alpha, axis=-1), jnp.sum(x.counts, axis=-1), w, self.table.limit)
        return replace(q, log_alpha=alpha * (own - row[:, None]))


def _harmonic(
    alpha: Float[Array, "*s"], counts: Float[Array, "n *s"], w: Float[Array, " n"], limit: int
) -> Float[Array, "*s"]:
    """1/N sum_i w_i sum_{l < j_i} 1 / (alpha + l), the paper's form.

    With the sum over individuals inside: counts are small numbers, and the weights of all
    individuals with j_i > l are added up before anything is divided.
    """
    bins = jnp.minimum(counts.reshape(w.size, -1).astype(jnp.int32), limit)
    place = jnp.broadcast_to(jnp.arange(bins.shape[1])[None], bins.shape)
    each = jnp.broadcast_to(w[:, None] / w.size, bins.shape)
    exactly = jnp.zeros((limit + 1, bins.shape[1]), w.dtype).at[bins, place].add(each)
    beyond = lax.cumsum(exactly, axis=0, reverse=True)[1:].reshape(limit, *alpha.shape)
    levels = jnp.arange(limit, dtype=alpha.dtype).reshape(-1, *(1,) * alpha.ndim)
    return jnp.sum(beyond / (alpha[None] + levels), axis=0)


class UrnEpisodes(eqx.Module):
    """P(x): every row of the table is an urn."""

    log_alpha: Float[Array, "s a"]

    def log_prob(self, x: Episode) -> Float[Array, ""]:
        return DirichletMultinomial(self.log_alpha).log_prob(x.counts)


def total(x: Episode) -> Float[Array, ""]:
    """f: the return of an episode.

    Parameters
    ----------
    x : Episode
        Episodes of one individual or of many.

    Returns
    -------
    array
        The returns.
    """
    return x.total


class Urns(eqx.Module):
    """The problem max E f(x) for Dirichlet search with x drawn straight from P_psi.

    There is no theta (see `play`); the law of x is the same.

    Parameters
    ----------
    table : Table
        The environment.
    popsize : int
        Episodes in a generation.
    record : bool
        Keep the steps in x.
    """

    table: Table
    popsize: int = eqx.field(static=True)
    record: bool = eqx.field(static=True)

    def realise(self, key: PRNGKeyArray, generation: Int[Array, ""], batch: Batch) -> Batch:
        """The episodes of a generation.

        Parameters
        ----------
        key : PRNGKey
            Key of the run.
        generation : array of int, shape ()
            Number of the generation.
        batch : Batch
            theta is log alpha [S, A].

        Returns
        -------
        Batch
            The population, with x.
        """
        alpha = jnp.exp(batch.theta)
        return batch._replace(
            x=play(self.table, generation_keys(key, generation).x, alpha, self.popsize, self.record)
        )

    def evaluate(self, x: Episode) -> Float[Array, " n"]:
        """f of each episode.

        Parameters
        ----------
        x : Episode
            Episodes of N individuals.

        Returns
        -------
        array, shape (N,)
            Returns.
        """
        return x.total


def without_theta(strategy: Strategy) -> Strategy:
    """The strategy for `Urns`: what is asked is log alpha itself.

    For estimators that look at x alone.

    Parameters
    ----------
    strategy : Strategy
        A strategy with Dirichlet search.

    Returns
    -------
    Strategy
        Whose `ask` draws no theta.
    """

    def ask(key: PRNGKeyArray, state: State) -> Batch:
        return Batch(theta=state.q.log_alpha, key=generation_keys(key, state.generation).estimator)

    def tell(state: State, batch: Batch) -> tuple[State, Info]:
        return strategy.tell(state, batch._replace(theta=None))  # log alpha is no population

    return strategy._replace(ask=ask, tell=tell)
