"""Reward-to-go for urns: every action is judged by what came after it.

The estimator stays exact.

Seen through the marginal P_psi an episode is played by urns, one for each state: the t-th action
has probability

    (alpha[a_t, s_t] + j_t) / (A[s_t] + n_t) ,

j_t and n_t: how often it, and any action, was taken there before. So log P(x) is a sum over time,
and the phenotype score is the sum of the scores of these steps.
Each has mean 0 given what happened before it. What does not depend on the action can therefore be
taken out of its weight: rewards that were paid earlier, and a baseline for its state. The mean
stays and the variance falls. The genotype estimator has no such form: theta is drawn before all of
it.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from phenes._trees import replace
from phenes.batch import Batch
from phenes.protocols import InputLaw
from phenes.rl.rollouts.trajectory import to_go
from phenes.rl.tabular.playing import Steps
from phenes.search.dirichlet import Dirichlet


class RewardToGo(eqx.Module):
    """The estimator that `reward_to_go` makes.

    Parameters
    ----------
    discount, memory, standardise
        See `reward_to_go`.
    paid : array, shape (S,), optional
        Running sum of rewards to go by state, from past generations.
    mass : array, shape (S,), optional
        Running sum of visits.
    """

    discount: float = eqx.field(static=True)
    memory: float = eqx.field(static=True)
    standardise: bool = eqx.field(static=True)
    paid: Float[Array, " s"] | None  # running sum of rewards to go by state
    mass: Float[Array, " s"] | None  # running number of visits by state

    def start(self, p: InputLaw, q: Dirichlet, batch: Batch) -> "RewardToGo":
        if batch.x.steps is None:
            raise ValueError(
                "reward_to_go looks at single steps: give Episodes and Urns record=True"
            )
        zero = jnp.zeros(q.log_alpha.shape[:1], q.log_alpha.dtype)
        return eqx.tree_at(
            lambda m: (m.paid, m.mass), self, (zero, zero), is_leaf=lambda leaf: leaf is None
        )

    def observe(self, p: InputLaw, q: Dirichlet, batch: Batch) -> "RewardToGo":
        """Learn the baseline from a generation, after its gradient was taken."""
        assert self.paid is not None  # since `start`
        assert self.mass is not None
        steps = batch.x.steps
        followed = to_go(steps.reward, self.discount)
        visits = jnp.where(steps.taken, 1.0, 0.0).astype(followed.dtype)
        paid = self.memory * self.paid + _by_state(followed * visits, steps, self.paid.size)
        return eqx.tree_at(
            lambda m: (m.paid, m.mass),
            self,
            (paid, self.memory * self.mass + _by_state(visits, steps, self.paid.size)),
        )

    def step(
        self, p: InputLaw, q: Dirichlet, batch: Batch, w: Float[Array, " n"]
    ) -> "tuple[Dirichlet, RewardToGo]":
        """The gradient with the baseline of past generations, and the baseline after this one."""
        return self(p, q, batch, w), self.observe(p, q, batch)

    def __call__(self, p: InputLaw, q: Dirichlet, batch: Batch, w: Float[Array, " n"]) -> Dirichlet:
        """1/N sum_i sum_t (R_t - b(s_t)) d log [(alpha + j_t) / (A + n_t)] / d log alpha."""
        steps, alpha = batch.x.steps, q.alpha
        weight = self._weights(steps) / w.size
        own = alpha[steps.state, steps.action]
        given = weight * own / (own + steps.same)
        all_of_them = jnp.sum(alpha, axis=-1)[steps.state] + steps.visits
        each = (
            jnp.zeros_like(alpha).at[steps.state.ravel(), steps.action.ravel()].add(given.ravel())
        )
        return replace(
            q,
            log_alpha=each
            - alpha * _by_state(weight / all_of_them, steps, alpha.shape[0])[:, None],
        )

    def _weights(self, steps: Steps) -> Float[Array, "n t"]:
        assert self.paid is not None  # since `start`
        assert self.mass is not None
        baseline = self.paid / jnp.where(self.mass > 0, self.mass, 1.0)
        advantage = jnp.where(
            steps.taken, to_go(steps.reward, self.discount) - baseline[steps.state], 0.0
        )
        if not self.standardise:
            return advantage
        size = jnp.sqrt(jnp.sum(advantage**2) / jnp.sum(steps.taken, dtype=advantage.dtype))
        return advantage / jnp.where(size > 0, size, 1.0)


def _by_state(values: Float[Array, "n t"], steps: Steps, states: int) -> Float[Array, " s"]:
    return jnp.zeros(states, values.dtype).at[steps.state.ravel()].add(values.ravel())


def reward_to_go(
    discount: float = 1.0, memory: float = 0.8, standardise: bool = True
) -> RewardToGo:
    """The phenotype estimator of Dirichlet policies with a weight for each step.

    The weights of the population are not used. Unbiased for the gradient of E f with discount 1 and
    standardise False.

    Parameters
    ----------
    discount : float
        In (0, 1]. Below 1 it prefers to be paid early, which is a bias, and the one that is wanted
        among equals.
    memory : float
        In [0, 1): the share of the baseline that is kept from generation to generation.
    standardise : bool
        Divide by the root mean square of the weights, as biased, O(1/N), as
        `weightings.standardise`.

    Returns
    -------
    RewardToGo
        An estimator that learns.

    Raises
    ------
    ValueError
        If discount or memory are not in their ranges.
    """
    if not (0 < discount <= 1 and 0 <= memory < 1):
        raise ValueError(
            f"discount must be in (0, 1] and memory in [0, 1), got {discount} and {memory}"
        )
    return RewardToGo(discount, memory, standardise, None, None)
