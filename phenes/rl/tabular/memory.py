"""What every action has led to, over all episodes so far, and what follows from it.

An episode says more than its return: each of its steps is a draw of what follows a state and an
action. Counted over all episodes these draws have a Dirichlet posterior, from which the expected
reward-to-go of every action is computed, whoever took the step and whatever they did next. An
average over the environment's randomness in place of single draws of it is Rao-Blackwellisation
once more; it costs a bias that goes as the counts grow.

The posterior says where to explore, too. After n steps an outcome that was never seen has
probability c / (c + n) in it, and is taken to be worth what the best known state is worth and the
difference between two rewards more. With c = 1 / limit an episode spent on an action that was tried
n times is expected to meet 1 / n new outcomes: all actions are tried, none for long.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from phenes import _validate
from phenes._trees import replace
from phenes.batch import Batch
from phenes.protocols import InputLaw
from phenes.rl.tabular.law import Episodes
from phenes.rl.tabular.playing import Steps
from phenes.rl.tabular.table import Table
from phenes.search.dirichlet import Dirichlet

# a policy without a clock is best for some discount: these horizons, in units of the step limit
HORIZONS = (0.25, 0.5, 1.0, 2.0, 4.0)


class Memory(eqx.Module):
    """The estimator that `remembered` makes.

    Parameters
    ----------
    sweeps
        See `remembered`.
    counts : array, shape (S, A, K), optional
        How often each outcome was seen.
    first : array, shape (S,), optional
        How often an episode began in each state.
    known : array, shape (H, S), optional
        Values of the states by what was seen, for each horizon.
    hoped : array, shape (H, S), optional
        The same with hope for what was not seen.
    """

    sweeps: int = eqx.field(static=True)
    counts: Float[Array, "s a k"] | None = None
    first: Float[Array, " s"] | None = None
    known: Float[Array, "h s"] | None = None
    hoped: Float[Array, "h s"] | None = None

    def start(self, p: InputLaw, q: Dirichlet, batch: Batch) -> "Memory":
        if not isinstance(p, Episodes) or batch.x.steps is None:
            raise ValueError(
                "remembered looks at single steps of a table: give Episodes and Urns record=True"
            )
        shape, dtype = p.table.next.shape, q.log_alpha.dtype
        values = jnp.zeros((len(HORIZONS), shape[0]), dtype)
        return Memory(
            self.sweeps, jnp.zeros(shape, dtype), jnp.zeros(shape[:1], dtype), values, values
        )

    def step(
        self, p: Episodes, q: Dirichlet, batch: Batch, w: Float[Array, " n"]
    ) -> "tuple[Dirichlet, Memory]":
        """The direction in log alpha by all episodes, those of this generation among them."""
        assert self.known is not None  # since `start`
        assert self.hoped is not None
        counts, first = self._counted(batch.x.steps)
        model, times = Model(p.table, counts), self.sweeps
        known = jax.vmap(lambda v, d: model.swept(v, d, times))(self.known, model.discounts)
        hope = jax.vmap(model.hope)(known)
        hoped = jax.vmap(lambda v, d, h: model.swept(v, d, times, h))(
            self.hoped, model.discounts, hope
        )
        policies = jnp.argmax(jax.vmap(model.backed)(known, model.discounts), axis=-1)
        best = jnp.argmax(jax.vmap(lambda each: model.worth(each, first))(policies))
        worth = model.backed(hoped[best], model.discounts[best], hope[best])
        g = replace(q, log_alpha=_advantage(worth, q.mean))
        return g, Memory(self.sweeps, counts, first, known, hoped)

    def _counted(self, steps: Steps) -> tuple[Float[Array, "s a k"], Float[Array, " s"]]:
        assert self.counts is not None  # since `start`
        assert self.first is not None
        taken = steps.taken.astype(self.counts.dtype)
        place = tuple(part.ravel() for part in (steps.state, steps.action, steps.outcome))
        counts = self.counts.at[place].add(taken.ravel())
        return counts, self.first.at[steps.state[:, 0]].add(taken[:, 0])


class Model:
    """The table as far as it was seen."""

    def __init__(self, table: Table, counts: Float[Array, "s a k"]):
        assert table.limit is not None  # episodes that are recorded have one
        dtype, n = counts.dtype, jnp.sum(counts, axis=-1)
        self.counts, self.tried, self.limit = counts, n > 0, table.limit
        self.rewards, self.next = jnp.asarray(table.reward, dtype), jnp.asarray(table.next)
        chance = counts / jnp.maximum(n, 1)[..., None]
        self.pay = jnp.sum(chance * self.rewards, axis=-1)
        self.going = jnp.where(jnp.asarray(table.ends), 0.0, chance)
        self.unseen = 1 / (1 + self.limit * n)
        self.discounts = jnp.asarray(1 - 1 / (1 + np.array(HORIZONS) * table.limit), dtype)

    def backed(
        self, values: Float[Array, " s"], discount: Array, hope: Array | None = None
    ) -> Float[Array, "s a"]:
        """What each action is worth, given values of the states it leads to.

        hope: the worth of an outcome that was never seen. Without it, an action that was never
        tried is worth minus infinity.
        """
        worth = self.pay + discount * jnp.sum(self.going * values[self.next], axis=-1)
        if hope is None:
            return jnp.where(self.tried, worth, -jnp.inf)
        return (1 - self.unseen) * worth + self.unseen * hope

    def swept(
        self, values: Float[Array, " s"], discount: Array, times: int, hope: Array | None = None
    ) -> Float[Array, " s"]:
        """Value iteration from `values` on; 0 where nothing was tried."""

        def sweep(_: int, values: Float[Array, " s"]) -> Float[Array, " s"]:
            best = jnp.max(self.backed(values, discount, hope), axis=-1)
            return jnp.where(jnp.isfinite(best), best, 0.0)

        return lax.fori_loop(0, times, sweep, values)

    def hope(self, values: Float[Array, " s"]) -> Float[Array, ""]:
        """What an outcome that was never seen is worth; more than anything known."""
        seen = self.counts > 0
        most = jnp.max(jnp.where(seen, self.rewards, -jnp.inf))
        least = jnp.min(jnp.where(seen, self.rewards, jnp.inf))
        best = jnp.max(jnp.where(jnp.any(self.tried, axis=-1), values, -jnp.inf))
        # where all rewards are equal, any unit will do
        return best + jnp.where(most > least, most - least, 1.0)

    def worth(self, policy: Array, first: Float[Array, " s"]) -> Float[Array, ""]:
        """The return of a policy [S] within the step limit."""
        row = np.arange(policy.shape[0])
        pay, going, follow = (v[row, policy] for v in (self.pay, self.going, self.next))
        values = lax.fori_loop(
            0,
            self.limit,
            lambda _, v: pay + jnp.sum(going * v[follow], axis=-1),
            jnp.zeros_like(pay),
        )
        return jnp.sum(first * values)


def _advantage(worth: Float[Array, "s a"], share: Float[Array, "s a"]) -> Float[Array, "s a"]:
    """Worth of the actions beside that of the policy, in units of their spread in each state."""
    spread = jnp.std(worth, axis=-1, keepdims=True)
    gain = worth - jnp.sum(share * worth, axis=-1, keepdims=True)
    return gain / jnp.where(spread > 0, spread, 1.0)


def remembered(sweeps: int = 60) -> Memory:
    """A direction for Dirichlet policies from all that episodes have shown so far.

    In every state log alpha moves by the advantage of the actions in a model of the environment
    that is counted from the steps of all episodes, with hope for outcomes that were never seen. It
    is the natural gradient of a softmax policy in that model, in units of the spread of each row:
    not unbiased for the gradient of E f, but at the optimum it is at rest and every other policy it
    improves, once the counts are large. The weights of the population are not used.

    Parameters
    ----------
    sweeps : int
        Of value iteration in each generation; they go on where those of the last one ended.

    Returns
    -------
    Memory
        An estimator that learns.

    Raises
    ------
    ValueError
        If sweeps is not a positive integer.
    """
    return Memory(_validate.count("sweeps", sweeps))
